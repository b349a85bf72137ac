"""What the server lets in, and what its refusals say."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from typing import Any

import gradio as gr
import httpx
import numpy as np
import pytest
from app_fixtures import Served
from gradio import route_utils, routes
from gradio.data_classes import PredictBodyInternal
from gradio.utils import get_upload_folder
from PIL import Image

from app import gate as gates
from app.gate import (
    API,
    LEAST,
    MAX_CALLS,
    MAX_DIRECT,
    MAX_FILES,
    MAX_POSTS,
    SPARE,
    Gate,
    most_bytes,
)
from app.pictures import picture_input
from app.quota import KEPT_MINUTES, Quota
from app.sessions import MAX_SESSIONS, MAX_UPLOADS
from app.strict import StrictBlocks, is_upload, named_files
from app.text import FAILED, GATE_WORDS
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


def client_of(app: Any, host: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=(host, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://test")


def asked(
    gate: Gate, method: str, path: str, host: str = "127.0.0.1", **options: Any
) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with client_of(gate, host) as client:
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
        f"{API}/mcp/sse", f"{API}/mcp/messages/", f"{API}/mcp/</script><script>/gradio_api/mcp",
    ],
)  # fmt: skip
def test_what_the_page_does_not_need_is_closed(path: str) -> None:
    for method in ("GET", "POST"):
        answer = asked(Gate(inner), method, path)
        assert (answer.status_code, answer.json()) == (404, {"detail": GATE_WORDS["closed"]})


def test_the_end_of_a_stream_is_nothing_to_complain_about() -> None:
    answer = asked(Gate(inner), "POST", f"{API}/stream/0123456789abcdef/close")
    assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.parametrize(
    "path",
    ["/", "/fifteen", "/config", *(f"{API}/{name}" for name in ("info", "call/adapt", "mcp/"))],
)
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
    assert asked(full, "POST", f"{API}/mcp/").status_code == 503
    assert asked(full, "POST", f"{API}/queue/join").status_code == 200


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize(
    "head",
    [
        b'Content-Disposition: form-data; name="files"; filename="a"',
        b'CONTENT-disposition:form-data;name="files";FILENAME\t="a"',
    ],
)
def test_an_upload_is_few_files(size: int, head: bytes) -> None:
    """However it is cut into pieces; each file gets a folder of its own."""
    part = b"--x\r\n" + head + b"\r\n\r\na\r\n"

    async def stream(body: bytes) -> AsyncIterator[bytes]:
        for at in range(0, len(body), size):
            yield body[at : at + size]

    for parts, status in ((MAX_FILES, 200), (MAX_FILES + 1, 413)):
        answer = asked(Gate(inner), "POST", f"{API}/upload", content=stream(part * parts))
        assert answer.status_code == status


async def mirror(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the request's own headers."""
    await send({"type": "http.response.start", "status": 200, "headers": scope["headers"]})
    await send({"type": "http.response.body", "body": b""})


def test_headers_that_would_come_back_are_not_passed_on() -> None:
    sent = {"range": "bytes=0-9", "x-forwarded-host": 'e"><script>', "x-a": "a"}
    for path, kept in ((f"{API}/file=a", {"x-a"}), (f"{API}/mcp/", {"x-a", "range"})):
        found = asked(Gate(mirror), "GET", path, headers=sent).headers
        assert {name for name in sent if name in found} == kept
        assert ("no-store" in found.get("cache-control", "")) == path.endswith("file=a")
    good = {"x-forwarded-host": "demo.example.org:443, [::1]", "x-forwarded-proto": "https, http"}
    assert asked(Gate(mirror), "GET", "/", headers=good).headers.items() >= good.items()


def test_headers_that_assistants_may_not_choose() -> None:
    """Gradio asks itself in their name, from an address whose word is believed."""
    sent = {"x-forwarded-for": "10.9.9.9", "x-forwarded-proto": "x</script>"}
    assert not sent.keys() & asked(Gate(mirror), "POST", f"{API}/mcp/", headers=sent).headers.keys()
    found = asked(Gate(mirror), "POST", f"{API}/queue/join", headers=sent).headers
    assert sent.keys() & found.keys() == {"x-forwarded-for"}


@pytest.mark.parametrize(
    ("host", "site", "status"),
    [
        *(("127.0.0.1:7860", "cross-site", 403), ("localhost", "cross-site", 403)),
        *(("[::1]:7860", "cross-site", 403), ("127.0.0.1:7860", "same-origin", 200)),
        *(("x.localhost:7860", "cross-site", 403), ("LOCALHOST.", "cross-site", 403)),
        *(("0.0.0.0:7860", "cross-site", 403), ("127.1", "cross-site", 403)),
        *(("[::]:80", "cross-site", 403), ("[::ffff:7f00:1]", "cross-site", 403)),
        *(("localhost.example.org", "cross-site", 200), ("10.0.0.1", "cross-site", 200)),
        *(("demo.example.org", "cross-site", 200), ("127.0.0.1.example.org", "cross-site", 200)),
    ],
)
def test_other_sites_cannot_use_a_local_page(host: str, site: str, status: int) -> None:
    headers = {"host": host, "sec-fetch-site": site}
    assert asked(Gate(inner), "POST", f"{API}/upload", headers=headers).status_code == status
    assert asked(Gate(inner), "GET", "/", headers=headers).status_code == 200


