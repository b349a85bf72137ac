"""What assistants are told when something goes wrong: our own sentences and nothing else.

Gradio and the protocol's server hand on whatever an exception says, paths included.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import gradio.mcp
import httpx
from gradio_client.exceptions import AppError
from gradio_client.utils import QueueError
from mcp.server import Server, streamable_http_manager
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.shared.exceptions import McpError
from mcp.types import INVALID_PARAMS, CallToolResult, ErrorData, ServerResult, TextContent
from starlette.responses import Response

from app.words.errors import GATE_WORDS, NO_FILE, REFUSED

_OURS = {*GATE_WORDS.values(), NO_FILE}
_UNTOLD = "The upstream Gradio app "  # begins what Gradio's client says where the page said nothing
_QUOTING = ("Parse error: ", "Validation error: ")
_MOST = 300  # of an error in the log: some repeat a whole picture

_log = logging.getLogger(__name__)


def use_own_words() -> None:
    """Have Gradio build the servers below; call it before the page is launched."""
    gradio.mcp.GradioMCPServer = PlainMCP
    manager: Any = streamable_http_manager
    manager.StreamableHTTPServerTransport = PlainTransport


def sentence(error: Exception) -> str:
    """What the page said for visitors; of any other error only the log keeps the details."""
    if isinstance(error, AppError) and not error.message.startswith(_UNTOLD):
        return str(error.message)
    if isinstance(error, QueueError):
        return REFUSED
    if isinstance(error, httpx.HTTPStatusError) and (refusal := _refusal(error.response)):
        return refusal
    if isinstance(error, OSError):
        _log.warning("An assistant's picture could not be kept: %r", error)
        return NO_FILE
    return _misunderstood(repr(error))


def _refusal(answer: httpx.Response) -> str:
    """The gate's sentence; empty if somebody else has answered."""
    try:
        detail = answer.json()["detail"]
    except (ValueError, TypeError, KeyError):
        return ""
    return detail if detail in _OURS else ""


def _misunderstood(details: str) -> str:
    _log.warning("An assistant's request failed: %s", details[:_MOST])
    return GATE_WORDS["misunderstood"]


class PlainServer(Server[Any, Any]):
    """The protocol's server, whose tools fail with a sentence."""

    def call_tool(self, **options: Any) -> Any:
        """As in ``Server``; what the tool raises is told by :func:`sentence`."""

        def decorator(tool: Callable[..., Awaitable[Any]]) -> Any:
            async def told(name: str, arguments: dict[str, Any]) -> Any:
                try:
                    return await tool(name, arguments)
                except Exception as error:
                    words = TextContent(type="text", text=sentence(error))
                    return CallToolResult(content=[words], isError=True)

            return super(PlainServer, self).call_tool(**options)(told)

        return decorator

    def _make_error_result(self, error_message: str) -> ServerResult:
        """For what the server itself refuses, in its libraries' words."""
        return super()._make_error_result(_misunderstood(repr(error_message)))


class PlainMCP(gradio.mcp.GradioMCPServer):
    """Gradio's tools on a :class:`PlainServer`."""

    Server = PlainServer

    def create_mcp_server(self) -> PlainServer:
        """As in Gradio; no request of any kind passes on an exception."""
        server: PlainServer = super().create_mcp_server()
        for kind, handler in server.request_handlers.items():
            server.request_handlers[kind] = _told(handler)
        return server

    async def _execute_tool_with_progress(self, job: Any, progress_token: str | int) -> Any:
        try:
            return await super()._execute_tool_with_progress(job, progress_token)
        except RuntimeError:  # Gradio's own, with a heading before the sentence
            return await self._execute_tool_without_progress(job)  # raises what the page said


def _told(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def told(request: Any) -> Any:
        try:
            return await handler(request)
        except Exception as error:
            raise McpError(ErrorData(code=INVALID_PARAMS, message=sentence(error))) from None

    return told


class PlainTransport(StreamableHTTPServerTransport):
    """Answers a body that is not the protocol's without quoting what the parser says of it."""

    def _create_error_response(
        self, error_message: str, status_code: HTTPStatus, *others: Any, **named: Any
    ) -> Response:
        if error_message.startswith(_QUOTING):
            error_message = _misunderstood(repr(error_message))
        return super()._create_error_response(error_message, status_code, *others, **named)
