"""Twelve ways that did not hold once, each replayed as it was: none does any more."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from app.runs.beside import DroppedError, SideLane
from app.runs.visitors import Visitors
from app.server.limits import MAX_SESSIONS
from app.server.queue_position import QueuePositions
from app.server.strict_blocks import StrictBlocks
from app.server.turns import MOST_TAKEN, REPAID, Turns, caller
from app.words.errors import GATE_WORDS
from dga.data.uploads import UploadError
from tests.fixtures.app import Served
from tests.fuzz.blocks import saved

HTTP = httpx.Client(timeout=60)
MCP = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
CALL = {"jsonrpc": "2.0", "id": 1}
ASKED: list[Any] = ["none", 1, 0.5, 0, 1, 1, 1, 1]


class Page:
    """The running page and the numbers of its events."""

    def __init__(self, served: Served) -> None:
        self.url, self.folder = served.url, Path(served.demo.app.uploaded_file_dir)
        config = HTTP.get(f"{served.url}config").json()
        self.events = {part["api_name"]: part for part in config["dependencies"]}

    def post(self, path: str, **options: Any) -> httpx.Response:
        return HTTP.post(f"{self.url}gradio_api/{path}", **options)

    def press(self, name: str, data: Any, **others: Any) -> httpx.Response:
        body = {"data": data, "fn_index": self.events[name]["id"]} | others
        return self.post("run/predict", json=body)

    def upload(self, name: str = "a.png", content: bytes | None = None) -> str:
        files = {"files": (name, saved("PNG") if content is None else content)}
        [path] = self.post("upload", files=files).json()
        return str(path)


@pytest.fixture(scope="module")
def page(served: Served) -> Page:
    return Page(served)


def queued(page: Page, name: str, data: list[Any], **others: Any) -> dict[str, Any]:
    """The last message of an event of the queue."""
    body = {"data": data, "fn_index": page.events[name]["id"]} | others
    assert page.post("queue/join", json=body).status_code == 200
    address = f"{page.url}gradio_api/queue/data?session_hash={others['session_hash']}"
    with HTTP.stream("GET", address) as lines:
        messages = (json.loads(line[5:]) for line in lines.iter_lines() if line)
        return next(told for told in messages if told["msg"] == "process_completed")


def file_data(path: str) -> dict[str, Any]:
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


def refused(answer: httpx.Response, status: int, word: str) -> None:
    """One sentence and nothing else."""
    assert (answer.status_code, answer.json()) == (status, {"detail": GATE_WORDS[word]})


NAMELESS = ({}, "no_session"), ({"session_hash": None}, "no_session")
NAMELESS += (({"session_hash": "None"}, "misunderstood"),)  # type: ignore[assignment]


@pytest.mark.parametrize(("named", "word"), NAMELESS)
def test_1_callers_without_a_session_share_nothing(page: Page, named: Any, word: str) -> None:
    picture = file_data(page.upload())
    for name, data in (("damaged", [picture, *ASKED]), ("cancel", []), ("cancel_1", [])):
        refused(page.press(name, data, **named), 400, word)
        refused(page.post(f"run/{name}", json={"data": data} | named), 400, word)


def test_2_what_is_saved_is_counted_and_made_once(page: Page, served: Served) -> None:
    token = {"token": "0" * 32, "image": "cat", "severity": 5, "file": "zip"}
    ask = {"event_data": {"ask": json.dumps(token)}, "session_hash": "a-saver-of-boards"}
    paths = set()
    for _ in range(2):
        [saved_file, _] = page.press("save_1", [], **ask).json()["data"]
        paths.add(saved_file["path"])
        time.sleep(2.1)  # the clock of a ZIP file goes in steps of two seconds
    [path] = paths
    assert Path(path).name == "board-cat-5.zip"
    counted: list[int] = []
    before = served.demo.count
    try:
        served.demo.count = lambda address, length: counted.append(length) or "quota"  # type: ignore
        answer = page.press("save_1", [], **ask)
        assert (answer.status_code, answer.json()["error"]) == (429, GATE_WORDS["quota"])
        assert counted
    finally:
        served.demo.count = before  # type: ignore[attr-defined]


def large_png() -> bytes:
    """49 million pixels of 64 bits in 394 kB."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    rows = zlib.compressobj(9)
    data = b"".join(rows.compress(bytes(1 + 7000 * 8)) for _ in range(7000)) + rows.flush()
    head = struct.pack(">IIBBBBB", 7000, 7000, 16, 6, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    return start + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def test_3_a_picture_is_read_once_and_the_others_come_first(page: Page) -> None:
    """The same name 16 times; meanwhile somebody else's small one does not wait for all."""
    path = page.upload("large.png", large_png())
    files = [{"path": path, "name": f"{n}.png"} for n in range(16)]
    ask = {"ask": json.dumps({"files": files, "token": "1" * 32, "image": "own"})}
    begun = time.monotonic()
    answer = page.press("drop", [], event_data=ask, session_hash="a-greedy-visitor")
    assert answer.status_code == 200
    assert time.monotonic() - begun < 10  # one picture takes at most four seconds


def test_3_whoever_took_least_is_next() -> None:
    now, order = 0.0, list[str]()
    turns = Turns(lambda: now)

    def take(address: str, seconds: float) -> None:
        nonlocal now
        caller.set(address)
        with turns.turn():
            order.append(address)
            now += seconds

    take("greedy", 8.0)
    with turns.turn():  # of somebody who is having hers
        waiting = [
            threading.Thread(target=take, args=(address, 3.0))
            for address in ("greedy", "greedy", "greedy", "modest", "modest")
        ]
        for thread in waiting:
            thread.start()
            time.sleep(0.02)
    for thread in waiting:
        thread.join()
    assert order == ["greedy", "modest", "modest", "greedy", "greedy", "greedy"]
    take("greedy", 2 * MOST_TAKEN)
    with pytest.raises(UploadError, match="too busy"):
        take("greedy", 1.0)
    now += 2 * MOST_TAKEN / REPAID
    take("greedy", 1.0)
    take("newcomer", 1.0)
    assert set(turns.debts._owed) == {"greedy", "newcomer"}  # what was forgotten takes no room


def test_4_one_address_does_not_turn_quick_runs_off(monkeypatch: pytest.MonkeyPatch) -> None:
    lane = SideLane(QueuePositions())
    monkeypatch.setattr("app.runs.beside.SLOW_SECONDS", 0.0)
    caller.set("10.0.0.1")

    def work(visitor: str) -> None:
        with lane.served(visitor) as asked:
            time.sleep(0.01)
            lane.check(asked)

    with pytest.raises(DroppedError, match="slow"):
        work("a")
    with pytest.raises(DroppedError, match="slow"), lane.served("b"):
        pass
    caller.set("10.0.0.2")
    monkeypatch.undo()
    work("c")


def test_5_half_sent_bodies_take_no_turn(page: Page) -> None:
    head = (
        b"POST /gradio_api/run/look HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
        b"Content-Type: application/json\r\n\r\n{"
    )
    with ExitStack() as lines:
        for _ in range(4):
            line = socket.create_connection(("127.0.0.1", urlsplit(page.url).port))
            lines.enter_context(line).sendall(head)
        time.sleep(0.5)
        begun = time.monotonic()
        assert page.press("look", [], session_hash="another-visitor").status_code == 200
        assert time.monotonic() - begun < 1


def test_6_assistants_have_tools_and_nothing_else(page: Page) -> None:
    client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {}}
    client["clientInfo"] = {"name": "a", "version": "1"}
    hello = {"method": "initialize", "params": client}
    said = page.post("mcp/", json=CALL | hello, headers=MCP).text
    assert set(json.loads(said.split("data: ")[1])["result"]["capabilities"]) <= {
        "tools", "experimental",
    }  # fmt: skip
    for method, asked in (("prompts/get", {"name": "x"}), ("resources/read", {"uri": "a://b"})):
        body = CALL | {"method": method, "params": asked}
        answer = page.post("mcp/", json=body, headers=MCP)
        assert answer.json()["error"] == {"code": -32601, "message": GATE_WORDS["closed"]}


