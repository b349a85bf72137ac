"""What the server lets in, and what its refusals say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.server import gate as gates
from app.server.gate import API, KEPT, Gate
from app.server.limits import (
    JSON_BYTES,
    KEPT_MINUTES,
    LEAST,
    MAX_DIRECT,
    MAX_FILES,
    MAX_MADE,
    MAX_POSTS,
    MAX_QUERY,
    SPARE,
)  # fmt: skip
from app.server.upload_folder import UploadFolder
from app.words.errors import GATE_WORDS

FORM = {"content-type": "multipart/form-data; boundary=x"}
JOIN = {"session_hash": "a-visitor", "data": []}


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


def slow(seconds: float, reached: Callable[[Any], None] = lambda scope: None) -> Any:
    """``inner``, after a while; told of everybody who comes."""

    async def wait(scope: Any, receive: Any, send: Any) -> None:
        reached(scope)
        await asyncio.sleep(seconds)
        await inner(scope, receive, send)

    return wait


async def pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


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


def test_a_person_who_is_lost_gets_a_page() -> None:
    page = asked(Gate(inner), "GET", "/nowhere", headers={"accept": "text/html,*/*;q=0.8"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert f"<h1>{GATE_WORDS['closed']}</h1>" in page.text
    assert '<a href="/">' in page.text


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/photo",
        "/board",
        "/config",
        *(f"{API}/{name}" for name in ("info", "call/adapt", "mcp/")),
    ],
)
def test_what_the_page_needs_is_open(path: str) -> None:
    answer = asked(Gate(inner), "GET", path)
    assert answer.text == "served"
    assert answer.headers["x-content-type-options"] == "nosniff"


def message(length: int) -> bytes:
    """Of an assistant, so long or as short as there are any."""
    start = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'
    return start + b"a" * (length - len(start) - 3) + b'"}}'


def form(*contents: bytes) -> bytes:
    """Of files, with the boundary x."""
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
    return b"".join(head + content + b"\r\n" for content in contents) + b"--x--\r\n"


@pytest.mark.parametrize("path", [f"{API}/call/adapt", f"{API}/upload", f"{API}/mcp/"])
def test_bodies_are_bounded(path: str) -> None:
    """By what their header says, and by what really comes."""
    most = KEPT.get(path, JSON_BYTES)
    for length, status in ((most, 200), (most + 1, 413)):
        body = message(length)
        if path == f"{API}/upload":
            half = length // 2 - len(form(b""))
            body = form(bytes(half), bytes(length - half - len(form(b"", b""))))
        assert len(body) == length
        for content in (body, pieces(body, SPARE)):
            answer = asked(Gate(inner), "POST", path, content=content, headers=FORM)
            assert answer.status_code == status


def test_failures_are_sentences(caplog: pytest.LogCaptureFixture) -> None:
    for failure, status, word in (("key", 400, "misunderstood"), ("disk", 507, "file")):
        answer = asked(Gate(inner), "POST", f"{API}/queue/join?{failure}", json=JOIN)
        assert (answer.status_code, answer.json()) == (status, {"detail": GATE_WORDS[word]})
    assert "No space" in caplog.text


def test_uploads_need_room() -> None:
    full = Gate(inner, count=lambda address, length: "full")
    assert asked(full, "POST", f"{API}/upload").status_code == 503
    assert asked(full, "POST", f"{API}/mcp/").status_code == 503
    assert asked(full, "POST", f"{API}/queue/join", json=JOIN).status_code == 200


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_an_upload_is_few_files(size: int) -> None:
    """However it is cut into pieces; each file gets a folder of its own."""
    for parts, status in ((0, 400), (MAX_FILES, 200), (MAX_FILES + 1, 400)):
        body = form(*(b"%d" % n for n in range(parts)))
        content = pieces(body, size)
        answer = asked(Gate(inner), "POST", f"{API}/upload", content=content, headers=FORM)
        assert answer.status_code == status
        if status == 200:
            read = [Path(path).read_bytes() for path in answer.json()]
            assert read == [b"%d" % n for n in range(parts)]


def test_a_file_is_no_longer_than_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "MAX_BYTES", 10)
    for length, status in ((10, 200), (11, 413)):
        answer = asked(
            Gate(inner), "POST", f"{API}/upload", content=form(bytes(length)), headers=FORM
        )
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
        assert found["cache-control"] == "private, no-store"
    shipped = asked(Gate(mirror, shared=["/results/a.csv"]), "GET", f"{API}/file=/results/a.csv")
    assert shipped.headers["cache-control"] == "public, max-age=3600"
    good = {"x-forwarded-host": "demo.example.org:443, [::1]", "x-forwarded-proto": "https, http"}
    named = Gate(mirror, proxied=True)
    assert asked(named, "GET", "/", headers=good).headers.items() >= good.items()
    assert not good.keys() & asked(Gate(mirror), "GET", "/", headers=good).headers.keys()


def test_headers_that_assistants_may_not_choose() -> None:
    """Gradio asks itself in their name, from an address whose word is believed."""
    sent = {"x-forwarded-for": "10.9.9.9", "x-forwarded-proto": "x</script>"}
    assert not sent.keys() & asked(Gate(mirror), "POST", f"{API}/mcp/", headers=sent).headers.keys()
    found = asked(Gate(mirror), "POST", f"{API}/queue/join", headers=sent, json=JOIN).headers
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
    answer = asked(Gate(inner), "POST", f"{API}/queue/join", headers=headers, json=JOIN)
    assert answer.status_code == status
    assert asked(Gate(inner), "GET", "/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-mode": "cors", "sec-fetch-site": "same-site"}, 403),  # of another port
        ({"sec-fetch-mode": "no-cors", "sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-mode": "cors", "origin": "http://127.0.0.1:8000"}, 403),
        ({"sec-fetch-mode": "cors", "origin": "null"}, 403),
        ({"sec-fetch-mode": "cors", "sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site"}, 200),  # a link
        ({}, 200),  # a program
    ],
)
def test_other_sites_cannot_read_a_local_page(headers: dict[str, str], status: int) -> None:
    headers = {"host": "127.0.0.1:7860"} | headers
    assert asked(Gate(inner), "GET", "/config", headers=headers).status_code == status


def test_one_address_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of uploads, for an hour."""
    now = 0.0
    monkeypatch.setattr("app.server.upload_folder.ADDRESS_BYTES", 3 * LEAST)
    folder = UploadFolder(Path())
    folder._taken.clock = lambda: now
    gate = Gate(inner, count=folder.count)

    def send(length: int, host: str = "10.0.0.1") -> httpx.Response:
        return asked(gate, "POST", f"{API}/mcp/", host, content=message(length))

    assert [send(length).status_code for length in (LEAST, 99, LEAST)] == [200] * 3
    refused = send(99)
    assert (refused.status_code, refused.json()["detail"]) == (429, GATE_WORDS["quota"])
    assert send(3 * LEAST, "10.0.0.2").status_code == 200
    assert asked(gate, "POST", f"{API}/queue/join", "10.0.0.1", json=JOIN).status_code == 200
    now = 60.0 * KEPT_MINUTES / 3
    assert [send(99).status_code for _ in range(2)] == [200, 429]
    now = 60.0 * KEPT_MINUTES * 2
    assert send(3 * LEAST).status_code == 200
    assert send(99, "10.0.0.3").status_code == 200
    assert set(folder._taken._owed) == {"10.0.0.1", "10.0.0.3"}


