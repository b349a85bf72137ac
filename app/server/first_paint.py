"""What a page shows before its scripts have run, written into the HTML that Gradio serves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from starlette.datastructures import MutableHeaders
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.gate import path_of


class FirstPaint:
    """Middleware that adds ``head`` and, by address, the first screen to pages.

    ``documents``: JSON that a page asks for as soon as it runs, by address; ``scripts``: files
    that it asks for when it needs them.
    """

    def __init__(
        self,
        app: ASGIApp,
        head: str,
        screens: Mapping[str, str],
        documents: Mapping[str, str],
        scripts: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        self.app, self.head = app, head.encode()
        self.screens = {path: screen.encode() for path, screen in screens.items()}
        self.documents, self.scripts = documents, scripts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        path = path_of(scope) if scope["type"] == "http" and scope["method"] == "GET" else ""
        if path in self.documents:
            answer = Response(self.documents[path], media_type="application/json")
            await answer(scope, receive, send)
            return
        if path in self.scripts:
            file = FileResponse(self.scripts[path], media_type="text/javascript")
            await file(scope, receive, send)
            return
        screen = self.screens.get(path)
        if screen is None:
            await self.app(scope, receive, send)
            return
        begun: Message = {}
        body = b""

        async def sent(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start":
                begun = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            whole = body.replace(b"</head>", self.head + b"</head>", 1)
            whole = whole.replace(b"<gradio-app", screen + b"<gradio-app", 1)
            MutableHeaders(raw=begun["headers"])["content-length"] = str(len(whole))
            await send(begun)
            await send({"type": "http.response.body", "body": whole})

        await self.app(scope, receive, sent)
