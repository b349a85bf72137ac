"""The tool for assistants, asked through a client of the protocol."""

from __future__ import annotations

import ast
import asyncio
import errno
from pathlib import Path
from typing import Any

import gradio.processing_utils
import httpx
import numpy as np
import pytest
import skimage.data
from gradio_client.utils import QueueError
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.server import Server
from mcp.types import CallToolRequest, CallToolRequestParams, ImageContent, TextContent
from PIL import Image

from app.parts.pictures import data_uri
from app.server.mcp_errors import PlainServer, sentence
from app.server.strict_blocks import StrictBlocks
from app.words.errors import GATE_WORDS, NO_FILE, REFUSED
from dga.corruptions import CORRUPTIONS
from tests.fixtures.app import Served

TOOL = "adapt_image"


async def _ask(url: str, arguments: dict[str, Any] | None, watched: bool) -> Any:
    async def watch(progress: float, total: float | None, message: str | None) -> None: ...

    async with (
        streamablehttp_client(f"{url}gradio_api/mcp/") as (read, write, _),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        if arguments is None:
            return await client.list_tools()
        callback = watch if watched else None
        return await client.call_tool(TOOL, arguments, progress_callback=callback)


def ask(served: Served, arguments: Any = None, watched: bool = True) -> Any:
    return asyncio.run(_ask(served.url, arguments, watched))


@pytest.fixture(scope="module")
def picture() -> str:
    """As an assistant hands it over."""
    return data_uri(skimage.data.chelsea())


def test_tools_are_described(served: Served) -> None:
    tool, other = ask(served).tools
    assert (tool.name, other.name) == (TOOL, "repair_photo")
    assert set(other.inputSchema["properties"]) == {"picture"}
    assert "t*" in tool.description
    assert ",," not in tool.description
    assert ".." not in tool.description
    asked = tool.inputSchema["properties"]
    assert set(asked) == {"picture", "corruption", "severity", "tau", "seed", "dda_depth"}
    assert set(CORRUPTIONS) < set(asked["corruption"]["enum"])
    assert all(part["description"] for part in asked.values())


def test_it_adapts_a_picture(served: Served, picture: str) -> None:
    arguments = {"picture": picture, "corruption": "fog", "severity": 1, "dda_depth": 1}
    answer = ask(served, arguments)
    assert not answer.isError
    texts = [part.text for part in answer.content if isinstance(part, TextContent)]
    assert len(ast.literal_eval(texts[0])["confidence"]) == 101
    assert sum(isinstance(part, ImageContent) for part in answer.content) == 6


def test_without_progress_pictures_are_addresses(served: Served, picture: str) -> None:
    """Gradio hands such clients one text, in which pictures are links to this server."""
    answer = ask(served, {"picture": picture, "dda_depth": 1}, watched=False)
    (part,) = answer.content
    assert "'t_star': " in part.text
    assert part.text.count(f"{served.url}gradio_api/file=") == 6


def test_no_file_of_the_server_is_read(served: Served, tmp_path: Path) -> None:
    """Gradio's own client would upload whatever file an argument claims to be."""
    path = tmp_path / "secret.png"
    Image.fromarray(skimage.data.chelsea()).save(path)
    claim = {"path": str(path), "meta": {"_type": "gradio.FileData"}}
    for arguments in ({"picture": claim}, {"picture": str(path)}, {"corruption": claim}):
        answer = ask(served, arguments | {"dda_depth": 1})
        assert answer.isError
        assert "t_star" not in answer.content[0].text


PIXEL = data_uri(np.zeros((8, 8, 3), np.uint8), "PNG")
MISUNDERSTOOD, FOREIGN = GATE_WORDS["misunderstood"], GATE_WORDS["foreign"]
WATCHED = pytest.mark.parametrize("watched", [True, False])


def full_disk(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "/tmp/dga-uploads-a/b/x.png")


def refusal(served: Served, arguments: dict[str, Any], watched: bool = True) -> str:
    answer = ask(served, arguments, watched)
    assert answer.isError
    (part,) = answer.content
    return part.text


@WATCHED
@pytest.mark.parametrize("picture", ["data:image/png;base64,A", "words"])
def test_what_makes_no_sense_is_one_sentence(served: Served, picture: str, watched: bool) -> None:
    assert refusal(served, {"picture": picture}, watched) == MISUNDERSTOOD


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"picture": {"path": "/etc/hostname"}}, GATE_WORDS["misunderstood"]),
        ({"picture": PIXEL, "corruption": "earthquake"}, "The corruption is one of: none, "),
        ({"picture": PIXEL, "severity": "nine"}, "Severity is a whole number from 1 to 5."),
        ({"picture": PIXEL, "tau": None}, "tau is a number from 0 to 1."),
        ({"picture": PIXEL, "seed": [[7]]}, GATE_WORDS["misunderstood"]),
        ({"nothing": 1}, GATE_WORDS["misunderstood"]),
    ],
)
def test_what_the_tool_does_not_take_is_one_sentence(
    served: Served, arguments: dict[str, Any], named: str
) -> None:
    """Without the protocol's own words, and without what was sent."""
    said = refusal(served, arguments)
    assert said.startswith(named)
    assert said.endswith(".")
    for word in ("earthquake", "nine", "hostname", "nothing", "7"):
        assert word not in said.replace("nothing at", "")


def test_no_exceptions_words_are_told() -> None:
    """The protocol's own server tells them all, paths included."""
    server: Server[Any, Any] = PlainServer("test")
    server.call_tool(validate_input=False)(full_disk)
    asked = CallToolRequest(params=CallToolRequestParams(name=TOOL, arguments={}))
    answer: Any = asyncio.run(server.request_handlers[CallToolRequest](asked))
    assert [part.text for part in answer.root.content] == [NO_FILE]


@WATCHED
def test_our_sentences_pass_as_they_are(
    served: Served, picture: str, watched: bool, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    said = refusal(served, {"picture": picture, "severity": 9}, watched)
    assert said == "Severity is a whole number from 1 to 5."
    monkeypatch.setattr(gradio.processing_utils, "save_base64_to_cache", full_disk)
    assert refusal(served, {"picture": picture}, watched) == NO_FILE
    assert "No space left on device" in caplog.text


@WATCHED
def test_a_full_disk_behind_the_queue_is_one_sentence(
    served: Served, picture: str, watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradio's client says then how to make the page show more."""
    monkeypatch.setattr(StrictBlocks, "preprocess_data", full_disk)
    assert refusal(served, {"picture": picture}, watched) == NO_FILE


def test_no_address_is_fetched(served: Served) -> None:
    for address in (f"{served.url}static/fonts/none.png", "http://169.254.169.254/latest"):
        assert refusal(served, {"picture": address, "dda_depth": 1}) == FOREIGN


@pytest.mark.parametrize("refused", ["quota", "full"])
def test_the_gates_sentence_passes(refused: str) -> None:
    assert sentence(QueueError("Queue is full! Please try again.")) == REFUSED
    asked = httpx.Request("POST", "http://127.0.0.1/gradio_api/upload")
    for detail, said in ((GATE_WORDS[refused], GATE_WORDS[refused]), ("[Errno 2]", MISUNDERSTOOD)):
        answer = httpx.Response(429, json={"detail": detail}, request=asked)
        with pytest.raises(httpx.HTTPStatusError) as error:
            answer.raise_for_status()
        assert sentence(error.value) == said
