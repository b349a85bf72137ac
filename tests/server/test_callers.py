"""What a caller of the running page can do, and what it is told."""

from __future__ import annotations

import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import gradio as gr
import httpx
import numpy as np
import pytest
from gradio import route_utils, routes
from gradio.data_classes import PredictBodyInternal
from gradio.utils import get_upload_folder
from PIL import Image

from app.parts.pictures import picture_input
from app.server.gradio_sessions import MAX_SESSIONS, MAX_UPLOADS
from app.server.strict_blocks import StrictBlocks, is_upload, named_files
from app.words.errors import FAILED, GATE_WORDS
from tests.fixtures.app import Served
from tests.fuzz.blocks import saved

LEAKS = ("Traceback", "site-packages", "/home", "/tmp", "/root", 'File "', "0x7f", "pydantic")


def test_files_are_found_however_deep() -> None:
    value: Any = {"path": "a", "x": [{"path": "b"}, ({"path": 3}, {"y": {"path": "c"}})]}
    assert sorted(named_files([value])) == ["a", "b", "c"]
    deep: Any = {"path": "d"}
    for _ in range(100_000):
        deep = [deep]
    assert list(named_files(deep)) == ["d"]


def test_what_counts_as_an_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "room"))
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "link").symlink_to("/etc/passwd")
    assert get_upload_folder() == str(tmp_path / "room")
    assert is_upload(str(tmp_path / "room" / "a" / "b.png"))
    for path in ("link", "../room2/a", "../../etc/passwd", "a\0b"):
        assert not is_upload(f"{tmp_path}/room/{path}")
    for path in ("/etc/passwd", "relative.png", "http://example.com/a.png", "file:///etc/passwd"):
        assert not is_upload(path)


def secret_picture(tmp_path: Path) -> Path:
    path = tmp_path / "secret.png"
    Image.fromarray(np.full((64, 64, 3), 90, np.uint8)).save(path)
    return path


def outcome(served: Served, data: object, endpoint: str = "adapt") -> str:
    address = f"{served.url}gradio_api/call/{endpoint}"
    joined = httpx.post(address, json={"data": data})
    assert joined.status_code == 200, joined.text
    return httpx.get(f"{address}/{joined.json()['event_id']}", timeout=60).text


def direct_function(served: Served) -> int:
    """One that is called without the queue."""
    parts = httpx.get(f"{served.url}config").json()["dependencies"]
    return next(part["id"] for part in parts if not part["queue"] and part["backend_fn"])


@pytest.mark.parametrize(
    "claim",
    [
        "{secret}",
        "http://127.0.0.1:{port}/config",
        "http://localhost/",
        "https://example.com/picture.png",
        "http://169.254.169.254/latest/meta-data",
        "file://{secret}",
        "{folder}/../{secret}",
        "http://attacker.example/../../../../../../../../..{folder}/a.png",
    ],
)
@pytest.mark.parametrize("place", [0, 4])
def test_nothing_but_uploads_is_opened(
    served: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    claim: str,
    place: int,
) -> None:
    """For the picture and for a number alike: Gradio would fetch either."""

    async def fetched(*_: object, **__: object) -> None:
        raise AssertionError("an address was fetched")

    monkeypatch.setattr("gradio.processing_utils.async_ssrf_protected_get", fetched)
    names = {
        "secret": secret_picture(tmp_path),
        "port": served.url.rsplit(":", 1)[1].strip("/"),
        "folder": get_upload_folder(),
    }
    path = claim.format(**names)
    data: list[Any] = [None, "none", 1, 0.5, 0, 1]
    data[place] = {"path": path, "url": path, "meta": {"_type": "gradio.FileData"}}
    answer = outcome(served, data)
    assert answer.startswith("event: error")
    assert json.loads(answer.split("data: ", 1)[1])["error"] == GATE_WORDS["foreign"]


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
    ("GET", "gradio_api/file=/etc/passwd", {}),
    ("GET", "gradio_api/file=../../../../etc/passwd", {}),
    ("GET", "gradio_api/file=%2e%2e/%2e%2e/etc/passwd", {}),
    ("GET", "gradio_api/file=%00", {}),
    ("GET", "gradio_api/file=" + "a" * 5_000, {}),
    ("GET", "gradio_api/file=app/demo.py", {}),
    ("GET", "gradio_api/file=.git/config", {}),
    ("GET", "gradio_api/file=http://127.0.0.1/", {}),
    ("GET", "gradio_api/call/adapt/nothing", {}),
    ("GET", "gradio_api/proxy=http://127.0.0.1/", {}),
    ("GET", "gradio_api/deep_link?session_hash=x", {}),
    ("GET", "monitoring", {}),
    ("GET", "static/../../../../etc/passwd", {}),
    ("GET", "static/%2e%2e/%2e%2e/routes.py", {}),
)


