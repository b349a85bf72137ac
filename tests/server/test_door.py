"""The running server: what clients get through the door, and what attackers do not."""

import contextlib
import itertools
import json
import re
import socket
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from gradio_client import Client

from app.server.visitors import REFUSALS

API = "gradio_api"
FILE = f"{API}/file="
FORM = {"content-type": "multipart/form-data; boundary=x"}
MCP = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HOST, END = b"Host: 127.0.0.1", b"Connection: close"
SECONDS = 10.0  # what takes an attacker's bytes longer has worked for him
LEAKS = ("Traceback", "site-packages", 'File "', "pydantic", "root:", "a secret of the server")


class Door:
    """The server's address, and requests as they are written: no dots are taken out of paths."""

    def __init__(self, url: str) -> None:
        self.url, self.port = url, urlsplit(url).port
        self.client = httpx.Client(base_url=url, timeout=60)

    def ask(self, path: str, method: str = "GET", **options: Any) -> httpx.Response:
        """Answered soon, never with a failure, a secret, or without the headers of all."""
        address = httpx.URL(self.url).copy_with(raw_path=f"/{path}".encode())
        begun = time.monotonic()
        answer = self.client.request(method, address, **options)
        assert time.monotonic() - begun < SECONDS
        assert answer.status_code < 500, (path, answer.status_code, answer.text[:200])
        assert not any(leak in answer.text for leak in LEAKS), answer.text[:300]
        assert answer.headers["x-content-type-options"] == "nosniff"
        return answer

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.ask(path, "POST", **options)

    def check_refusal(self, path: str, method: str = "POST", **options: Any) -> None:
        """Neither served nor led elsewhere: one sentence."""
        answer = self.ask(path, method, **options)
        assert answer.status_code >= 400, (path, answer.status_code, answer.text[:200])
        assert "location" not in answer.headers
        assert list(answer.json()) == ["detail"]
        assert answer.json()["detail"].endswith(".")

    def raw(self, *lines: bytes, body: bytes = b"") -> bytes:
        """A request that no client would send; ``lines`` without the last, empty one."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as line:
            line.sendall(b"\r\n".join([*lines, b"", body]))
            answer = b""
            with contextlib.suppress(TimeoutError):
                while part := line.recv(65536):
                    answer += part
                    line.settimeout(0.3)  # what else comes on this connection comes at once
            return answer

    def events(self, name: str, data: list[Any]) -> list[tuple[str, Any]]:
        """A run's events, as the page's script gets them."""
        if name == "watch":
            text = self.post("watch", json={"settings": data[0]}).text
        else:
            run = self.post(f"{API}/call/{name}", json={"data": data}).json()["event_id"]
            text = self.client.get(f"{API}/call/{name}/{run}").text
        parts = re.findall(r"event: (.*)\ndata: (.*)\n\n", text)
        return [(event, json.loads(content)) for event, content in parts]


@pytest.fixture(scope="module")
def door(served: Any) -> Door:
    return Door(served.url)


# What goes through


@pytest.mark.parametrize("page", ["", "all-15", "results", "learn"])
def test_pages_are_there(door, page):
    answer = door.ask(page, headers={"accept-encoding": "gzip"})
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "private, no-store"
    for file in re.findall(r'(?:src|href)="(files/[^"]+)"', answer.text):
        kept = door.ask(file).headers["cache-control"]
        assert kept == "public, max-age=31536000, immutable"


def test_programs_are_told_what_there_is(door):
    endpoints = Client(door.url, verbose=False).view_api(return_format="dict", print_info=False)[
        "named_endpoints"
    ]
    assert set(endpoints) == {"/repair"}
    assert [value["parameter_name"] for value in endpoints["/repair"]["parameters"]] == ["picture"]
    for words in ("Args:\npicture: The photograph", "Returns:\nA record of its size"):
        assert words in endpoints["/repair"]["description"].replace("    ", "")


def test_assistants_are_served(door):
    """Without a session that another could take over (CVE-2026-52869)."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    client = {"name": "a", "version": "1"}
    asked = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client}
    answer = door.post(f"{API}/mcp/", json=body | {"params": asked}, headers=MCP)
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    tools = door.post(f"{API}/mcp/", json=body | {"method": "tools/list"}, headers=MCP)
    listed = json.loads(tools.text.split("data: ")[1])["result"]["tools"]
    assert {tool["name"] for tool in listed} >= {"repair"}


