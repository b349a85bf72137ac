"""Where the page is served from and where uploads lie: tried before anything is loaded."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from pathlib import Path

HOST = "127.0.0.1"
LAST_PORT = 65535


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
        _check_port(host or os.environ.get("GRADIO_SERVER_NAME") or HOST, port)
    _check_uploads()


def _check_port(host: str, port: int) -> None:
    if not 1 <= port <= LAST_PORT:
        raise ValueError(f"A port is a number from 1 to {LAST_PORT}, not {port}.")
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            if os.name == "posix":  # a port that was in use a moment ago is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise OSError(_sentence(host, port, error)) from error


def _sentence(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken: stop what uses it, or choose another with --port."
    if error.errno == errno.EACCES:
        return f"Port {port} needs more rights than this user has: choose another with --port."
    return f"{host} port {port} cannot be listened on ({error.strerror}): see --host and --port."


def _check_uploads() -> None:
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