ODD = (
    *(b"[1]", b"[" * 10_000, b'{"a":' * 10_000, b'{"jsonrpc":"2.0","id":1}'),
    b'{"jsonrpc":"2.0","id":' + b"9" * 4_400 + b"}",
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}',
    b'{"jsonrpc":"2.0","method":"nothing","params":{}}',
)


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_6_8_odd_messages_get_a_sentence_and_leave_no_log(
    page: Page, body: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    refused(page.post("mcp/", content=body, headers=MCP), 400, "misunderstood")
    printed = capfd.readouterr()
    assert len(caplog.text) + len(printed.out) + len(printed.err) <= 300


FOREIGN = {"host": "evil:7866", "origin": "http://evil:7866"}


def test_7_it_answers_to_its_own_names(page: Page) -> None:
    for path in ("run/look", "mcp/", "queue/join"):
        refused(page.post(path, json={}, headers=FOREIGN), 403, "foreign_site")
    refused(HTTP.get(page.url, headers=FOREIGN), 403, "foreign_site")
    for name in ("x-gradio-server", "x-forwarded-host"):
        answer = HTTP.get(page.url, headers={name: "javascript:alert(1)//evil"})
        assert answer.status_code == 200
        assert "evil" not in answer.text
        assert answer.headers["cache-control"] == "private, no-store"


def test_9_names_that_no_file_has_are_not_there(
    page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    for start in ("static/", "assets/", "svelte/", "gradio_api/file=/tmp/"):
        refused(HTTP.get(f"{page.url}{start}{'a' * 300}"), 404, "closed")
    assert "Traceback" not in caplog.text


def test_10_every_refusal_is_a_sentence(page: Page) -> None:
    form = {"content-type": "multipart/form-data; boundary=x"}
    odd: tuple[tuple[httpx.Response, int, str], ...] = (
        (page.post("queue/join", json={"session_hash": "a-visitor", "data": 5}), 400,
         "misunderstood"),
        (page.post("run/predict", json={"session_hash": "a-visitor", "fn_index": "x"}), 400,
         "misunderstood"),
        (page.post("upload", content=b"xyz", headers=form), 400, "misunderstood"),
        (HTTP.get(f"{page.url}gradio_api/file=/etc/passwd"), 404, "closed"),
        (HTTP.get(f"{page.url}monitoring"), 404, "closed"),
        (HTTP.delete(f"{page.url}config"), 405, "misunderstood"),
    )  # fmt: skip
    for answer, status, word in odd:
        refused(answer, status, word)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors" in answer.headers["content-security-policy"]
    answer = page.press("damaged", ["x"] * 9, session_hash="a-visitor")
    assert (answer.status_code, answer.json()["error"]) == (400, GATE_WORDS["misunderstood"])


@pytest.mark.parametrize(("origin", "status"), [("", 200), ("http://evil.test", 403)])
def test_10_browsers_questions_get_the_headers_of_all_answers(
    page: Page, origin: str, status: int
) -> None:
    """Gradio answers them before all middleware that it is given."""
    asks = {"origin": origin or page.url[:-1], "access-control-request-method": "POST"}
    answer = HTTP.options(f"{page.url}gradio_api/run/predict", headers=asks)
    assert answer.status_code == status
    for name in ("x-content-type-options", "referrer-policy", "content-security-policy"):
        assert name in answer.headers


@pytest.mark.parametrize("name", ["diary of anna.png", 'of "anna".PNG', "\xe4nna.jpeg", "anna"])
def test_11_names_of_files_are_not_kept(page: Page, name: str) -> None:
    """The folder depends on the content, which another may have as well."""
    content = saved("PNG") + name.encode()
    paths = [page.upload(name, content) for _ in range(2)]
    assert len(set(paths)) == 1  # who comes again does not fill the folder
    assert "anna" not in "".join(paths)
    for path in paths:
        assert HTTP.get(f"{page.url}gradio_api/file={path}").content == content
        guessed = Path(path).with_name(name)
        assert HTTP.get(f"{page.url}gradio_api/file={guessed}").status_code == 404


@pytest.mark.parametrize("size", [1, 3, 50, 4096])
def test_11_whatever_pieces_they_come_in(page: Page, size: int) -> None:
    """Names go, contents stay as they are, also where they look like the head of a part."""
    content = b'\r\n--ab\r\nContent-Disposition: form-data; filename="x"\r\n\r\n' + bytes(99)
    head = b'--abc\r\nContent-Disposition: form-data; name="files"; filename="anna-%d.png"\r\n\r\n'
    body = b"".join(head % n + content + b"\r\n" for n in range(2)) + b"--abc--\r\n"
    pieces = (body[at : at + size] for at in range(0, len(body), size))
    form = {"content-type": "multipart/form-data; boundary=abc"}
    paths = page.post("upload", content=pieces, headers=form).json()
    assert len(paths) == 2
    for path in paths:
        assert "anna" not in path
        assert Path(path).suffix == ".png"
        assert Path(path).read_bytes() == content


def test_12_examples_lie_with_the_uploads(page: Page) -> None:
    """So that they go when those do. A test of the page may have made them before it: once more."""
    from app.parts.examples import _folder

    with _folder.__wrapped__() as folder:
        assert Path(folder).parent == page.folder


def test_nobody_forgets_somebody_elses_for_a_crowd_of_ones_own() -> None:
    """Found later: calls outside the queue counted as of no address, Gradio's sessions of none."""
    visitors = Visitors[int]()
    blocks = StrictBlocks()
    blocks.state_session_capacity = MAX_SESSIONS
    blocks.state_holder.set_blocks(blocks)
    caller.set("10.0.0.1")
    visitors.put("hers", 0)
    for name in ("hers", *(f"of-the-crowd-{n}" for n in range(2 * MAX_SESSIONS))):
        address = "10.0.0.1" if name == "hers" else "10.6.6.6"
        caller.set(address)
        visitors.put(name, 1)
        assert blocks.state_holder[name]
        blocks._remember(name, address)
    assert visitors.last("hers") == 1
    assert "hers" in blocks.state_holder
