"""What a page shows before its scripts have run, written into the HTML that Gradio serves."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.gate import path_of


class FirstPaint:
    """Middleware that adds ``head`` and, by address, the first screen to pages."""

    def __init__(self, app: ASGIApp, head: str, screens: Mapping[str, str]) -> None:
        self.app, self.head, self.screens = app, head, screens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and scope["method"] == "GET"
        screen = self.screens.get(path_of(scope)) if asked else None
        if screen is None:
            await self.app(scope, receive, send)
            return
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self.app(scope, receive, keep)
        begun, *pieces = messages
        body = b"".join(piece.get("body", b"") for piece in pieces)
        for mark, before in ((b"</head>", self.head), (b"<gradio-app", screen)):
            body = body.replace(mark, before.encode() + mark, 1)
        MutableHeaders(raw=begun["headers"])["content-length"] = str(len(body))
        await send(begun)
        await send({"type": "http.response.body", "body": body})