@pytest.mark.parametrize("picture", ["words", "data:image/png;base64,A", 5, None])
def test_assistants_are_told_sentences(door, picture):
    call = {"name": "repair", "arguments": {"picture": picture}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = door.post(f"{API}/mcp/", json=body, headers=MCP)
    result = json.loads(answer.text.split("data: ")[-1])["result"]
    assert result["isError"]
    for part in result["content"]:
        assert part["text"].endswith(".")
        assert "/" not in part["text"]


ODD: tuple[Any, ...] = (
    *(None, 1e308, "", "passwd", [], [[[]]], {"photo": "nobody"}, {"seed": "a"}),
    *({"damage": "rust"}, {"strength": 9}, {"tau": -1}, {"strokes": [{"points": []}]}),
    {"meta": {"_type": "gradio.FileData"}},
)


@pytest.mark.parametrize("name", ["watch", "repair"])
@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
def test_odd_values_get_a_sentence(door, name, value):
    *_, (event, content) = door.events(name, [value])
    assert event == "error"
    assert content["error"].endswith(".")
    assert not any(leak in content["error"] for leak in (*LEAKS, "/"))


# Advisories of Gradio, Starlette, python-multipart, h11 and mcp, November 2023 to November 2026:
# all that reach a server without components, logins, flagging and shares.


def replayed(attacks: Mapping[str, Iterable[Any]]) -> pytest.MarkDecorator:
    """One test an attack, called by the advisories' numbers."""
    ids = ["+".join(re.findall(r"(?:CVE|GHSA)-[\w-]+", name)) for name in attacks]
    return pytest.mark.parametrize("attack", attacks.values(), ids=ids)


STATIC = ("static/", "static/fonts/", "files/", "recorded/", "results-files/")
PATHS = ("/etc/passwd", "//etc/passwd", "../routes.py", "%2e%2e/%2e%2e/%2e%2e/routes.py",
         "..%2f..%2f..%2fetc/passwd", "\\..\\..\\etc\\passwd", "%00", "a" * 300)  # fmt: skip
INSIDE = ("http://169.254.169.254/latest/meta-data", "http://127.0.0.1:1/", "http://[::1]:1/")
ELSEWHERE = ("http://attacker.example", "https:/attacker.example", "//attacker.example")
QUOTED = [address.replace(":", "%3a").replace("/", "%2f") for address in ELSEWHERE]

CLOSED = {
    "CVE-2023-51449: /file= reads any file": [
        *(f"{FILE}{path}" for path in ("/etc/passwd", "app/demo.py", ".git/config", "%00")),
        *(f"{FILE}{path}" for path in ("../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd")),
        *("file=/etc/passwd", f"{API}/file//etc/passwd"),
    ],
    "CVE-2024-12217: NTFS streams. CVE-2025-23042: another case": [
        *(FILE + "/etc/passwd::$DATA", FILE + "/ETC/PASSWD"),
    ],
    "CVE-2024-47164, CVE-2026-28414: dots, absolute paths on Windows": [
        start + path for start in STATIC for path in (*PATHS, "/windows/win.ini")
    ],
    "CVE-2024-47166, CVE-2024-1561: /custom_component, /component_server": [
        *(f"{API}/custom_component/a/client/component/../../../../routes.py",),
        *(f"{API}/component_server", f"{API}/flag", f"{API}/process_recording"),
    ],
    "GHSA-x746-7m8f-x49c: StaticFiles and UNC paths": [
        start + path for start in STATIC for path in ("/attacker.example/a", "\\\\attacker\\a")
    ],
    "CVE-2024-2206: /proxy=. CVE-2026-28416: proxy_url. GHSA-2mr9-9r47-px2g: one cookie jar": [
        start + address for start in (f"{API}/proxy=", "proxy=") for address in INSIDE
    ],
    "CVE-2024-4940, CVE-2024-8021, CVE-2026-59806, CVE-2024-1183: /file= redirects, fetches": [
        *(FILE + path for path in (*ELSEWHERE, *QUOTED, *map(str.upper, ELSEWHERE), *INSIDE)),
    ],
    "CVE-2026-28415, CVE-2026-27167: logins": [
        *(f"login/callback?_target_url={address}" for address in ELSEWHERE),
        *("login/huggingface", "login", "logout", f"{API}/token", f"{API}/user"),
    ],
    "CVE-2024-47168, CVE-2024-47869: monitoring although it is off, its key": [
        *("monitoring", "monitoring/", "monitoring/summary", "monitoring/x", f"{API}/runs"),
    ],
}  # fmt: skip


@replayed(CLOSED)
def test_what_is_closed(door, attack):
    for path in attack:
        door.check_refusal(path, "GET", headers={"x-direct-url": INSIDE[0]})


FOREIGN = {
    "CVE-2024-0964, CVE-2024-1728, CVE-2024-47868, CVE-2024-51751: a value names a file": [
        *("/etc/passwd", "file:///etc/passwd", "/tmp/../etc/passwd"),
    ],
    "CVE-2024-34510: Windows' credentials by UNC paths": [
        *("\\\\attacker.example\\share\\a.png", "//attacker.example/share/a.png"),
    ],
    "CVE-2024-4325, CVE-2024-47167, CVE-2024-48052: a value names an address": [
        *(*INSIDE, "https://attacker.example/a.png"),
    ],
}


@replayed(FOREIGN)
def test_files_that_are_no_uploads(door, attack):
    for name in attack:
        file = {"path": name, "url": name, "meta": {"_type": "gradio.FileData"}}
        ways = ("call/repair", "call/v2/repair", "queue/join", "../watch")
        for way, value in itertools.product(ways, (file, name)):
            body = {"data": [value], "fn_index": 0, "session_hash": "an-attacker", "picture": value}
            answer = door.post(f"{API}/{way}" if way[0] != "." else way[3:], json=body)
            assert (answer.status_code, answer.json()["detail"]) == REFUSALS["file"]


PART = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\na%s\r\n'
MB = 2**20
POSTS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "CVE-2024-53981: long boundaries": [
        ("upload", {"content": b"x", "headers": {
            "content-type": f"multipart/form-data; boundary={'-' * 60_000}"}}),
    ],
    "CVE-2026-42561: heads of parts without end": [
        ("upload", {"content": body, "headers": FORM})
        for body in (b"--x\r\n" + b"a: b\r\n" * 200_000, b"--x\r\na: " + b"b" * MB)
    ],
    "CVE-2024-47874: fields of a form without end": [
        ("upload", {"content": PART % (b"a", b"", b"a" * MB) * 21, "headers": FORM}),
    ],
    "CVE-2026-54283, CVE-2026-53538: limits not heeded, semicolons": [
        (path, {"content": pair * 30_000, "headers": {
            "content-type": "application/x-www-form-urlencoded"}})
        for path in ("upload", "call/repair", "queue/join") for pair in (b"a&", b"a;")
    ],
    "CVE-2025-53365, CVE-2025-53366: messages of assistants that are none": [
        ("mcp/", {"content": body, "headers": MCP})
        for body in ("{", "[]", '{"jsonrpc": "2.0", "method": 5}', "null", '{"method": "a/call"}')
    ],
    "CVE-2025-54121: a large file": [("upload", {"files": {"files": ("a.png", bytes(22 * MB))}})],
}  # fmt: skip


