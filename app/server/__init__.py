"""What stands between strangers and Gradio.

Nothing is imported here: the process that decodes uploads passes through.
"""