@pytest.mark.parametrize(("method", "path", "options"), ODD)
def test_odd_requests_get_no_secret_and_no_500(
    served: Served,
    method: str,
    path: str,
    options: dict[str, Any],
) -> None:
    answer = httpx.request(method, served.url + path, timeout=60, **options)
    assert answer.status_code < 500
    if path != "gradio_api/call/adapt/nothing":  # a stream of events; it says "error"
        assert answer.status_code >= 400
    told = answer.text.replace(path, "")
    assert not any(leak in told for leak in LEAKS), told
    assert "root:" not in told


def test_nothing_of_one_visitor_is_shown_to_another(served: Served) -> None:
    """Files by secret names only; runs by a visitor's own hash; no list of either."""
    answer = httpx.post(f"{served.url}gradio_api/upload", files={"files": ("a.png", saved("PNG"))})
    path = answer.json()[0]
    assert httpx.get(f"{served.url}gradio_api/file={path}").status_code == 200
    for folder in (Path(path).parent, Path(path).parent.parent):
        assert httpx.get(f"{served.url}gradio_api/file={folder}").status_code == 403
    assert Path(path).parent.parent.stat().st_mode & 0o077 == 0
    config = httpx.get(f"{served.url}config").text
    assert path not in config
    assert 'enable_monitoring":true' not in config.replace(" ", "")


HOSTILE: tuple[Any, ...] = (None, 1e308, {"path": "/etc/passwd"}, [[{"a": "a" * 9_999}]])
EVENTS: tuple[Any, ...] = ("x", [], {"name": [], "kind": {}, "touch": []})


def test_no_value_makes_a_direct_call_a_failure(served: Served) -> None:
    """What answers without the queue says whose fault it was: never 500, never a secret."""
    config = httpx.get(f"{served.url}config").json()
    direct = [part for part in config["dependencies"] if not part["queue"]]
    assert direct
    for part in direct:
        events = EVENTS if any(name == "select" for _, name in part["targets"]) else ()
        for value, event in [*product(HOSTILE, (None,)), *product((None,), events)]:
            body = {
                "fn_index": part["id"],
                "data": [value] * len(part["inputs"]),
                "event_data": event,
                "session_hash": "odd",
            }
            answer = httpx.post(f"{served.url}gradio_api/run/predict", json=body, timeout=60)
            told = (part["id"], part["targets"], value, answer.text[:300])
            assert answer.status_code < 500, told
            assert not any(leak in answer.text for leak in LEAKS if leak != "/tmp"), told


def test_a_nameless_visitor_ends_nothing(served: Served) -> None:
    """In Gradio's own queue two of these end it for everybody."""
    config = httpx.get(f"{served.url}config").json()
    number = next(d["id"] for d in config["dependencies"] if d["api_name"] == "adapt")
    body = {"data": [None, "none", 3, 0.5, 0, 1], "fn_index": number, "session_hash": ""}
    for _ in range(3):
        answer = httpx.post(f"{served.url}gradio_api/queue/join", json=body, timeout=60)
        assert (answer.status_code, answer.json()["detail"]) == (400, GATE_WORDS["misunderstood"])
    call = f"{served.url}gradio_api/call/adapt"
    joined = httpx.post(call, json={"data": body["data"]}, timeout=60).json()
    answer = httpx.get(f"{call}/{joined['event_id']}", timeout=60)
    assert "Choose a picture first" in answer.text


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
        [path] = httpx.post(f"{url}gradio_api/upload", files=files).json()
        value = {"path": path, "meta": {"_type": "gradio.FileData"}}
        for number, data in ((1, [value]), (0, []), (1, [value])):
            body = {"fn_index": number, "data": data, "session_hash": "s"}
            answer = httpx.post(f"{url}gradio_api/run/predict", json=body)
            assert answer.status_code == 200, answer.text
    finally:
        demo.close()
    assert seen == [path, path]


