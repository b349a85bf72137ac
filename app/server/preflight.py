"""Where the page is served from: tried before weights are fetched and loaded."""

from __future__ import annotations

import os
import socket


def check_address(host: str | None, port: int | None) -> None:
    """Raise ``OSError`` with a sentence where the page could not be served.

    Both default to Gradio's environment variables; without any port Gradio looks for a free one.
    """
    if port is None:
        if (named := os.environ.get("GRADIO_SERVER_PORT")) is None:
            return
        port = int(named)
    host = host or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise OSError(f"{host}, port {port}: {why}. See --host and --port.") from error