@replayed(POSTS)
def test_posts_that_are_refused_soon(door, attack):
    for path, options in attack:
        door.check_refusal(f"{API}/{path}", **options)


ODD_UPLOADS = {  # that may be taken, but soon
    "CVE-2024-8966: bytes behind the boundary": PART % (b"files", b"; filename=a", b"")
    + b"--x--" + b"-" * MB,
    "CVE-2026-40347: long preambles and epilogues": b"\r\n" * MB,
    "CVE-2025-0187: names of files without end": PART
    % (b"files", b'; filename="%s"' % (b"a" * MB), b"") + b"--x--\r\n",
}  # fmt: skip


@replayed(ODD_UPLOADS)
def test_uploads_that_take_no_time(door, attack):
    door.post(f"{API}/upload", content=attack, headers=FORM)


def test_what_was_uploaded_is_not_shown_as_a_page(door):
    """CVE-2024-47872: its scripts would run. CVE-2026-24486: its name leads out of the folder."""
    for name in ("a.html", "a.svg", "a.js", "../../../../tmp/moved.xhtml", "C:\\a.xml"):
        files = {"files": (name, b"<script>alert(1)</script>", "text/html")}
        answer = door.post(f"{API}/upload", files=files)
        if answer.status_code == 200:
            assert ".." not in answer.json()[0]
            shown = door.ask(FILE + answer.json()[0])
            assert shown.headers["content-disposition"].startswith("attachment")
            assert "sandbox" in shown.headers["content-security-policy"]
    assert not Path("/tmp/moved.xhtml").exists()


