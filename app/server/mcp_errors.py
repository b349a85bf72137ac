"""What assistants may ask, and what they are told when a tool fails: our own sentences.

Gradio and the protocol's server hand on whatever an exception says, paths included.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from gradio_client.exceptions import AppError
from gradio_client.utils import QueueError
from mcp.server import Server
from mcp.types import CallToolResult, ClientNotification, ClientRequest, JSONRPCMessage, TextContent

from app.words.errors import GATE_WORDS, REFUSED

_UNTOLD = "The upstream Gradio app "  # begins what Gradio's client says where the page said nothing
_HEADING = "Error: "  # Gradio's own, where an assistant watches the progress
_MOST = 200  # of an error in the log: some repeat a whole picture
_LONGEST_ID = 64
_REQUESTS = {"initialize", "ping", "tools/list", "tools/call"}
_UNKNOWN = {"code": -32601, "message": GATE_WORDS["closed"]}

_log = logging.getLogger(__name__)


def answer_to(values: dict[str, Any]) -> dict[str, Any] | None:
    """An answer to what need not reach the protocol's server; None for what it understands.

    It writes whatever it does not understand into the log. Raises ``ValueError`` for what is no
    message at all.
    """
    method, name = str(values.get("method")), values.get("id")
    JSONRPCMessage.model_validate(values)
    asked = {part: values[part] for part in ("method", "params") if part in values}
    if name is None and method.startswith("notifications/"):
        ClientNotification.model_validate(asked)
        return None
    if name is None or len(str(name)) > _LONGEST_ID or "method" not in values:
        raise ValueError("no message")
    if method not in _REQUESTS:
        return {"jsonrpc": "2.0", "id": name, "error": _UNKNOWN}
    ClientRequest.model_validate(asked)
    return None


def sentence(error: Exception) -> str:
    """What the page said for visitors; of any other error only the log keeps the details."""
    if isinstance(error, AppError) and not error.message.startswith(_UNTOLD):
        return str(error.message)
    if isinstance(error, RuntimeError) and str(error).startswith(_HEADING):
        return str(error).removeprefix(_HEADING)
    if isinstance(error, QueueError):
        return REFUSED
    if isinstance(error, httpx.HTTPStatusError):  # of the gate, or of somebody else
        told = (words for words in GATE_WORDS.values() if words in error.response.text)
        return next(told, GATE_WORDS["misunderstood"])
    _log.warning("An assistant's request failed: %s", repr(error)[:_MOST])
    return GATE_WORDS["file" if isinstance(error, OSError) else "misunderstood"]


def _closed(_: Any) -> Callable[[Any], Any]:
    return lambda handler: handler


class PlainServer(Server[Any, Any]):
    """The protocol's server, whose tools fail with a sentence, and which has nothing but tools."""

    # Gradio would let a prompt's name run any tool, unchecked.
    list_prompts = get_prompt = list_resources = list_resource_templates = read_resource = _closed

    def call_tool(self, **options: Any) -> Any:
        """As in ``Server``; what the tool raises is told by :func:`sentence`.

        The protocol's own check repeats what was sent. The page's says what is allowed; but what is
        neither a number nor a text would be a file's name to Gradio, and be opened.
        """

        handler = super().call_tool(**options | {"validate_input": False})

        def decorator(tool: Callable[..., Awaitable[Any]]) -> Any:
            async def told(name: str, arguments: dict[str, Any]) -> Any:
                try:
                    if any(isinstance(value, dict | list) for value in arguments.values()):
                        raise ValueError("an argument within another")
                    return await tool(name, arguments)
                except Exception as error:
                    words = TextContent(type="text", text=sentence(error))
                    return CallToolResult(content=[words], isError=True)

            return handler(told)

        return decorator
