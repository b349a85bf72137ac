"""What stands between strangers and Gradio; nothing is imported here, for the decoder's sake."""