def test_no_header_of_one_request_is_in_the_answers_of_others(door):
    """CVE-2024-47870."""
    marks = {"x-forwarded-host": 'attacker"><script>', "x-forwarded-proto": "attacker://"}
    marks["x-gradio-server"] = "https://attacker.example"
    for path in ("", "config", f"{API}/info"):
        assert "attacker" not in door.ask(path, headers=marks).text
        assert "attacker" not in door.ask(path).text


def test_ranges_without_end(door):
    """CVE-2025-62727."""
    headers = {"range": "bytes=" + ",".join(f"{n}-{n}" for n in range(9_000))}
    for path in ("static/fonts/IBMPlexSans/IBMPlexSans-Regular.woff2", f"{FILE}/etc/passwd"):
        assert door.ask(path, headers=headers).status_code in (200, 404)


def test_chunks_that_end_otherwise_are_no_chunks(door):
    """CVE-2025-43859: nothing behind them is a request of its own."""
    answer = door.raw(
        b"POST /gradio_api/call/repair HTTP/1.1", HOST, b"Transfer-Encoding: chunked",
        body=b"5\r\nAAAAAXX2\r\n45\r\n0\r\n\r\nGET /config HTTP/1.1\r\nHost: a\r\n\r\n",
    )  # fmt: skip
    assert b" 200 " not in answer.split(b"\r\n", 1)[0]
    assert b'"components"' not in answer


@pytest.mark.parametrize("host", [b"a/config?", b"a/gradio_api/info#", b"a@b/config\\"])
def test_the_path_is_the_one_that_is_looked_at(door, host):
    """CVE-2026-48710, CVE-2026-54282: whatever the host says."""
    first, *_ = door.raw(b"GET /monitoring HTTP/1.1", b"Host: " + host, END).split(b"\r\n")
    assert any(status in first for status in (b" 400 ", b" 403 ", b" 404 "))


def test_a_negative_length_is_none(door):
    """CVE-2026-53540."""
    head = (b"POST /gradio_api/upload HTTP/1.1", HOST, b"Content-Length: -1")
    assert door.raw(*head, body=b"a=b").startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("path", [b"/gradio_api/mcp/", b"/gradio_api/queue/join", b"/"])
def test_there_are_no_websockets(door, path):
    """CVE-2026-59950: whose origin is not looked at."""
    answer = door.raw(
        b"GET " + path + b" HTTP/1.1", HOST, b"Upgrade: websocket", b"Connection: Upgrade",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"Sec-WebSocket-Version: 13",
    )  # fmt: skip
    assert b" 101 " not in answer.split(b"\r\n", 1)[0]
