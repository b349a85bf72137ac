"""Every published advisory that reaches the page, replayed against it: none succeeds.

Of Gradio, gradio_client, Starlette, python-multipart, h11 and the protocol's server for
assistants, from November 2023 to November 2026. Not replayed, because there is nothing to send:
sharing over a tunnel (CVE-2024-47867, CVE-2024-47871), passwords (CVE-2024-1729), workflows of
Gradio's own repository (CVE-2023-6572, CVE-2024-1540, CVE-2024-4253, CVE-2024-4254), and tasks of
assistants (CVE-2026-52870). Names that another site's page lets point to this machine
(CVE-2025-66416) are replayed in ``test_twelve_ways.py``.
"""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.server.upload_folder import LOCK
from app.words.errors import GATE_WORDS
from tests.fixtures.app import Served
from tests.fuzz.blocks import saved

API = "gradio_api"
FILE = f"{API}/file="
PNG = saved("PNG")
BOUNDARY = {"content-type": "multipart/form-data; boundary=x"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
MCP = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
SECRETS = ("root:", "a secret of the server")  # the first begins /etc/passwd
HOST, END = b"Host: a", b"Connection: close"
SECONDS = 10.0  # what takes an attacker's bytes longer has worked for him


class Target:
    """The page, and what an attacker sends to it."""

    def __init__(self, served: Served, folder: Path) -> None:
        self.url, self.port = served.url, int(served.url.rsplit(":", 1)[1].strip("/"))
        self.folder = Path(served.demo.app.uploaded_file_dir)
        self.secret = folder / "secret.txt"
        self.secret.write_text(SECRETS[1])
        self.client = httpx.Client(base_url=served.url, timeout=30)

    def ask(self, path: str, method: str = "GET", **options: Any) -> httpx.Response:
        """As it is: no dots are taken out of the path. Answered soon, and never with a failure."""
        address = httpx.URL(self.url).copy_with(raw_path=f"/{path}".encode())
        begun = time.monotonic()
        answer = self.client.request(method, address, **options)
        assert time.monotonic() - begun < SECONDS
        assert answer.status_code < 500, (path, answer.status_code, answer.text[:200])
        assert not any(secret in answer.text for secret in SECRETS)
        return answer

    def refused(self, path: str, method: str = "POST", **options: Any) -> None:
        """Neither served nor led elsewhere."""
        answer = self.ask(path, method, **options)
        assert answer.status_code >= 400, (path, answer.status_code, answer.text[:200])
        assert "location" not in answer.headers

    def upload(self, name: str, content: bytes = PNG, *kind: str) -> httpx.Response:
        files = {"files": (name, content, *kind)}
        return self.ask(f"{API}/upload", "POST", files=files)

    def raw(self, *lines: bytes, body: bytes = b"") -> bytes:
        """A request that no client would send; ``lines`` without the last, empty one."""
        request = b"\r\n".join([*lines, b"", body])
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as line:
            line.sendall(request)
            answer = b""
            with contextlib.suppress(TimeoutError):
                while part := line.recv(65536):
                    answer += part
                    line.settimeout(0.3)  # what else comes on this connection comes at once
            return answer


@pytest.fixture
def target(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    """Fetches nothing for anybody, and is still there afterwards."""

    async def fetch(*_: object, **__: object) -> None:
        raise AssertionError("an address was fetched")

    monkeypatch.setattr("gradio.processing_utils.async_ssrf_protected_get", fetch)
    target = Target(served, tmp_path)
    yield target
    assert target.client.get("robots.txt").status_code == 200


def file_data(path: object, **others: object) -> dict[str, Any]:
    return {"path": str(path), "meta": {"_type": "gradio.FileData"}, **others}


def replayed(attacks: Mapping[str, Iterable[Any]]) -> pytest.MarkDecorator:
    """One test an attack, called by the advisories' numbers."""
    ids = ["+".join(re.findall(r"(?:CVE|GHSA)-[\w-]+", name)) for name in attacks]
    return pytest.mark.parametrize("attack", attacks.values(), ids=ids)


STATIC = ("static/", "assets/", "svelte/", f"{API}/custom_component/")
PATHS = ("/etc/passwd", "//etc/passwd", "../routes.py", "%2e%2e/%2e%2e/%2e%2e/routes.py")
INSIDE = ("http://169.254.169.254/latest/meta-data", "http://127.0.0.1:1/", "http://[::1]:1/")
SPACES = ("https://attacker.hf.space/", "https://attacker.hf.space@127.0.0.1/")
ELSEWHERE = ("http://attacker.example", "https:/attacker.example", "//attacker.example")
QUOTED = [address.replace(":", "%3a").replace("/", "%2f") for address in ELSEWHERE]

# {folder} holds the uploads, {secret} is another file that the server may read.
CLOSED = {
    "CVE-2023-51449: /file= reads any file": [
        *(f"{FILE}{path}" for path in ("/etc/passwd", "{folder}/../../../../etc/passwd")),
        *(f"{FILE}{path}" for path in ("../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd")),
        *("file={secret}", "file/{secret}"),
    ],
    "CVE-2024-12217: NTFS streams. CVE-2024-47164: dots. CVE-2025-23042: another case": [
        *(FILE + "{secret}::$DATA", FILE + "{SECRET}", FILE + "{folder}/" + LOCK.upper() + "/.."),
    ],
    "CVE-2026-28414: absolute paths on Windows": [
        start + path for start in STATIC for path in (*PATHS, "/windows/win.ini")
    ],
    "CVE-2024-47166: /custom_component": [
        f"{API}/custom_component/a/client/component/../../../../routes.py",
        f"{API}/custom_component/textbox/server/component/%2e%2e",
    ],
    "GHSA-x746-7m8f-x49c: StaticFiles and UNC paths": [
        *("static//attacker.example/share", "static/\\\\attacker.example\\share"),
    ],
    "CVE-2024-2206: /proxy=. CVE-2026-28416: proxy_url. GHSA-2mr9-9r47-px2g: one cookie jar": [
        start + address for start in (f"{API}/proxy=", "proxy=") for address in (*INSIDE, *SPACES)
    ],
    "CVE-2024-4940, CVE-2024-8021: /file= redirects. CVE-2026-59806: to http addresses": [
        *(FILE + path for path in (*ELSEWHERE, *QUOTED, *map(str.upper, ELSEWHERE))),
        *(f"file={path}" for path in ELSEWHERE),
    ],
    "CVE-2026-28415: redirects after the login": [
        *(f"login/callback?_target_url={address}" for address in ELSEWHERE),
        *(f"logout?_target_url=///{address}" for address in ELSEWHERE),
    ],
    "CVE-2024-47168: monitoring although it is off. CVE-2024-47869: its key": [
        *("monitoring", "monitoring/", "monitoring/summary", "monitoring/x"),
    ],
    "CVE-2026-27167: a login that shows the host's token": [
        *("login/huggingface", "login/callback", "login", f"{API}/token", f"{API}/user"),
    ],
    "CVE-2025-48889: flagging copies any file. CVE-2024-10569: a zipped table": [
        *(f"{API}/{name}" for name in ("flag", "flag_1", "component_server", "runs")),
        f"{API}/process_recording",
    ],
}


@replayed(CLOSED)
def test_what_is_closed(target: Target, attack: list[str]) -> None:
    secret = str(target.secret)
    for path in attack:
        known = {"folder": target.folder, "secret": secret, "SECRET": secret.upper()}
        target.refused(path.format(**known), "GET", headers={"x-direct-url": INSIDE[0]})


FOREIGN = {
    "CVE-2024-0964: a JSON value. CVE-2024-1728: /queue/join. CVE-2024-4941: gr.JSON. "
    "CVE-2024-47868: postprocess. CVE-2024-51751: gr.File. CVE-2026-49119: gr.FileExplorer": [
        *("{secret}", "/etc/passwd", "file://{secret}", "{folder}/../../..{secret}"),
    ],
    "CVE-2024-34510: Windows' credentials by UNC paths. CVE-2024-10569: a zipped table": [
        *("\\\\attacker.example\\share\\a.png", "//attacker.example/share/a.png", "bomb.csv.zip"),
    ],
    "CVE-2024-4325: any address. CVE-2024-47167, CVE-2024-48052: save_url_to_cache": [
        *(*INSIDE, "{url}config", "https://attacker.example/a.png"),
        "http://attacker.example/../../../../../../../../..{folder}/a.png",
    ],
}


@replayed(FOREIGN)
def test_values_that_no_component_takes(target: Target, attack: list[str]) -> None:
    """Whatever way they come, for the picture and for a number alike."""
    for name in attack:
        path = name.format(secret=target.secret, url=target.url, folder=target.folder)
        file = file_data(path, url=path)
        for place, value in ((0, file), (0, file_data(path)), (0, {"points": [file]}), (4, file)):
            asked: dict[str, Any] = {
                "data": [None, "none", 1, 0.5, 0, 1],
                "fn_index": 0,
                "session_hash": "an-attacker",
            }
            asked["data"][place] = value
            for way in ("call/adapt", "queue/join", "run/predict"):
                answer = target.ask(f"{API}/{way}", "POST", json=asked)
                assert (answer.status_code, answer.json()["detail"]) == (400, GATE_WORDS["foreign"])


PART = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\na%s\r\n'
LONG = 2**20
POSTS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "CVE-2024-1561: /component_server calls any method. CVE-2024-34511: functions": [
        ("component_server", {"json": {"component_id": 1, "data": "/etc/passwd", "fn_name": name}})
        for name in ("move_resource_to_block_cache", "read_from_flag", "postprocess")
    ],
    "CVE-2025-48889: flagging copies any file": [
        ("call/flag", {"json": {"data": [file_data("/etc/passwd")]}}),
    ],
    "CVE-2024-53981: long boundaries": [
        ("upload", {"content": b"x", "headers": {
            "content-type": f"multipart/form-data; boundary={'-' * 60_000}"}}),
    ],
    "CVE-2026-42561: heads of parts without end": [
        ("upload", {"content": body, "headers": BOUNDARY})
        for body in (b"--x\r\n" + b"a: b\r\n" * 200_000, b"--x\r\na: " + b"b" * LONG)
    ],
    "CVE-2024-24762: the Content-Type's regular expression": [
        (path, {"content": b"a=b", "headers": {
            "content-type": FORM["content-type"] + '; !="' + "\\" * 60_000}})
        for path in ("upload", "call/adapt")
    ],
    "CVE-2024-47874: fields of a form without end": [
        ("upload", {"content": PART % (b"a", b"", b"a" * LONG) * 21, "headers": BOUNDARY}),
    ],
    "CVE-2026-54283: limits not heeded. CVE-2026-53538, CVE-2026-53539: semicolons": [
        (path, {"content": pair * 30_000, "headers": FORM})
        for path in ("upload", "call/adapt", "queue/join") for pair in (b"a&", b"a;")
    ],
    "CVE-2025-53365: an exception that ends the server. CVE-2025-53366: a request": [
        ("mcp/", {"content": body, "headers": MCP})
        for body in ("{", "[]", '{"jsonrpc": "2.0", "method": 5}', "null", '{"method": "a/call"}')
    ],
    "CVE-2025-54121: a large file": [("upload", {"files": {"files": ("a.png", bytes(22 * LONG))}})],
}  # fmt: skip


@replayed(POSTS)
def test_posts_that_are_refused_soon(target: Target, attack: list[Any]) -> None:
    for path, options in attack:
        target.refused(f"{API}/{path}", **options)


LATER = {  # bodies of uploads that may be taken, but soon
    "CVE-2024-8966, CVE-2024-53981: bytes behind the boundary": [
        PART % (b"files", b"; filename=a", b"") + b"--x--" + b"-" * LONG,
    ],
    "CVE-2026-40347: long preambles and epilogues": [b"\r\n" * LONG],
    "CVE-2025-0187: names of files without end": [
        PART % (b"files", b'; filename="%s"' % (b"a" * length), b"") + b"--x--\r\n"
        for length in (100_000, LONG)
    ],
}


@replayed(LATER)
def test_uploads_that_take_no_time(target: Target, attack: list[bytes]) -> None:
    for body in attack:
        target.ask(f"{API}/upload", "POST", content=body, headers=BOUNDARY)


def test_an_upload_lies_in_its_folder_whatever_it_is_called(target: Target) -> None:
    """CVE-2024-10648: gr.Audio deletes what a name leads to; CVE-2026-24486: names lead out."""
    folder = target.folder.resolve()
    for name in ("../../../../tmp/moved.png", str(target.secret), LOCK, "..", "C:\\a.png"):
        answer = target.upload(name)
        if answer.status_code == 200:
            path = Path(answer.json()[0]).resolve()
            assert path.is_relative_to(folder)
            assert path != folder / LOCK
    assert target.secret.read_text() == SECRETS[1]


def test_whether_something_listens_inside_is_not_told(target: Target) -> None:
    """CVE-2024-1183: by answers of /file= that differ."""
    ports = (target.port, 1, 22)
    said = {target.ask(f"{FILE}http://127.0.0.1:{port}/").text.strip() for port in ports}
    assert len(said) == 1


def test_no_header_of_one_request_is_in_the_addresses_of_others(target: Target) -> None:
    """CVE-2024-47870. Nor, CVE-2026-27167, is the host's token."""
    mark = {"x-forwarded-host": 'attacker"><script>', "x-forwarded-proto": "attacker://"}
    assert "attacker" not in target.ask("config", headers=mark).text
    target.ask("config", headers={"host": "attacker.example"})
    answer = target.ask("config")
    assert "attacker" not in answer.text
    assert "hf_" not in answer.text
    assert "session" not in answer.headers.get("set-cookie", "")


def test_other_sites_pages_are_refused(target: Target) -> None:
    """CVE-2024-1727, CVE-2024-47084; CVE-2024-47165: null; CVE-2025-5320: localhost.* ."""
    for origin in ("http://attacker.example", "null", "http://localhost.attacker.example"):
        for method, asked in (("GET", {}), ("OPTIONS", {"access-control-request-method": "POST"})):
            answer = target.client.request(method, "config", headers={"origin": origin, **asked})
            assert answer.headers.get("access-control-allow-origin") not in (origin, "*")
        headers = {"origin": origin, "sec-fetch-site": "cross-site"}
        target.refused(f"{API}/upload", files={"files": ("a.png", PNG)}, headers=headers)
        target.refused(f"{API}/queue/join", json={"data": []}, headers=headers)
        target.refused(f"{API}/mcp/", json={}, headers=headers)


def test_what_was_uploaded_is_not_shown_as_a_page(target: Target) -> None:
    """CVE-2024-47872: its scripts would run."""
    for name in ("a.html", "a.svg", "a.js", "a.xml", "a.xhtml"):
        answer = target.upload(name, b"<script>alert(1)</script>", "text/html")
        if answer.status_code == 200:
            answer = target.ask(FILE + answer.json()[0])
            assert answer.headers["content-disposition"].startswith("attachment")
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_what_is_large_or_asked_for_in_pieces_is_answered_soon(target: Target) -> None:
    """CVE-2025-54121: a file written while all others wait; CVE-2025-62727: many ranges."""
    assert target.upload("a.png", bytes(15 * LONG)).status_code == 200
    headers = {"range": "bytes=" + ",".join(f"{n}-{n}" for n in range(9_000))}
    for path in (FILE + target.upload("a.png").json()[0], "static/img/logo.svg", "theme.css"):
        assert target.ask(path, headers=headers).status_code in (200, 404, 400)


def test_words_are_not_searched_for_long(target: Target) -> None:
    """CVE-2024-10624: gr.DateTime's regular expression."""
    for value in ("now - " + "9" * 20_000 + "d", "9" * 20_000 + "-01-01 00:00:00"):
        begun = time.monotonic()
        body = {"data": [value] * 6, "session_hash": "slow-words", "fn_index": 0}
        assert target.client.post(f"{API}/run/predict", json=body).status_code <= 500
        assert time.monotonic() - begun < SECONDS


def test_chunks_that_end_otherwise_are_no_chunks(target: Target) -> None:
    """CVE-2025-43859: nothing behind them is a request of its own."""
    answer = target.raw(
        b"POST /gradio_api/call/adapt HTTP/1.1", HOST, b"Transfer-Encoding: chunked",
        body=b"5\r\nAAAAAXX2\r\n45\r\n0\r\n\r\nGET /config HTTP/1.1\r\nHost: a\r\n\r\n",
    )  # fmt: skip
    assert b" 200 " not in answer.split(b"\r\n", 1)[0]
    assert b'"components"' not in answer


@pytest.mark.parametrize("host", [b"a/config?", b"a/gradio_api/info#", b"a@b/config\\"])
def test_the_path_is_the_one_that_is_looked_at(target: Target, host: bytes) -> None:
    """CVE-2026-48710, CVE-2026-54282: whatever the host says, and the other way round."""
    first, *_ = target.raw(b"GET /monitoring HTTP/1.1", b"Host: " + host, END).split(b"\r\n")
    assert b" 404 " in first or b" 400 " in first
    assert b"attacker.example" not in target.raw(b"GET @attacker.example/ HTTP/1.1", HOST, END)


def test_methods_that_name_attributes_are_none(target: Target) -> None:
    """GHSA-wqp7-x3pw-xc5r."""
    for method in ("__init__", "dispatch", "PROPFIND", "state"):
        assert target.client.request(method, "config").status_code == 405


def test_a_negative_length_is_none(target: Target) -> None:
    """CVE-2026-53540."""
    kind = b"Content-Type: application/x-www-form-urlencoded"
    head = (b"POST /gradio_api/upload HTTP/1.1", HOST, b"Content-Length: -1", kind)
    assert target.raw(*head, body=b"a=b").startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("path", [b"/gradio_api/mcp/", b"/gradio_api/mcp/ws", b"/"])
def test_there_are_no_websockets(target: Target, path: bytes) -> None:
    """CVE-2026-59950: whose origin is not looked at."""
    answer = target.raw(
        b"GET " + path + b" HTTP/1.1", HOST, b"Upgrade: websocket", b"Connection: Upgrade",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"Sec-WebSocket-Version: 13",
    )  # fmt: skip
    assert b" 101 " not in answer.split(b"\r\n", 1)[0]


def test_assistants_have_no_session_that_another_could_take_over(target: Target) -> None:
    """CVE-2026-52869."""
    client = {"name": "a", "version": "1"}
    asked = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}
    answer = target.ask(f"{API}/mcp/", "POST", json=body, headers=MCP)
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
