"""Pictures on disk: sets, crops, ImageNet-C, and files of strangers.

Nothing is imported here: the process that decodes uploads passes through.
"""
