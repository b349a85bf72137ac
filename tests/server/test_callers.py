"""What a caller of the running page can do, and what it is told."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import gradio as gr
import httpx
import pytest
from starlette.middleware import Middleware

from app.parts.pictures import picture_input
from app.server.fair_queue import FairQueue
from app.server.gate import Gate
from app.server.limits import MAX_DEPTH
from app.server.request_body import is_name, is_upload, named_files, parsed
from app.server.strict_blocks import StrictBlocks
from app.server.upload_folder import present
from app.words.errors import FAILED, GATE_WORDS
from tests.fixtures.app import Served
from tests.fuzz.blocks import saved

HTTP = httpx.Client(timeout=60)  # one for all: each would load its own certificates
LEAKS = ("Traceback", "site-packages", "/home", "/tmp", "/root", 'File "', "0x7f", "pydantic")


def test_files_are_found_however_deep() -> None:
    value: Any = {"path": "a", "x": [{"path": "b"}, ({"path": 3}, {"y": {"path": "c"}})]}
    assert sorted(named_files([value])) == ["a", "b", "c"]
    deep: Any = {"path": "d"}
    for _ in range(MAX_DEPTH):
        deep = [deep]
    with pytest.raises(ValueError, match="too deep"):
        list(named_files(deep))
    assert list(named_files(deep[0])) == ["d"]


def test_what_counts_as_an_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "room"))
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "link").symlink_to("/etc/passwd")
    assert present() == tmp_path / "room"
    assert is_upload(str(tmp_path / "room" / "a" / "b.png"))
    for path in ("link", "../room2/a", "../../etc/passwd", "a\0b"):
        assert not is_upload(f"{tmp_path}/room/{path}")
    for path in ("/etc/passwd", "relative.png", "http://example.com/a.png", "file:///etc/passwd"):
        assert not is_upload(path)


def outcome(served: Served, data: object, endpoint: str = "adapt") -> str:
    address = f"{served.url}gradio_api/call/{endpoint}"
    joined = HTTP.post(address, json={"data": data})
    assert joined.status_code == 200, joined.text
    return HTTP.get(f"{address}/{joined.json()['event_id']}").text


def test_what_is_a_request() -> None:
    """A session's name is kept; an empty one or Gradio's own separator would end the queue."""
    assert parsed(b'{"session_hash": null, "data": []}') == {"session_hash": None, "data": []}
    assert is_name("0a-B_9-x")
    for name in ("", "None", "short-x", "x" * 65, "a<gradio-sep>b", "a b", "\xe9", "a\n", 3, ["a"]):
        with pytest.raises(ValueError, match="no request"):
            parsed(json.dumps({"session_hash": name}).encode())
    deep, many = b'{"a":' + b"[" * 40 + b"]" * 40 + b"}", b'{"a":[' + b"1," * 10_000 + b"1]}"
    odd = (b'{"a": NaN}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b'{"a":' + b"9" * 5_000 + b"}")
    for body in (b"", b"{bad", b"[]", deep, many, *odd):
        with pytest.raises(ValueError):  # noqa: PT011
            parsed(body)


@pytest.mark.parametrize(
    "data", [[], ["a"] * 6, [[1], 2, 3, 4, 5, 6], [{"path": None}, 1, 2, 3, 4, 5]]
)
def test_odd_values_get_a_sentence(served: Served, data: list[Any]) -> None:
    answer = outcome(served, data)
    assert answer.startswith("event: error")
    sentence = json.loads(answer.split("data: ", 1)[1])["error"]
    assert sentence.endswith(".")
    assert not any(leak in answer for leak in LEAKS)


ODD = (
    ("GET", "gradio_api/nothing", {}),
    ("POST", "gradio_api/call/nothing", {"json": {"data": []}}),
    ("POST", "gradio_api/call/v2/nothing", {"json": {}}),
    ("POST", "gradio_api/call/adapt", {"content": b"{bad"}),
    ("POST", "gradio_api/call/adapt", {"content": b"[" * 100_000}),
    ("POST", "gradio_api/call/adapt", {"json": {"data": {"a": 1}}}),
    ("POST", "gradio_api/call/adapt", {"content": b'{"data":[null,"fog",3,NaN,1,1]}'}),
    ("POST", "gradio_api/call/adapt", {"content": b'{"data":[' + b"9" * 5_000 + b"]}"}),
    ("POST", "gradio_api/queue/join", {"json": {"fn_index": 999, "data": [], "session_hash": "x"}}),
    ("POST", "gradio_api/queue/join", {"json": {"data": []}}),
    ("POST", "gradio_api/run/nothing", {"json": {"data": []}}),
    ("POST", "gradio_api/run/adapt", {"json": {"data": [None, "fog", 3, 0.5, 0, 1]}}),
    ("POST", "gradio_api/cancel", {"json": {}}),
    ("POST", "gradio_api/upload", {"content": b"x"}),
    ("POST", "gradio_api/upload", {"data": {"files": "x"}, "files": {"other": b"x"}}),
    ("GET", "gradio_api/file=%00", {}),
    ("GET", "gradio_api/file=" + "a" * 5_000, {}),
    ("GET", "gradio_api/file=app/demo.py", {}),
    ("GET", "gradio_api/file=.git/config", {}),
    ("GET", "gradio_api/call/adapt/nothing", {}),
    ("GET", "gradio_api/deep_link?session_hash=x", {}),
)


@pytest.mark.parametrize(("method", "path", "options"), ODD)
def test_odd_requests_get_no_secret_and_no_500(
    served: Served, method: str, path: str, options: dict[str, Any]
) -> None:
    answer = HTTP.request(method, served.url + path, **options)
    assert answer.status_code < 500
    if path != "gradio_api/call/adapt/nothing":  # a stream of events; it says "error"
        assert answer.status_code >= 400
    told = answer.text.replace(path, "")
    assert not any(leak in told for leak in LEAKS), told


def test_nothing_of_one_visitor_is_shown_to_another(served: Served) -> None:
    """Files by secret names only; runs by a visitor's own hash; no list of either."""
    answer = HTTP.post(f"{served.url}gradio_api/upload", files={"files": ("a.png", saved("PNG"))})
    path = answer.json()[0]
    assert HTTP.get(f"{served.url}gradio_api/file={path}").status_code == 200
    for folder in (Path(path).parent, Path(path).parent.parent):
        assert HTTP.get(f"{served.url}gradio_api/file={folder}").status_code == 404
    assert Path(path).parent.parent.stat().st_mode & 0o077 == 0
    config = HTTP.get(f"{served.url}config").text
    assert path not in config
    assert 'enable_monitoring":true' not in config.replace(" ", "")


