"""Entry of ``python app.py`` and of the command ``dga-app``."""

from __future__ import annotations

import gc
import os

from app.server.folder import make_folder


def main() -> None:
    """Build the pages and serve them."""
    for name in ("GRADIO_SERVER_PORT", "GRADIO_NUM_PORTS"):  # Gradio reads them as it is imported
        number = os.environ.get(name, "1")
        if not number.isdecimal() or not int(number):
            raise SystemExit(f"dga: {name} is a number above 0, not {number!r}.")
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    # Until all is loaded nothing is garbage, and looking for it would take a second.
    gc.disable()
    try:
        make_folder()
    except OSError as error:
        raise SystemExit(f"dga: Uploads cannot be kept: {error}.") from None
    from app.demo import main as serve_page

    serve_page()
