"""The tool for assistants, asked through a client of the protocol."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import Any

import pytest
import skimage.data
from app_fixtures import Served
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import CallToolResult, ImageContent, ListToolsResult, TextContent
from PIL import Image

from app.pictures import data_uri
from dga.corruptions import CORRUPTIONS

TOOL = "adapt_image"


async def _ask(
    url: str, arguments: dict[str, Any] | None, watched: bool
) -> tuple[ListToolsResult, CallToolResult | None]:
    async def watch(progress: float, total: float | None, message: str | None) -> None: ...

    async with (
        streamablehttp_client(f"{url}gradio_api/mcp/") as (read, write, _),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        tools = await client.list_tools()
        if arguments is None:
            return tools, None
        callback = watch if watched else None
        return tools, await client.call_tool(TOOL, arguments, progress_callback=callback)


def ask(served: Served, arguments: Any = None, watched: bool = True) -> Any:
    return asyncio.run(_ask(served.url, arguments, watched))


@pytest.fixture(scope="module")
def picture() -> str:
    """As an assistant hands it over."""
    return data_uri(skimage.data.chelsea())


def test_one_tool_is_described(served: Served) -> None:
    tools, _ = ask(served)
    (tool,) = tools.tools
    assert tool.name == TOOL
    assert "t*" in tool.description
    asked = tool.inputSchema["properties"]
    assert set(asked) == {"picture", "corruption", "severity", "tau", "seed", "dda_depth"}
    assert set(CORRUPTIONS) < set(asked["corruption"]["enum"])
    assert all(part["description"] for part in asked.values())


def test_it_adapts_a_picture(served: Served, picture: str) -> None:
    arguments = {"picture": picture, "corruption": "fog", "severity": 1, "dda_depth": 1}
    _, answer = ask(served, arguments)
    assert not answer.isError
    texts = [part.text for part in answer.content if isinstance(part, TextContent)]
    assert len(ast.literal_eval(texts[0])["confidence"]) == 101
    assert sum(isinstance(part, ImageContent) for part in answer.content) == 5


def test_without_progress_pictures_are_addresses(served: Served, picture: str) -> None:
    """Gradio hands such clients one text, in which pictures are links to this server."""
    _, answer = ask(served, {"picture": picture, "dda_depth": 1}, watched=False)
    (part,) = answer.content
    assert "'t_star': " in part.text
    assert part.text.count(f"{served.url}gradio_api/file=") == 5


def test_a_wrong_value_is_one_sentence(served: Served, picture: str) -> None:
    _, answer = ask(served, {"picture": picture, "severity": 9})
    assert answer.isError
    assert "Severity is a whole number from 1 to 5" in answer.content[0].text
    assert "Traceback" not in answer.content[0].text


def test_no_address_is_fetched(served: Served) -> None:
    for address in (f"{served.url}static/fonts/none.png", "http://169.254.169.254/latest"):
        _, answer = ask(served, {"picture": address, "dda_depth": 1})
        assert answer.isError
        assert "Only uploads are opened" in answer.content[0].text


def test_no_file_of_the_server_is_read(served: Served, tmp_path: Path) -> None:
    """Gradio's own client would upload whatever file an argument claims to be."""
    path = tmp_path / "secret.png"
    Image.fromarray(skimage.data.chelsea()).save(path)
    claim = {"path": str(path), "meta": {"_type": "gradio.FileData"}}
    for arguments in ({"picture": claim}, {"picture": str(path)}, {"corruption": claim}):
        _, answer = ask(served, arguments | {"dda_depth": 1})
        assert answer.isError
        assert "t_star" not in answer.content[0].text