HOSTILE: tuple[Any, ...] = (None, 1e308, [[{"a": "a" * 9_999}]])
EVENTS: tuple[Any, ...] = ("x", [], {"name": [], "kind": {}, "touch": []})


def test_no_value_makes_a_direct_call_a_failure(served: Served) -> None:
    """What answers without the queue answers with a value or a sentence, never a secret."""
    config = HTTP.get(f"{served.url}config").json()
    direct = [part for part in config["dependencies"] if not part["queue"]]
    assert direct
    for part in direct:
        events = EVENTS if any(name == "select" for _, name in part["targets"]) else ()
        for value, event in [*product(HOSTILE, (None,)), *product((None,), events)]:
            body = {
                "fn_index": part["id"],
                "data": [value] * len(part["inputs"]),
                "event_data": event,
                "session_hash": "odd-values",
            }
            answer = HTTP.post(f"{served.url}gradio_api/run/predict", json=body)
            told = (part["id"], part["targets"], value, answer.text[:300])
            said = answer.json()
            assert answer.status_code < 500 or said["error"] == GATE_WORDS["misunderstood"], told
            assert not any(leak in answer.text for leak in LEAKS if leak != "/tmp"), told


def test_no_update_makes_the_page_open_a_picture_itself() -> None:
    """Gradio makes an updated component anew, and its own would decode the upload."""
    seen: list[Any] = []
    with StrictBlocks() as demo:
        picture = picture_input()
        gr.Button("a").click(lambda: gr.update(interactive=False), None, picture, queue=False)
        gr.Button("b").click(seen.append, picture, None, queue=False)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    try:
        files = {"files": ("a.png", b"no picture")}
        [path] = HTTP.post(f"{url}gradio_api/upload", files=files).json()
        value = {"path": path, "meta": {"_type": "gradio.FileData"}}
        for number, data in ((1, [value]), (0, []), (1, [value])):
            body = {"fn_index": number, "data": data, "session_hash": "a-session"}
            answer = HTTP.post(f"{url}gradio_api/run/predict", json=body)
            assert answer.status_code == 200, answer.text
    finally:
        demo.close()
    assert seen == [path, path]


