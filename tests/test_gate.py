"""What the server lets in, and what its refusals say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from app_fixtures import Served, served, session  # noqa: F401  # fixtures
from gradio.utils import get_upload_folder
from PIL import Image

from app import gate as gates
from app.gate import API, MAX_POSTS, SPARE, Gate
from app.strict import is_upload, named_files
from app.text import GATE_WORDS
from tests.fuzz.blocks import saved

LEAKS = ("Traceback", "site-packages", "/home", "/tmp", "/root", 'File "', "0x7f", "pydantic")


async def inner(scope: Any, receive: Any, send: Any) -> None:
    """Reads the whole body, then fails as the address asks it to."""
    more = True
    while more:
        more = (await receive()).get("more_body", False)
    failures = {"key": KeyError("secret"), "disk": OSError(28, "No space", "/tmp/secret")}
    failure = failures.get(scope["query_string"].decode())
    if failure:
        raise failure
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"served"})


def asked(gate: Gate, method: str, path: str, **options: Any) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, **options)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "path",
    [
        "/openapi.json", "/docs", "/monitoring", "/monitoring/summary", "/login", "/token",
        f"{API}/deep_link", f"{API}/component_server", f"{API}/process_recording",
        f"{API}/vibe-edit", f"{API}/vibe-code", f"{API}/proxy=http://127.0.0.1/", f"{API}/runs",
        f"{API}/file=http://example.com/a.png", f"{API}/file=HTTPS:/example.com",
        f"{API}/stream/a/b/1/playlist.m3u8", f"{API}/dev/reload", f"{API}/run-history/buckets",
        f"{API}/something-of-a-later-version", "/../etc/passwd",
    ],
)  # fmt: skip
def test_what_the_page_does_not_need_is_closed(path: str) -> None:
    for method in ("GET", "POST"):
        answer = asked(Gate(inner), method, path)
        assert (answer.status_code, answer.json()) == (404, {"detail": GATE_WORDS["closed"]})


@pytest.mark.parametrize("path", ["/", "/fifteen", "/config", f"{API}/info", f"{API}/call/adapt"])
def test_what_the_page_needs_is_open(path: str) -> None:
    answer = asked(Gate(inner), "GET", path)
    assert answer.text == "served"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", [f"{API}/call/adapt", f"{API}/upload", f"{API}/mcp/"])
def test_bodies_are_bounded(path: str) -> None:
    """By what their header says, and by what really comes."""
    most = gates.most_bytes(path)

    async def stream(length: int) -> AsyncIterator[bytes]:
        for _ in range(length // SPARE):
            yield bytes(SPARE)
        yield bytes(length % SPARE)

    for length, status in ((most, 200), (most + 1, 413)):
        assert asked(Gate(inner), "POST", path, content=bytes(length)).status_code == status
        assert asked(Gate(inner), "POST", path, content=stream(length)).status_code == status


def test_failures_are_sentences(caplog: pytest.LogCaptureFixture) -> None:
    answer = asked(Gate(inner), "POST", f"{API}/upload?key")
    assert (answer.status_code, answer.json()["detail"]) == (400, GATE_WORDS["misunderstood"])
    answer = asked(Gate(inner), "POST", f"{API}/upload?disk")
    assert (answer.status_code, answer.json()["detail"]) == (500, GATE_WORDS["failed"])
    assert "No space" in caplog.text


def test_uploads_need_room() -> None:
    full = Gate(inner, has_room=lambda: False)
    assert asked(full, "POST", f"{API}/upload").status_code == 503
    assert asked(full, "POST", f"{API}/queue/join").status_code == 200


def test_few_requests_at_a_time_from_one_address() -> None:
    """The rest is refused at once, other addresses are served, and afterwards all is as before."""

    async def crowd() -> tuple[list[int], int, int]:
        doors = asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            await doors.wait()
            await inner(scope, receive, send)

        gate = Gate(slow)

        def client(host: str) -> httpx.AsyncClient:
            transport = httpx.ASGITransport(app=gate, client=(host, 1))
            return httpx.AsyncClient(transport=transport, base_url="http://test")

        async with client("10.0.0.1") as greedy, client("10.0.0.2") as other:
            address = f"{API}/queue/join"
            going = [asyncio.create_task(greedy.post(address)) for _ in range(MAX_POSTS)]
            await asyncio.sleep(0)
            while len(gate._posts) == 0 or gate._posts["10.0.0.1"] < MAX_POSTS:
                await asyncio.sleep(0)
            refused = (await greedy.post(address)).status_code
            late = asyncio.create_task(other.post(address))
            doors.set()
            codes = [answer.status_code for answer in await asyncio.gather(*going)]
            again = (await greedy.post(address)).status_code
            assert (await late).status_code == 200
        assert not gate._posts
        assert not gate._requests
        return codes, refused, again

    codes, refused, again = asyncio.run(crowd())
    assert set(codes) == {200}
    assert (refused, again) == (429, 200)


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


# Over the running server ------------------------------------------------------------------


def secret_picture(tmp_path: Path) -> Path:
    path = tmp_path / "secret.png"
    Image.fromarray(np.full((64, 64, 3), 90, np.uint8)).save(path)
    return path


def outcome(served: Served, data: object, endpoint: str = "adapt") -> str:  # noqa: F811
    address = f"{served.url}gradio_api/call/{endpoint}"
    joined = httpx.post(address, json={"data": data})
    assert joined.status_code == 200, joined.text
    return httpx.get(f"{address}/{joined.json()['event_id']}", timeout=60).text


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
    ],
)
@pytest.mark.parametrize("place", [0, 4])
def test_nothing_but_uploads_is_opened(
    served: Served,  # noqa: F811
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
    "data", [[], [1] * 40, ["a"] * 6, [[1], 2, 3, 4, 5, 6], [{"path": None}, 1, 2, 3, 4, 5]]
)
def test_odd_values_get_a_sentence(served: Served, data: list[Any]) -> None:  # noqa: F811
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
    served: Served,  # noqa: F811
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


def test_nothing_of_one_visitor_is_shown_to_another(served: Served) -> None:  # noqa: F811
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
