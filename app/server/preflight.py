"""Where the page is served from and where uploads lie: tried before anything is loaded."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path


def check_place(host: str | None, port: int | None) -> None:
    """Raise ``OSError`` or ``ValueError`` with a sentence where the page could not be served.

    ``host`` and ``port`` default to Gradio's environment variables; without any port Gradio
    looks for a free one.
    """
    named = os.environ.get("GRADIO_SERVER_PORT", "")
    if port is None and named:
        if not named.isdecimal():
            raise ValueError(f"GRADIO_SERVER_PORT is a number, not {named!r}.")
        port = int(named)
    if port is not None:
        host = host or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1"
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            socket.create_server((host, port), family=family).close()
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise OSError(f"{host}, port {port}: {why}. See --host and --port.") from error
    try:
        folder = Path(os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir())
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"1")
    except OSError as error:
        where = error.filename or "the folder for temporary files"
        raise OSError(
            f"Uploads cannot be kept in {where} ({error.strerror}): name another folder with "
            "GRADIO_TEMP_DIR."
        ) from error
