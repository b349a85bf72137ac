"""Entry of ``python app.py`` and of the command ``dga-app``."""

from __future__ import annotations

import gc
import os


def main() -> None:
    """Build the page and serve it."""
    for name in ("GRADIO_SERVER_PORT", "GRADIO_NUM_PORTS"):  # Gradio reads them as it is imported
        number = os.environ.get(name, "1")
        if not number.isdecimal() or not int(number):
            raise SystemExit(f"dga: {name} is a number above 0, not {number!r}.")
    # Until all is loaded nothing is garbage, and looking for it would take a second.
    gc.disable()
    from app.server.upload_folder import UploadFolder

    try:
        UploadFolder.open()  # before Gradio, which reads where files lie as it is imported
    except OSError as error:
        raise SystemExit(f"dga: {error}") from None
    # Gradio makes a client as it is imported, which some proxies' addresses would end.
    named = os.environ.get("no_proxy")
    os.environ["no_proxy"] = "*"
    from app.demo import main as serve_page

    del os.environ["no_proxy"]  # weights may come through a proxy
    os.environ |= {} if named is None else {"no_proxy": named}
    serve_page()