def test_one_address_leaves_room_for_others() -> None:
    """Of uploads, for an hour."""
    now = 0.0
    gate = Gate(inner, quota=Quota(3 * LEAST, lambda: now))

    def upload(length: int, host: str = "10.0.0.1") -> httpx.Response:
        return asked(gate, "POST", f"{API}/upload", host, content=bytes(length))

    assert [upload(length).status_code for length in (LEAST, 1, LEAST)] == [200] * 3
    refused = upload(1)
    assert (refused.status_code, refused.json()["detail"]) == (429, GATE_WORDS["quota"])
    assert upload(3 * LEAST, "10.0.0.2").status_code == 200
    assert asked(gate, "POST", f"{API}/queue/join", "10.0.0.1", content=b"a").status_code == 200
    now = 60.0 * KEPT_MINUTES
    assert upload(3 * LEAST).status_code == 200
    assert set(gate.quota._minutes) == {"10.0.0.1"}


def test_a_customer_is_one_address() -> None:
    gate = Gate(inner, quota=Quota(LEAST))
    hosts = ("2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1")
    answers = [asked(gate, "POST", f"{API}/upload", host, content=b"a") for host in hosts]
    assert [answer.status_code for answer in answers] == [200, 429, 200]


def test_what_is_given_back_late_is_not_given_twice() -> None:
    now = 0.0
    quota = Quota(100, lambda: now)
    assert quota.take("a", 100) == 0
    now = 59 * 60.0
    quota.give_back("a", 0, 100)
    assert quota.take("a", 100) == 59
    now = 61 * 60.0
    quota.give_back("a", 0, 100)  # that minute is forgotten by now
    assert quota.take("a", 1) is None


def test_bodies_count_by_what_came() -> None:
    """One of unknown length is reserved whole; what did not come is given back."""

    async def stream() -> AsyncIterator[bytes]:
        for _ in range(2):
            yield bytes(LEAST)

    gate = Gate(inner, quota=Quota(most_bytes(f"{API}/upload") + 9 * LEAST))
    for _ in range(5):
        assert asked(gate, "POST", f"{API}/upload", content=stream()).status_code == 200
    [taken] = gate.quota._minutes.values()
    assert taken.total() == 10 * LEAST
    assert asked(gate, "POST", f"{API}/upload", content=stream()).status_code == 429


def test_few_calls_of_assistants_at_a_time() -> None:
    async def crowd() -> list[int]:
        doors = asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            await doors.wait()
            await inner(scope, receive, send)

        async with client_of(Gate(slow)) as client:
            going = [asyncio.create_task(client.post(f"{API}/mcp/")) for _ in range(MAX_CALLS)]
            await asyncio.sleep(0.05)
            refused = (await client.post(f"{API}/mcp/")).status_code
            doors.set()
            return [refused, *(task.status_code for task in await asyncio.gather(*going))]

    assert asyncio.run(crowd()) == [429, *[200] * MAX_CALLS]


def test_direct_calls_of_one_address_wait_outside() -> None:
    """Few at a time, all of them in the end; another address does not wait for them."""
    most, now = 0, 0

    async def crowd() -> tuple[list[int], Gate]:
        async def slow(scope: Any, receive: Any, send: Any) -> None:
            nonlocal most, now
            if scope["client"][0] == "10.0.0.1":
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.01)
                now -= 1
            await inner(scope, receive, send)

        gate = Gate(slow)

        async with client_of(gate, "10.0.0.1") as greedy, client_of(gate, "10.0.0.2") as other:
            address = f"{API}/run/predict"
            going = [asyncio.create_task(greedy.post(address)) for _ in range(MAX_POSTS)]
            await asyncio.sleep(0.01)
            statuses = [(await other.post(address)).status_code]
            assert not all(task.done() for task in going)
            return [*statuses, *(t.status_code for t in await asyncio.gather(*going))], gate

    statuses, gate = asyncio.run(crowd())
    assert statuses == [200] * (MAX_POSTS + 1)
    assert most == MAX_DIRECT
    assert not gate._direct._doors


def test_few_requests_at_a_time_from_one_address() -> None:
    """The rest is refused at once, other addresses are served, and afterwards all is as before."""

    async def crowd() -> tuple[list[int], int, int]:
        doors = asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            await doors.wait()
            await inner(scope, receive, send)

        gate = Gate(slow)

        async with client_of(gate, "10.0.0.1") as greedy, client_of(gate, "10.0.0.2") as other:
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


def outcome(served: Served, data: object, endpoint: str = "adapt") -> str:
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
    config = httpx.get(f"{served.url}config").json()
    number = next(d["id"] for d in config["dependencies"] if not d["queue"] and d["backend_fn"])
    body = {"fn_index": number, "data": [], "session_hash": name}
    answer = httpx.post(f"{served.url}gradio_api/run/predict", json=body, timeout=60)
    assert answer.status_code == 400, answer.text
    assert GATE_WORDS["misunderstood"] in answer.json().values()
    assert name not in served.demo.app.state_holder.session_data


def test_little_is_kept_of_a_visitor(served: Served) -> None:
    config = httpx.get(f"{served.url}config").json()
    number = next(d["id"] for d in config["dependencies"] if not d["queue"] and d["backend_fn"])
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
    config = httpx.get(f"{served.url}config").json()
    number = next(d["id"] for d in config["dependencies"] if not d["queue"] and d["backend_fn"])
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
    config = httpx.get(f"{served.url}config").json()
    number = next(d["id"] for d in config["dependencies"] if not d["queue"] and d["backend_fn"])
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
