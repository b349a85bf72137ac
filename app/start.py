"""Entry of ``python app.py`` and ``dga-app``."""

from __future__ import annotations

import gc
import os


def main() -> None:
    """Build the page and serve it."""
    port = os.environ.get("GRADIO_SERVER_PORT", "7860")
    if not port.isdecimal():  # Gradio reads it as it is imported
        raise SystemExit(f"dga: GRADIO_SERVER_PORT is a number, not {port!r}.")
    # Until all is loaded nothing is garbage, and looking for it would take a second.
    gc.disable()
    from app.server.upload_folder import UploadFolder

    try:
        UploadFolder.open()  # before Gradio, which reads where files lie as it is imported
    except OSError as error:
        raise SystemExit(f"dga: {error}") from None
    from app.demo import main as serve_page

    serve_page()