@pytest.mark.parametrize("name", ["", "x" * 65, "a<gradio-sep>b"])
def test_direct_calls_have_a_visitor_with_a_name(served: Served, name: str) -> None:
    number = direct_function(served)
    body = {"fn_index": number, "data": [], "session_hash": name}
    answer = httpx.post(f"{served.url}gradio_api/run/predict", json=body, timeout=60)
    assert answer.status_code == 400, answer.text
    assert GATE_WORDS["misunderstood"] in answer.json().values()
    assert name not in served.demo.app.state_holder.session_data


def test_little_is_kept_of_a_visitor(served: Served) -> None:
    number = direct_function(served)
    for visitor in ("a", "b", "a"):
        data = ["a mark " * 99]
        body = {"fn_index": number, "data": data, "session_hash": f"little-{visitor}"}
        httpx.post(f"{served.url}gradio_api/run/predict", json=body, timeout=60)
    sessions = served.demo.app.state_holder
    assert sessions.capacity == MAX_SESSIONS
    assert {"little-a", "little-b"} <= set(sessions.session_data)
    assert not sessions["little-a"].config_values
    assert "a mark" not in repr(vars(sessions["little-a"]))


def test_a_librarys_words_are_not_told(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("secret words of a library")

    monkeypatch.setattr(served.session, "subject", fails)
    answer = outcome(served, [None, "none", 1, 0.5, 0, 1])
    assert json.loads(answer.split("data: ", 1)[1])["error"] == FAILED
    assert "secret words" in caplog.text


def test_a_call_without_a_name_copies_nothing(served: Served) -> None:
    number = direct_function(served)
    body = PredictBodyInternal(fn_index=number, data=[])
    state, _ = route_utils.restore_session_state(served.demo.app, body)
    assert not state.config_values


def test_little_is_kept_of_uploads(served: Served) -> None:
    known = routes.file_upload_statuses
    for number in range(MAX_UPLOADS + 9):
        known.track(f"u{number}")
    assert len(known._statuses) == len(known._signals) == MAX_UPLOADS
    assert known._signals["u3"].is_set() is False  # as if it were new
    assert known._signals[f"u{MAX_UPLOADS}"].is_set() is True
    url = f"{served.url}gradio_api/upload"
    for suffix in ("", "?upload_id=a-new-one"):
        answer = httpx.post(url + suffix, files={"files": ("a.png", saved("PNG"))})
        assert answer.status_code == 200
    assert len(known._statuses) <= MAX_UPLOADS


def test_too_many_values_are_not_kept(served: Served) -> None:
    """Gradio would ignore them, and hold them as long as the rest."""
    for data in ([1] * 7, [None, "none", 1, 0.5, 0, 1, []]):
        answer = httpx.post(f"{served.url}gradio_api/call/adapt", json={"data": data})
        assert answer.status_code == 400
        assert answer.json()["detail"] == GATE_WORDS["misunderstood"]


def test_what_is_called_directly_is_not_queued(served: Served) -> None:
    number = direct_function(served)
    body = {"fn_index": number, "data": [], "session_hash": "queues"}
    answer = httpx.post(f"{served.url}gradio_api/queue/join", json=body, timeout=60)
    assert (answer.status_code, answer.json()["detail"]) == (400, GATE_WORDS["misunderstood"])


def test_a_cancelled_run_does_not_begin_anew(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Gradio's cancel under another's name drops a run's place in its function only."""
    begun, events = [], served.session.events

    def counted(*arguments: Any) -> Any:
        begun.append(1)
        return events(*arguments)

    monkeypatch.setattr(served.session, "events", counted)
    Image.new("RGB", (64, 64), "teal").save(tmp_path / "a.png")
    with (tmp_path / "a.png").open("rb") as stream:
        [path] = httpx.post(f"{served.url}gradio_api/upload", files={"files": stream}).json()
    address = f"{served.url}gradio_api/call/adapt"
    picture = {"path": path, "meta": {"_type": "gradio.FileData"}}
    body = {"data": [picture, "fog", 3, 0.0, 0, 100]}
    event = httpx.post(address, json=body, timeout=60).json()["event_id"]
    queue, deadline = served.demo._queue, time.monotonic() + 60
    while not begun and time.monotonic() < deadline:
        time.sleep(0.05)
    for _ in range(20):
        cancel = {"session_hash": "somebody-else", "fn_index": 0, "event_id": event}
        httpx.post(f"{served.url}gradio_api/cancel", json=cancel, timeout=60)
        time.sleep(0.05)
    while any(job for job in queue.active_jobs) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert begun == [1]
    assert not any(queue.active_jobs)
