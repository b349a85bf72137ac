"""Pictures on disk: reading files of unknown origin, stored values, and writing files.

Nothing is imported here, so that the process that decodes uploads starts quickly.
"""
