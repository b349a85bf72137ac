"""The Gradio page: it shows what ``dga`` computes and computes nothing itself."""