def test_a_customer_is_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.server.upload_folder.ADDRESS_BYTES", LEAST)
    gate = Gate(inner, count=UploadFolder(Path()).count)
    hosts = ("2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1")
    answers = [asked(gate, "POST", f"{API}/mcp/", host, content=message(99)) for host in hosts]
    assert [answer.status_code for answer in answers] == [200, 429, 200]


def test_bodies_of_unknown_length_count_as_they_come() -> None:
    taken: list[int] = []

    def count(address: str, length: int) -> str:
        taken.append(length)
        return "" if sum(taken) <= 5 * LEAST else "quota"

    gate, body = Gate(inner, count=count), message(2 * LEAST)
    for status in (200, 200, 429):
        answer = asked(gate, "POST", f"{API}/mcp/", content=pieces(body, LEAST))
        assert answer.status_code == status
    assert taken == [LEAST] * 6


def test_an_event_is_cancelled_once_at_a_time() -> None:
    """Several cancels at once leave a run's traces in Gradio; in another's name it begins anew."""
    reached: list[Any] = []
    gate = Gate(slow(0.02, reached.append), is_own=lambda values: values["event_id"] == "a")

    async def crowd() -> list[str]:
        async with client_of(gate) as client:
            going = (client.post(f"{API}/cancel", json={"event_id": event}) for event in "aaba")
            return [answer.text for answer in await asyncio.gather(*going)]

    assert sorted(asyncio.run(crowd())) == ["served", *['{"success":true}'] * 3]
    assert len(reached) == 1


