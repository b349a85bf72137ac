"""Reading and writing that has nothing to do with the method: files, shipped folders, typed text.

Nothing is imported here, so that the process that decodes uploads starts quickly.
"""