def test_a_librarys_words_are_not_told(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("secret words of a library")

    monkeypatch.setattr(served.session, "subject", fails)
    answer = outcome(served, [None, "none", 1, 0.5, 0, 1])
    assert json.loads(answer.split("data: ", 1)[1])["error"] == FAILED
    assert "secret words" in caplog.text


def test_a_cancelled_run_does_not_begin_anew() -> None:
    """Gradio's cancel in another's name begins a run from its start, with time of its own."""
    begun: list[int] = []
    first_step, over = threading.Event(), threading.Event()

    def count() -> Iterator[int]:
        begun.append(1)
        first_step.set()
        while not over.wait(0.001):
            yield len(begun)

    with gr.Blocks() as demo:
        number = gr.Number()
        gr.Button("a").click(count, None, number, api_name="count")
    demo.queue()
    demo._queue = queue = FairQueue(True, demo.max_threads, 1, 16, demo)
    gate = Middleware(Gate, is_own=queue.is_own)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, app_kwargs={"middleware": [gate]})

    def cancel(visitor: str) -> None:
        asked = {"session_hash": visitor, "fn_index": 0, "event_id": event}
        assert HTTP.post(f"{url}gradio_api/cancel", json=asked).json() == {"success": True}

    try:
        event = HTTP.post(f"{url}gradio_api/call/count", json={"data": []}).json()["event_id"]
        assert first_step.wait(10)
        for _ in range(100):
            cancel("somebody-else")
        assert len(begun) == 1
        assert any(queue.active_jobs)
        cancel(event)
        assert not any(queue.active_jobs)
    finally:
        over.set()
        demo.close()


def test_what_is_sent_is_packed_and_kept_where_it_may_be(served: Served) -> None:
    def asked(path: str, encoding: str = "gzip") -> httpx.Response:
        return HTTP.get(served.url + path, headers={"accept-encoding": encoding})

    page = asked("")
    assert page.headers["content-encoding"] == "gzip"
    assert int(page.headers["content-length"]) < 0.7 * len(page.content)
    assert "content-encoding" not in asked("", "identity").headers
    assert page.headers["cache-control"] == "private, no-store"
    script = re.search(r'src="\./(assets/[^"]+\.js)"', page.text)
    assert script is not None
    kept = asked(script[1], "br")
    assert kept.headers["content-encoding"] == "br"  # Gradio's own
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    font = asked("static/fonts/IBMPlexSans/IBMPlexSans-Regular.woff2")
    assert font.headers["cache-control"] == "public, max-age=86400"
    lost = asked("assets/of-another-version.js")
    assert (lost.status_code, lost.headers["cache-control"]) == (404, "private, no-store")
    answer = HTTP.post(f"{served.url}gradio_api/upload", files={"files": ("a.png", saved("PNG"))})
    upload = asked(f"gradio_api/file={answer.json()[0]}")
    assert upload.headers["cache-control"] == "private, no-store"
    assert "content-encoding" not in upload.headers
