"""Entry of ``python app.py`` and ``dga-app``."""

from __future__ import annotations

import gc
from contextlib import suppress


def main() -> None:
    """Build the page and serve it."""
    # Until all is loaded nothing is garbage, and looking for it would take a second.
    gc.disable()
    from app.server.upload_folder import UploadFolder

    # Gradio reads where files lie as it is imported. What fails here is said in a sentence later.
    with suppress(OSError):
        UploadFolder.open()
    from app.demo import main as serve_page

    serve_page()
