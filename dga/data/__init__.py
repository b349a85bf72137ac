"""Pictures on disk: values as they are stored, files that are written, and files of strangers.

Nothing is imported here: the process that decodes uploads passes through.
"""
