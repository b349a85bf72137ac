"""What assistants are told when a tool fails: our own sentences and nothing else.

Gradio and the protocol's server hand on whatever an exception says, paths included.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import gradio.mcp
import httpx
from gradio_client.exceptions import AppError
from gradio_client.utils import QueueError
from mcp.server import Server
from mcp.types import CallToolResult, TextContent

from app.words.errors import GATE_WORDS, NO_FILE, REFUSED

_UNTOLD = "The upstream Gradio app "  # begins what Gradio's client says where the page said nothing
_HEADING = "Error: "  # Gradio's own, where an assistant watches the progress
_MOST = 300  # of an error in the log: some repeat a whole picture

_log = logging.getLogger(__name__)


def install_error_messages() -> None:
    """Have Gradio build the server below; call it before the page is launched."""
    gradio.mcp.GradioMCPServer.Server = PlainServer


def sentence(error: Exception) -> str:
    """What the page said for visitors; of any other error only the log keeps the details."""
    if isinstance(error, AppError) and not error.message.startswith(_UNTOLD):
        return str(error.message)
    if isinstance(error, RuntimeError) and str(error).startswith(_HEADING):
        return str(error).removeprefix(_HEADING)
    if isinstance(error, QueueError):
        return REFUSED
    if isinstance(error, httpx.HTTPStatusError) and (refusal := _refusal(error.response)):
        return refusal
    _log.warning("An assistant's request failed: %s", repr(error)[:_MOST])
    return NO_FILE if isinstance(error, OSError) else GATE_WORDS["misunderstood"]


def _refusal(answer: httpx.Response) -> str:
    """The gate's sentence; empty if somebody else has answered."""
    try:
        detail = answer.json()["detail"]
    except (ValueError, TypeError, KeyError):
        return ""
    return detail if detail in GATE_WORDS.values() or detail == NO_FILE else ""


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