def test_long_questions_are_refused() -> None:
    long = asked(Gate(inner), "GET", f"{API}/info?a={'a' * MAX_QUERY}")
    assert (long.status_code, long.json()["detail"]) == (413, GATE_WORDS["long"])


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_direct_calls_and_pages_of_one_address_wait_outside(method: str) -> None:
    """Few at a time, all of them in the end; another address does not wait for them."""
    path = f"{API}/run/predict" if method == "POST" else "/"

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        nonlocal most, now
        greedy = scope["client"][0] == "10.0.0.1"
        now += greedy
        most = max(most, now)
        await asyncio.sleep(0.01 * greedy)
        now -= greedy
        await inner(scope, receive, send)

    async def crowd() -> None:
        async with client_of(gate, "10.0.0.1") as greedy, client_of(gate, "10.0.0.2") as other:
            calls = (greedy.request(method, path, json=JOIN) for _ in range(MAX_POSTS))
            going = [asyncio.create_task(call) for call in calls]
            await asyncio.sleep(0.01)
            assert (await other.request(method, path, json=JOIN)).status_code == 200
            assert not all(task.done() for task in going)
            assert {answer.status_code for answer in await asyncio.gather(*going)} == {200}

    most, now, gate = 0, 0, Gate(inside)
    asyncio.run(crowd())
    assert most == MAX_DIRECT
    assert not gate.turns


@pytest.mark.parametrize("path", ["queue/data", "heartbeat/a-visitor", "call/adapt/an-event"])
def test_streams_that_have_not_begun_keep_nobody_waiting(path: str) -> None:
    async def crowd() -> None:
        doors = asyncio.Event()

        async def behind(scope: Any, receive: Any, send: Any) -> None:
            if scope["path"] != "/":
                await doors.wait()
            await inner(scope, receive, send)

        async with client_of(Gate(behind), "10.0.0.1") as client:
            streams = [asyncio.create_task(client.get(f"{API}/{path}")) for _ in range(MAX_DIRECT)]
            await asyncio.sleep(0.05)
            try:
                async with asyncio.timeout(5):
                    assert (await client.get("/")).status_code == 200
            finally:
                doors.set()
            assert {answer.status_code for answer in await asyncio.gather(*streams)} == {200}

    asyncio.run(crowd())


def test_few_requests_at_a_time_from_one_address() -> None:
    """The rest is refused at once, other addresses are served, and afterwards all is as before."""

    async def crowd() -> None:
        doors = asyncio.Event()

        async def behind(scope: Any, receive: Any, send: Any) -> None:
            await doors.wait()
            await inner(scope, receive, send)

        gate = Gate(behind)
        async with client_of(gate, "10.0.0.1") as greedy, client_of(gate, "10.0.0.2") as other:

            def post(client: httpx.AsyncClient) -> asyncio.Task[httpx.Response]:
                return asyncio.create_task(client.post(f"{API}/queue/join", json=JOIN))

            going = [post(greedy) for _ in range(MAX_POSTS)]
            while MAX_POSTS not in gate.there.values():
                await asyncio.sleep(0)
            refused, late = await post(greedy), post(other)
            doors.set()
            assert {answer.status_code for answer in await asyncio.gather(*going)} == {200}
            assert (refused.status_code, (await post(greedy)).status_code) == (429, 200)
            assert not (await late).is_error
        assert not gate.there

    asyncio.run(crowd())


@pytest.mark.parametrize(
    ("kind", "packed"), [("text/html", "gzip"), ("text/event-stream", None), ("image/png", None)]
)
def test_what_it_sends_is_packed(kind: str, packed: str | None) -> None:
    """But no event streams, whose events would wait, and no pictures, which are packed."""

    async def page(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", kind.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"a" * 9_999})

    answer = asked(Gate(page), "GET", "/")
    assert len(answer.content) == 9_999
    assert answer.headers.get("content-encoding") == packed


def test_a_page_is_made_once_for_all_who_come_by_the_same_name() -> None:
    made: list[Any] = []
    gate = Gate(slow(0, made.append))

    def page(path: str = "/photo", method: str = "GET", **headers: str) -> httpx.Response:
        found = asked(gate, method, path, headers=headers)
        assert (found.status_code, found.text or "served") == (200, "served")
        return found

    first, again = page(), page()
    assert len(made) == 1
    assert dict(first.headers) == dict(again.headers)
    assert first.headers["cache-control"] == "private, no-store"
    for others in ({"host": "another"}, {"accept-encoding": "identity"}, {"origin": "http://x"}):
        before = len(made)
        page(**others)
        assert len(made) == before + 1, others
    for path in ("/photo?run=cat", "/board", f"{API}/app_id", f"{API}/app_id"):
        before = len(made)
        page(path)
        assert len(made) == before + 1, path
    page(method="HEAD")
    for number in range(MAX_MADE):
        page(host=f"name-{number}")
    assert len(gate.made) == MAX_MADE
    before = len(made)
    page()
    assert len(made) == before + 1  # the oldest went


def test_a_refusal_is_not_kept() -> None:
    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"secret"})

    gate = Gate(refuse)
    assert asked(gate, "GET", "/photo").status_code == 500
    assert not gate.made
