"""A download host on this machine that can misbehave."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dga.profiles import PublicFile

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Host:
    """Serves ``files`` by path. ``cuts``: bytes sent before a connection breaks, one a request."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    etags: bool = True
    ranges: bool = True
    wrong_range: bool = False
    lengths: bool = True
    status: int = 200
    cuts: list[int] = field(default_factory=list)
    asked: list[tuple[str, str | None, str | None]] = field(default_factory=list)

    def public(self, path: str, content: bytes | None = None) -> PublicFile:
        """The description of a file here, or of what it ought to hold."""
        content = self.files[path] if content is None else content
        return PublicFile(f"{self.url}{path}", len(content), hashlib.sha256(content).hexdigest())

    def etag(self, path: str) -> str:
        return f'"{hashlib.sha256(self.files[path]).hexdigest()[:16]}"'


class _Handler(BaseHTTPRequestHandler):
    host: Host

    def do_GET(self) -> None:
        host, asked = self.host, self.headers.get("Range")
        host.asked.append((self.path, asked, self.headers.get("If-Range")))
        if host.status != 200 or self.path not in host.files:
            self.send_error(host.status if host.status != 200 else 404)
            return
        content, start = host.files[self.path], 0
        current = self.headers.get("If-Range") in (None, host.etag(self.path))
        if asked and host.ranges and current:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_error(416)
                return
            start = 0 if host.wrong_range else start
        self._head(content, start, partial=bool(asked and host.ranges and current))
        rest = content[start:]
        self.wfile.write(rest[: host.cuts.pop(0)] if host.cuts else rest)

    def do_HEAD(self) -> None:
        if self.path in self.host.files:
            self._head(self.host.files[self.path], 0, partial=False)
        else:
            self.send_error(404)

    def _head(self, content: bytes, start: int, partial: bool) -> None:
        self.send_response(206 if partial else 200)
        if partial:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if self.host.lengths:
            self.send_header("Content-Length", str(len(content) - start))
        if self.host.etags:
            self.send_header("ETag", self.host.etag(self.path))
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Not on the terminal."""


@pytest.fixture
def host() -> Iterator[Host]:
    served = Host()
    handler = type("Handler", (_Handler,), {"host": served})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        served.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield served
        server.shutdown()
        thread.join()
