"""Pictures on disk: crops, values as they are stored, and files of strangers.

Nothing is imported here: the process that decodes uploads passes through.
"""
