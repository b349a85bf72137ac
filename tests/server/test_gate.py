"""The gate by itself, in front of a server that does as it is told."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from app.runs.photos import UnknownPhotoError
from app.server import gate as gates
from app.server.contents import clean_events, is_sentence
from app.server.gate import API, Gate
from app.server.visitors import REFUSALS, Account, RefusedError, find_address

JOIN = {"session_hash": "a-visitor", "data": []}
HTML = {"accept": "text/html,application/xhtml+xml"}


async def inner(scope: Any, receive: Any, send: Any) -> None:
    """Reads the whole body; answers with it, with what the query names, or with the headers."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    query = scope["query_string"].decode()
    if query == "fail":
        raise KeyError("/secret/path")
    status, kind = 200, b"text/plain"
    if query.startswith("status="):
        status = int(query.removeprefix("status="))
    if query.startswith("kind="):
        kind, body = query.removeprefix("kind=").encode(), b"a" * 9_999
    if query == "headers":
        body = json.dumps({n.decode(): v.decode() for n, v in scope["headers"]}).encode()
    headers = [(b"content-type", kind), (b"cache-control", b"public")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def client_of(app: Any, address: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=(address, 1), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://test", timeout=30)


def ask(
    method: str, path: str, app: Any = None, address: str = "127.0.0.1", **options: Any
) -> httpx.Response:
    async def send() -> httpx.Response:
        async with client_of(app or Gate(inner), address) as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


def check_refusal(answer: httpx.Response, word: str) -> None:
    status, sentence = REFUSALS[word]
    assert (answer.status_code, answer.json()) == (status, {"detail": sentence})
    check_headers(answer)


def check_headers(answer: httpx.Response) -> None:
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert "frame-ancestors" in answer.headers["content-security-policy"]
    assert "camera=(self)" in answer.headers["permissions-policy"]


CLOSED = (
    "/openapi.json", "/docs", f"{API}/deep_link", f"{API}/vibe-edit", f"{API}/run/watch",
    f"{API}/mcp/sse", f"{API}/stream/a/b/1/playlist.m3u8", "/assets/a.js",
    f"{API}/something-of-a-later-version", "/static/../../etc/passwd",
)  # fmt: skip
"""What advisories name is in ``test_door.py``."""
OTHER_METHODS = (
    ("DELETE", "/"), ("PUT", "/photo"), ("OPTIONS", "/photo"), ("POST", "/results"),
    ("GET", f"{API}/queue/join"), ("GET", f"{API}/mcp/"), ("__init__", "/config"),
)  # fmt: skip
ODD_SESSIONS = ("", "short", "a b c d e f", "<gradio-sep>", "a" * 65)
"""An empty one ends Gradio's queue for everybody."""


@pytest.mark.parametrize(
    ("method", "path", "word"),
    [
        *((method, path, "closed") for path in CLOSED for method in ("GET", "POST")),
        *((*request, "method") for request in OTHER_METHODS),
        *(
            ("GET", f"{API}/queue/data?{urlencode({'session_hash': name})}", "misunderstood")
            for name in ODD_SESSIONS
        ),
        *(("GET", f"{API}/heartbeat/{name}", "closed") for name in ODD_SESSIONS),
    ],
)
def test_what_nobody_needs_is_closed(method, path, word):
    check_refusal(ask(method, path), word)


OPEN = (
    "/", "/all-15", "/results", "/learn", "/files/0123/app.css", "/recorded/a.json", "/photo/a/b",
    "/static/fonts/IBMPlexSans/a.woff2", "/config", f"{API}/info", f"{API}/call/repair/an-event",
    f"{API}/file=/tmp/a.png", f"{API}/heartbeat/a-visitor", "/brushes/a/fog",
    f"{API}/queue/data?session_hash=a-visitor",
)  # fmt: skip


@pytest.mark.parametrize("path", OPEN)
def test_what_pages_and_clients_need_is_open(path):
    answer = ask("GET", path)
    assert answer.status_code == 200
    check_headers(answer)


def test_a_person_who_is_lost_gets_a_page():
    page = ask("GET", "/nowhere", headers=HTML)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert f"<h1>{REFUSALS['closed'][1]}</h1>" in page.text
    assert '<a href="/">' in page.text


@pytest.mark.parametrize(
    ("path", "cache"),
    [
        ("/files/0123/app.css", "public, max-age=31536000, immutable"),
        ("/static/fonts/a.woff2", "public, max-age=86400"),
        *((path, "private, no-store") for path in ("/", "/photo/a/b", f"{API}/file=a")),
        ("/files/0123/lost.css?status=404", "private, no-store"),
    ],
)
def test_what_browsers_may_keep_and_load(path, cache):
    """A visitor's file that is opened by itself may load nothing."""
    headers = ask("GET", path).headers
    assert headers["cache-control"] == cache
    is_sealed = path in ("/photo/a/b", f"{API}/file=a")
    assert ("sandbox" in headers["content-security-policy"]) == is_sealed


@pytest.mark.parametrize(
    ("kind", "packing"),
    [("text/html", "gzip"), ("application/json", "gzip"), ("text/event-stream", None),
     ("image/png", None), ("image/webp", None)],
)  # fmt: skip
def test_what_is_packed(kind, packing):
    answer = ask("GET", f"/?kind={kind}")
    assert len(answer.content) == 9_999
    assert answer.headers.get("content-encoding") == packing


# Bodies


def content_of(path: str, length: int) -> bytes:
    """Of exactly so many bytes, and taken where it is not too long."""
    start, end = b'{"jsonrpc":"2.0","id":1,"method":"ping","session_hash":"', b'a-visitor","data":"'
    body = start + end + b"a" * (length - len(start + end) - 2) + b'"}'
    return body if path.startswith(API) and path != f"{API}/upload" else bytes(length)


async def pieces(body: bytes, size: int = 2**16) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


MOST_BYTES = {"/photo": 20 * 2**20, f"{API}/upload": 21 * 2**20, f"{API}/mcp/": 2**22}


@pytest.mark.parametrize("path", [*MOST_BYTES, f"{API}/call/a"])
def test_bodies_are_bounded(path, monkeypatch):
    """By what their header says, and by what really comes; here to less, for the time it takes."""
    assert gates.BODY_LIMITS.get(path, gates.JSON_BYTES) == MOST_BYTES.get(path, 2**16)
    most = 2**17 if path in MOST_BYTES else 2**16
    monkeypatch.setitem(gates.BODY_LIMITS, path, most)
    for length, status in ((most, 200), (most + 1, 413)):
        body = content_of(path, length)
        for content in (body, pieces(body)):
            assert ask("POST", path, content=content).status_code == status


def test_a_slow_body_times_out(monkeypatch):
    async def drop_by_drop() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(1)
        yield b"}"

    for limit in ("BODY_SECONDS", "WHOLE_SECONDS"):  # the latter where a piece comes in time
        with monkeypatch.context() as patch:
            patch.setattr(gates, limit, 0.05)
            for path in ("/photo", f"{API}/upload", f"{API}/call/repair"):
                check_refusal(ask("POST", path, content=drop_by_drop()), "slow")


MISUNDERSTOOD = (
    *(b"", b"{", b"null", b"[]", b"1", b'"a"', b"\xff\xfe{\x00}\x00", b"[" * 9_000, b"--x\r\n"),
    *(b"9" * 5_000, b'{"a":' * 900, b'{"a":"\\ud800"}', b'{"data":[' + b"1" * 41 + b"]}"),
    *(b'{"data":' + b"[" * 32 + b"]" * 32 + b"}", b'{"session_hash":""}'),
    *(b'{"session_hash":null}', b'{"session_hash":"a/b/c/d/e"}', b'{"session_hash":"short"}'),
)


@pytest.mark.parametrize("body", MISUNDERSTOOD, ids=range(len(MISUNDERSTOOD)))
def test_odd_json_is_refused(body):
    for path in ("call/repair", "queue/join", "cancel", "mcp/"):
        check_refusal(ask("POST", f"{API}/{path}", content=body), "misunderstood")


def test_what_was_checked_is_what_is_read():
    answer = ask("POST", f"{API}/call/repair", content=b'{"data": [1], "data": [2]}')
    assert answer.json() == {"data": [2]}


ADDRESSES = ("/etc/passwd", "http://127.0.0.1/", " https://a", "~/a", "..", "\\\\a\\b", "file:///a")


def test_only_uploads_are_opened(tmp_path, monkeypatch):
    """Wherever a value is a file or an address, under whatever name and in whatever depth."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))

    def send(value: Any) -> httpx.Response:
        return ask("POST", f"{API}/call/repair", json={"data": [value]})

    for name in ("/etc/passwd", "http://127.0.0.1/", f"{tmp_path}/uploads/../secret", ""):
        file = {"path": name, "meta": {"_type": "gradio.FileData"}}
        for value in (file, [file], {"a": {"b": [file]}}):
            check_refusal(send(value), "file")
    for name in ADDRESSES:
        for value in (name, [name], {"photo": name}, {"a": {"b": [name]}}):
            check_refusal(send(value), "file")
    upload = {"path": f"{tmp_path}/uploads/0123/a.png"}
    check_refusal(send(upload | {"photo": "/etc/passwd"}), "file")
    notes = {"url": "http://test/gradio_api/file=/a.png", "orig_name": ".a.png"}
    for value in (upload, upload | notes, "a.png", "Noise 3.0", "a: b", -1, None):
        assert send(value).status_code == 200


def test_assistants_have_tools_and_nothing_else():
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    for method in ("prompts/get", "resources/read", "completion/complete", "tasks/get"):
        check_refusal(ask("POST", f"{API}/mcp/", json=call | {"method": method}), "closed")
    for address in ADDRESSES:
        for value in ({"picture": address}, {"photo": address}, {"picture": [address]}):
            body = call | {"params": {"name": "repair", "arguments": value}}
            check_refusal(ask("POST", f"{API}/mcp/", json=body), "file")
    about = {"clientInfo": {"name": "a", "version": "1", "websiteUrl": "https://example.org"}}
    greeting = call | {"method": "initialize", "params": about}
    assert ask("POST", f"{API}/mcp/", json=greeting).status_code == 200
    good = call | {"params": {"arguments": {"picture": "data:image/png;base64,AAAA", "seed": 1}}}
    assert ask("POST", f"{API}/mcp/", json=good).status_code == 200


# Hosts, origins, proxies

LOCAL = "127.0.0.1:7860"
OWN_NAMES = (LOCAL, "localhost", "LOCALHOST.", "[::1]:80", "x.localhost:1", "127.1", "0.0.0.0:80")
OTHER_NAMES = (
    "evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "", "a/b", "10.0.0.1",
    "127.0.0.1@evil.test", '"><script>',
)  # fmt: skip
OWN_POSTS: tuple[dict[str, str], ...] = (
    {}, {"origin": f"http://{LOCAL}"}, {"sec-fetch-site": "none"},
    {"sec-fetch-site": "same-origin", "origin": "https://public.example.org"},  # by a proxy
)  # fmt: skip
FOREIGN_POSTS = (
    *({"origin": origin} for origin in ("http://evil.test", "null", "http://[", "")),
    {"origin": "http://127.0.0.1:8000"},
    *({"sec-fetch-site": site} for site in ("cross-site", "same-site")),
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},  # a form
    {"sec-fetch-site": "cross-site", "origin": f"http://{LOCAL}"},
)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("host", [*OWN_NAMES, *OTHER_NAMES])
def test_a_local_server_answers_to_its_own_names(method, host):
    path = "/" if method == "GET" else "/photo"
    answer = ask(method, path, Gate(inner, is_local=True), headers={"host": host})
    assert answer.status_code == (200 if host in OWN_NAMES else 403)


@pytest.mark.parametrize("path", ["/photo", f"{API}/upload", f"{API}/queue/join"])
@pytest.mark.parametrize(
    ("host", "headers", "is_own"),
    [
        *((LOCAL, headers, True) for headers in OWN_POSTS),
        *((host, headers, False) for headers in FOREIGN_POSTS for host in (LOCAL, "example.org")),
    ],
)
def test_only_its_own_pages_and_programs_use_the_server(path, host, headers, is_own):
    answer = ask("POST", path, headers={"host": host} | headers, json=JOIN)
    if is_own:
        assert answer.status_code == 200
    else:
        check_refusal(answer, "foreign")


@pytest.mark.parametrize(
    ("host", "mode", "status"),
    [
        *((LOCAL, mode, 403) for mode in ("cors", "no-cors")),
        *((host, "navigate", 200) for host in (LOCAL, "x.hf.space")),
    ],
)
def test_other_sites_cannot_read_a_local_page_but_link_to_it(host, mode, status):
    headers = {"host": host, "sec-fetch-site": "cross-site", "sec-fetch-mode": mode}
    answer = ask("GET", "/", headers=headers)
    assert answer.status_code == status
    assert "https://huggingface.co" in answer.headers["content-security-policy"]  # its frames


SENT = {
    "x-forwarded-host": "demo.example.org", "x-forwarded-proto": "https",
    "x-forwarded-for": "10.9.9.9", "x-gradio-server": "http://evil.test", "range": "bytes=0-",
}  # fmt: skip


def test_only_a_named_proxy_is_believed(monkeypatch):
    """Whoever else sends the same headers, and whatever their values would do to an answer."""
    monkeypatch.delenv("SPACE_ID", raising=False)
    told = {"x-forwarded-host", "x-forwarded-proto"}
    for name, peer, believed in (
        ("", "10.0.0.1", set()), ("10.0.0.1", "10.0.0.1", told), ("10.0.0.1", "10.0.0.2", set()),
        ("10.0.0.0/8", "10.0.0.2", told), ("*", "192.0.2.7", told),
    ):  # fmt: skip
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", name)
        gate = Gate(inner)
        sent = ask("GET", "/?headers", gate, peer, headers=SENT).json()
        assert SENT.keys() & sent.keys() == believed, (name, peer)
        for odd in ({"x-forwarded-host": 'a"><script>'}, {"x-forwarded-proto": "javascript:"}):
            answer = ask("GET", "/?headers", gate, peer, headers=SENT | odd)
            assert not SENT.keys() & answer.json().keys()


PUBLIC = {"origin": "http://demo.example.org"}  # without HTTPS no browser says which site asks
FORWARDED = {"x-forwarded-host": "demo.example.org"}
TWICE = {"x-forwarded-host": "demo.example.org, inner"}


@pytest.mark.parametrize(
    ("proxy", "prefix", "path", "headers", "statuses"),
    [
        ("named", "", "", {"host": LOCAL} | FORWARDED, (200, 200)),
        ("named", "", "", {"host": LOCAL} | TWICE, (200, 200)),
        ("named", "/sub", "/sub", {"host": LOCAL} | FORWARDED, (200, 200)),
        ("named", "/sub", "", {"host": LOCAL} | FORWARDED, (200, 200)),  # which takes it away
        ("passes on its host", "/sub", "/sub", {"host": "demo.example.org"}, (200, 200)),
        ("nobody named", "", "", {"host": LOCAL} | FORWARDED, (200, 403)),
        ("rewrites the host", "", "", {"host": LOCAL}, (200, 403)),
        ("rewrites the host", "", "", {"host": LOCAL, "sec-fetch-site": "same-origin"}, (200, 200)),
        ("named", "", "", {"host": LOCAL, "x-forwarded-host": "other.example.org"}, (200, 403)),
    ],
)
def test_behind_a_proxy(
    proxy, prefix, path, headers, statuses,
    monkeypatch
):  # fmt: skip
    """The page is there; what it sends is taken, or one sentence says what the proxy has to do."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.1" if proxy == "named" else "")
    gate = Gate(inner, is_local=proxy != "named" and headers["host"] == LOCAL)

    async def below(scope: Any, receive: Any, send: Any) -> None:
        await gate({**scope, "root_path": prefix}, receive, send)

    sent = headers | PUBLIC
    page = ask("GET", f"{path}/", below, headers=headers | HTML)
    answer = ask("POST", f"{path}{API}/queue/join", below, headers=sent, json=JOIN)
    assert (page.status_code, answer.status_code) == statuses
    if answer.status_code != 200:
        check_refusal(answer, "foreign")
        assert "FORWARDED_ALLOW_IPS" in answer.json()["detail"]


def test_below_a_prefix_lost_people_find_the_first_page():
    """Also without the slash."""

    async def below(scope: Any, receive: Any, send: Any) -> None:
        await Gate(inner)({**scope, "root_path": "/sub"}, receive, send)

    assert ask("GET", "/sub", below).status_code == 200
    assert 'href="/sub/"' in ask("GET", "/sub/nothing", below, headers=HTML).text


# How much, and how often


@pytest.mark.parametrize(
    ("address", "counts_for"),
    [
        *(("10.0.0.1", "10.0.0.1"), ("::ffff:192.0.2.7", "192.0.2.7"), ("client", "client")),
        *(("2001:db8:1:2::1", "2001:db8:1:2::/64"), ("2001:DB8:1:2:ffff::", "2001:db8:1:2::/64")),
        *(("fe80::1%eth0", "fe80::/64"), ("", "")),
    ],
)
def test_a_customer_is_one_address(address, counts_for):
    assert find_address({"client": (address, 1)}) == counts_for
    assert find_address({"client": None}) == ""


def test_an_account_is_for_a_while(monkeypatch):
    now = 4.9
    monkeypatch.setattr(gates.time, "monotonic", lambda: now)
    account = Account(15, 10, 5.0)
    for address, amount, word in (
        ("a", 4, ""),
        ("a", 6, ""),
        ("a", 1, "crowded"),
        ("b", 6, "full"),
    ):
        with (
            pytest.raises(RefusedError, match=REFUSALS[word][1])
            if word
            else contextlib.nullcontext()
        ):
            account.take(address, amount)
    now = 9.9
    account.take("a", 10)
    account.give_back("a", 10)
    account.take("b", 10)


@pytest.mark.parametrize(("method", "path"), [("POST", "/photo"), ("GET", "/learn")])
def test_one_address_leaves_room_for_others(method, path):
    gate, other = Gate(inner), {"POST": "GET", "GET": "POST"}[method]
    gate.visitors.requests[method] = Account(99, 3, 1e9)
    for _ in range(3):
        assert ask(method, path, gate, "10.0.0.1").status_code == 200
    check_refusal(ask(method, path, gate, "10.0.0.1"), "crowded")
    assert ask(other, "/" if other == "GET" else "/photo", gate, "10.0.0.1").status_code == 200
    assert ask(method, path, gate, "10.0.0.2").status_code == 200


def test_one_address_leaves_space_for_others():
    gate = Gate(inner)
    gate.visitors.files = Account(2**24, 2**22, 1e9, ("quota", "quota"))

    def upload(address: str, content: Any = bytes(2**21)) -> httpx.Response:
        return ask("POST", f"{API}/upload", gate, address, content=content)

    for _ in range(2):
        assert upload("10.0.0.3").status_code == 200
    check_refusal(upload("10.0.0.3", pieces(b"a")), "quota")
    for number in range(6):
        assert upload(f"10.1.0.{number}").status_code == 200
    check_refusal(upload("10.1.0.6"), "quota")


async def never_sent(body: bytes = b"") -> AsyncIterator[bytes]:
    """The head of a request, and a part of its body."""
    yield body
    await asyncio.sleep(60)


def test_what_never_comes_closes_no_uploads(monkeypatch):
    """Lengths that heads announce are not bytes that came."""
    monkeypatch.setattr(gates, "BODY_SECONDS", 0.01)
    gate, announced = Gate(inner), {"content-length": str(20 * 2**20)}
    for number in range(80):
        content = never_sent()
        check_refusal(
            ask("POST", f"{API}/upload", gate, f"10.0.0.{number % 6}", content=content,
                headers=announced),
            "slow",
        )  # fmt: skip
    assert ask("POST", f"{API}/upload", gate, "10.0.0.1", content=bytes(99)).status_code == 200


def test_an_upload_is_one_file():
    """Each would take a folder of its own, and a thousand fit into one request."""
    files = [("files", (f"{number}.png", b"a")) for number in range(2)]
    assert ask("POST", f"{API}/upload", files=files[:1]).status_code == 200
    check_refusal(ask("POST", f"{API}/upload", files=files), "several")


def test_tiny_files_are_counted_as_they_lie_on_the_disk():
    gate = Gate(inner)
    gate.visitors.files = Account(2**20, 2**20, 1e9, ("quota", "quota"))
    statuses = [
        ask("POST", f"{API}/upload", gate, content=b"a").status_code for _ in range(2**20 // 4096)
    ]
    assert statuses.count(200) <= 2**20 // 8192


def test_half_sent_bodies_have_a_budget():
    """Of one address, and of all; what they took comes back with their end."""

    async def crowd() -> None:
        gate, piece = Gate(inner), bytes(2**23)
        async with contextlib.AsyncExitStack() as stack:
            tasks = list[asyncio.Task[httpx.Response]]()
            for number in range(60):
                client = await stack.enter_async_context(client_of(gate, f"10.0.0.{number % 6}"))
                content = never_sent(piece)
                tasks.append(asyncio.create_task(client.post("/photo", content=content)))
            done, waiting = await asyncio.wait(tasks, timeout=1)
            assert len(waiting) * len(piece) < 2**28
            assert {task.result().status_code for task in done} <= {429, 503}
            for task in waiting:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            late = await stack.enter_async_context(client_of(gate, "10.0.0.1"))
            assert (await late.post("/photo", content=bytes(20 * 2**20))).status_code == 200

    asyncio.run(crowd())


def test_few_requests_at_a_time_from_one_address():
    async def crowd() -> None:
        doors = asyncio.Event()

        async def behind(scope: Any, receive: Any, send: Any) -> None:
            await doors.wait()
            await inner(scope, receive, send)

        gate = Gate(behind)
        requests = gate.visitors.open_requests["POST"]
        most = int(requests.most_of_one)
        async with client_of(gate, "10.0.0.1") as greedy, client_of(gate, "10.0.0.2") as other:
            going = [asyncio.create_task(greedy.post("/photo")) for _ in range(most)]
            while requests.amounts["10.0.0.1"] < most:
                await asyncio.sleep(0)
            check_refusal(await greedy.post("/photo"), "crowded")
            late = asyncio.create_task(other.post("/photo"))
            await asyncio.sleep(0)
            doors.set()
            assert {answer.status_code for answer in await asyncio.gather(*going, late)} == {200}
            assert (await greedy.post("/photo")).status_code == 200
        assert not requests.amounts

    asyncio.run(crowd())


# What refusals and errors say


def test_an_exceptions_words_are_not_told(caplog):
    with caplog.at_level(logging.ERROR):
        check_refusal(ask("GET", "/?fail"), "failed")
    assert "/secret/path" in caplog.text


@pytest.mark.parametrize(
    ("status", "word"),
    [(404, "closed"), (403, "closed"), (422, "misunderstood"), (400, "misunderstood"),
     (413, "long"), (503, "full"), (500, "failed"), (502, "failed")],
)  # fmt: skip
def test_others_refusals_become_ours(status, word):
    for path in ("/config", "/photo/a/b"):
        check_refusal(ask("GET", f"{path}?status={status}"), word)


def test_our_own_sentences_pass():
    async def refusing(*_: Any) -> None:
        raise UnknownPhotoError("This photo is no longer here.")

    answer = ask("POST", "/photo", Gate(refusing))
    assert (answer.status_code, answer.json()["detail"]) == (404, "This photo is no longer here.")


EVENTS: tuple[tuple[Any, list[str]], ...] = (
    ("/tmp/secret: an unexpected error.", []),
    ({"error": "/tmp/secret: no such file."}, ["error"]),
    ({"msg": "process_completed", "output": {"error": "KeyError('x')"}, "success": False},
     ["output", "error"]),
    ({"result": {"isError": True, "content": [{"type": "text", "text": "Error: /tmp/a."}]}},
     ["result", "content", "0", "text"]),
)  # fmt: skip


@pytest.mark.parametrize(("values", "place"), EVENTS)
def test_errors_in_events_are_sentences(values, place):
    def said(body: bytes) -> Any:
        value: Any = json.loads(body.split(b"data: ")[1])
        for name in place:
            value = value[int(name) if name.isdecimal() else name]
        return value

    body = b"event: error\ndata: " + json.dumps(values).encode() + b"\n\n"
    assert said(clean_events(body)) == REFUSALS["failed"][1]
    ours = body.replace(json.dumps(said(body)).encode(), b'"The error: the line is full."')
    assert said(clean_events(ours)) == "The error: the line is full."
    plain = b'event: generating\ndata: [{"headline": "No error here: /tmp"}]\n\n'
    assert clean_events(plain) == plain


def test_all_our_sentences_are_sentences():
    from app.runs import photos
    from app.server import decoder, turns

    ours = [sentence for _, sentence in REFUSALS.values()]
    ours += [decoder.DAMAGED, photos.GONE, turns.FULL, turns.ENOUGH]
    for sentence in ours:
        assert is_sentence(sentence.format(3)), sentence
