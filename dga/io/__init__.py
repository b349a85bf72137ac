"""Reading and writing that has nothing to do with the method: files, shipped folders, typed text.

This module imports nothing, so that the process that decodes uploads starts quickly.
"""
