"""Every published advisory that reaches the page, replayed against it: none succeeds.

Of Gradio, gradio_client, Starlette, python-multipart, h11 and the protocol's server for
assistants, from November 2023 to November 2026. Not replayed, because there is nothing to send:
sharing over a tunnel (CVE-2024-47867, CVE-2024-47871), passwords (CVE-2024-1729), workflows of
Gradio's own repository (CVE-2023-6572, CVE-2024-1540, CVE-2024-4253, CVE-2024-4254), tasks of
assistants (CVE-2026-52870), and names that another site's page lets point to this machine
(CVE-2025-66416, of servers that are their user's alone: this one has for her what it has for all).
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.server.upload_folder import LOCK
from tests.fixtures.app import Served
from tests.fuzz.blocks import saved

API = "gradio_api"
SECRET = "root:"  # begins /etc/passwd
PNG = saved("PNG")
BOUNDARY = {"content-type": "multipart/form-data; boundary=x"}
SECONDS = 10.0  # what takes an attacker's bytes longer has worked for him


class Target:
    """The page, and what was asked of it: ``told`` is all that came back."""

    def __init__(self, served: Served, folder: Path) -> None:
        self.served, self.url = served, served.url
        self.port = int(served.url.rsplit(":", 1)[1].strip("/"))
        self.secret = folder / "secret.txt"
        self.secret.write_text("a secret of the server")
        self.client = httpx.Client(base_url=served.url, timeout=30)

    def get(self, path: str, **options: Any) -> httpx.Response:
        """As it is: no dots are taken out of the path."""
        return self.client.get(httpx.URL(self.url).copy_with(raw_path=path.encode()), **options)

    def closed(self, *paths: str) -> None:
        """Neither served nor led elsewhere."""
        for path in paths:
            answer = self.get(f"/{path}")
            assert 400 <= answer.status_code < 500, (path, answer.status_code)
            assert "location" not in answer.headers
            assert SECRET not in answer.text
            assert "a secret of the server" not in answer.text

    def refused(self, path: str, **options: Any) -> httpx.Response:
        """A post that is not taken, and quickly."""
        begun = time.monotonic()
        answer = self.client.post(f"{API}/{path}", **options)
        assert 400 <= answer.status_code < 500, (path, answer.status_code, answer.text[:200])
        assert time.monotonic() - begun < SECONDS
        return answer

    def foreign(self, value: Any) -> None:
        """A value that no component of the page takes, whatever way it comes."""
        data = [value, "none", 1, 0.5, 0, 1]
        self.refused("call/adapt", json={"data": data})
        self.refused("queue/join", json={"data": data, "fn_index": 0, "session_hash": "advisory"})
        self.refused("run/predict", json={"data": data, "fn_index": 0, "session_hash": "advisory"})

    def raw(self, request: bytes) -> bytes:
        """Bytes that no client would send."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as line:
            line.sendall(request)
            answer = b""
            with contextlib.suppress(TimeoutError):
                while part := line.recv(65536):
                    answer += part
                    line.settimeout(0.3)  # what else comes on this connection comes at once
            return answer


@pytest.fixture
def target(served: Served, tmp_path: Path) -> Target:
    return Target(served, tmp_path)


def file_data(path: object, **others: object) -> dict[str, Any]:
    return {"path": str(path), "meta": {"_type": "gradio.FileData"}, **others}


ATTACKS: list[Any] = []


def replays(*advisories: str) -> Callable[[Callable[[Target], None]], Callable[[Target], None]]:
    """Name what an attack replays: ``ID: what went wrong there``."""

    def keep(attack: Callable[[Target], None]) -> Callable[[Target], None]:
        names = [advisory.split(":")[0] for advisory in advisories]
        ATTACKS.append(pytest.param(attack, id="+".join(names)))
        return attack

    return keep


# Files of the server


@replays(
    "CVE-2023-51449: /file= reads any file",
)
def traversal(target: Target) -> None:
    folder = target.served.demo.app.uploaded_file_dir
    paths = ("/etc/passwd", f"{folder}/../../../../etc/passwd", "../../../../../etc/passwd")
    target.closed(*(f"{API}/file={path}" for path in (*paths, "%2e%2e/%2e%2e/etc/passwd")))
    target.closed(f"file={target.secret}", f"file/{target.secret}")


@replays(
    "CVE-2024-12217: NTFS streams around blocked_paths",
    "CVE-2024-47164: is_in_or_equal and dots",
    "CVE-2025-23042: another case than the blocked path's",
)
def other_spellings(target: Target) -> None:
    target.closed(f"{API}/file={str(target.secret).upper()}", f"{API}/file={target.secret}::$DATA")
    target.closed(f"{API}/file={target.served.demo.app.uploaded_file_dir}/{LOCK.upper()}/..")


@replays(
    "CVE-2026-28414: absolute paths on Windows",
)
def absolute_below_static(target: Target) -> None:
    for start in ("static/", "assets/", "svelte/", f"{API}/custom_component/"):
        target.closed(
            *(f"{start}{path}" for path in ("/etc/passwd", "//etc/passwd", "../routes.py"))
        )
        target.closed(f"{start}%2e%2e/%2e%2e/%2e%2e/routes.py", f"{start}/windows/win.ini")


@replays(
    "CVE-2024-47166: /custom_component",
)
def one_level_up(target: Target) -> None:
    target.closed(f"{API}/custom_component/a/client/component/../../../../routes.py")
    target.closed(f"{API}/custom_component/textbox/server/component/%2e%2e")


@replays(
    "CVE-2024-1561: /component_server calls any method",
    "CVE-2024-34511: functions that are not the server's",
)
def component_server(target: Target) -> None:
    for name in ("move_resource_to_block_cache", "read_from_flag", "postprocess"):
        body = {"component_id": 1, "data": str(target.secret), "fn_name": name, "session_hash": "a"}
        target.refused("component_server", json=body)


@replays(
    "CVE-2024-0964: a JSON value names a local file",
    "CVE-2024-1728: /queue/join takes any path",
    "CVE-2024-4941: gr.JSON hands out any path",
    "CVE-2024-47868: postprocess of several components",
    "CVE-2024-51751: gr.File and gr.UploadButton",
    "CVE-2026-49119: gr.FileExplorer leaves its root",
)
def values_that_are_files(target: Target) -> None:
    for path in (target.secret, "/etc/passwd", f"file://{target.secret}"):
        target.foreign(file_data(path))
        target.foreign({"image": file_data(path), "points": [file_data(path)]})


@replays(
    "CVE-2024-34510: Windows' credentials by UNC paths",
    "GHSA-x746-7m8f-x49c: StaticFiles and UNC paths",
)
def names_of_shares(target: Target) -> None:
    target.foreign(file_data("\\\\attacker.example\\share\\a.png"))
    target.foreign(file_data("//attacker.example/share/a.png"))
    target.closed("static//attacker.example/share", "static/\\\\attacker.example\\share")


@replays(
    "CVE-2024-10648: gr.Audio deletes what a name leads to",
    "CVE-2026-24486: names that lead out of the folder",
)
def upload_elsewhere(target: Target) -> None:
    """Whatever the file is called, it lies in the folder for uploads."""
    folder = Path(target.served.demo.app.uploaded_file_dir).resolve()
    for name in ("../../../../tmp/moved.png", str(target.secret), LOCK, "..", "C:\\a.png"):
        answer = target.client.post(f"{API}/upload", files={"files": (name, PNG)})
        if answer.status_code == 200:
            [path] = answer.json()
            assert Path(path).resolve().is_relative_to(folder)
            assert Path(path).resolve() != folder / LOCK
    assert target.secret.read_text() == "a secret of the server"


# Addresses fetched, and visitors led elsewhere

INSIDE = ("http://169.254.169.254/latest/meta-data", "http://127.0.0.1:1/", "http://[::1]:1/")


@replays(
    "CVE-2024-4325: /queue/join fetches any address",
    "CVE-2024-47167: async_save_url_to_cache",
    "CVE-2024-48052: save_url_to_cache",
)
def fetched(target: Target) -> None:
    for address in (*INSIDE, target.url, "https://attacker.example/a.png"):
        target.foreign(file_data(address, url=address))


@replays(
    "CVE-2024-2206: /proxy= by X-Direct-Url",
    "CVE-2026-28416: proxy_url of a loaded Space",
)
def proxied(target: Target) -> None:
    for address in (*INSIDE, "https://attacker.hf.space/", "https://attacker.hf.space@127.0.0.1/"):
        target.closed(f"{API}/proxy={address}", f"proxy={address}")
        answer = target.get(f"/{API}/proxy={address}", headers={"x-direct-url": address})
        assert answer.status_code == 404


@replays(
    "CVE-2024-4940: /file= redirects to encoded addresses",
    "CVE-2024-8021: redirects by encoded addresses",
    "CVE-2026-28415: redirects after the login",
    "CVE-2026-59806: /file= redirects to http addresses",
)
def led_elsewhere(target: Target) -> None:
    for address in ("http://attacker.example", "https:/attacker.example", "//attacker.example"):
        quoted = address.replace(":", "%3a").replace("/", "%2f")
        target.closed(*(f"{API}/file={path}" for path in (address, quoted, address.upper())))
        target.closed(f"file={address}", f"login/callback?_target_url={address}")
        target.closed(f"logout?_target_url=///{address}")


@replays(
    "CVE-2024-1183: /file= tells open ports inside",
)
def ports_told_apart(target: Target) -> None:
    """Whether something listens inside cannot be read from the answers."""
    said = {
        target.get(f"/{API}/file=http://127.0.0.1:{port}/").text.strip()
        for port in (target.port, 1, 22)
    }
    assert len(said) == 1


@replays(
    "CVE-2024-47870: root addresses changed for others",
)
def host_in_the_page(target: Target) -> None:
    """No header of one request is in the addresses that others get."""
    mark = {"x-forwarded-host": 'attacker"><script>', "x-forwarded-proto": "attacker://"}
    assert "attacker" not in target.get("/config", headers=mark).text
    target.get("/config", headers={"host": "attacker.example"})
    assert "attacker.example" not in target.get("/config").text


# Other sites


@replays(
    "CVE-2024-1727: other sites' pages upload",
    "CVE-2024-47084: origins of a local server",
    "CVE-2024-47165: the origin null",
    "CVE-2025-5320: origins that begin with localhost",
)
def from_elsewhere(target: Target) -> None:
    for origin in ("http://attacker.example", "null", "http://localhost.attacker.example"):
        for asked in ({}, {"access-control-request-method": "POST"}):
            headers = {"origin": origin, **asked}
            way = "OPTIONS" if asked else "GET"
            answer = target.client.request(way, "config", headers=headers)
            assert answer.headers.get("access-control-allow-origin") not in (origin, "*")
        headers = {"origin": origin, "sec-fetch-site": "cross-site"}
        target.refused("upload", files={"files": ("a.png", PNG)}, headers=headers)
        target.refused("queue/join", json={"data": []}, headers=headers)
        target.refused("mcp/", json={}, headers=headers)


# Scripts and secrets


@replays(
    "CVE-2024-47872: uploaded pages run",
)
def scripts(target: Target) -> None:
    """A page or a drawing that was uploaded is not shown as one."""
    for name in ("a.html", "a.svg", "a.js", "a.xml", "a.xhtml"):
        files = {"files": (name, b"<script>alert(1)</script>", "text/html")}
        answer = target.client.post(f"{API}/upload", files=files)
        if answer.status_code == 200:
            answer = target.get(f"/{API}/file={answer.json()[0]}")
            shown = answer.headers.get("content-disposition", "").startswith("attachment")
            assert shown, (name, dict(answer.headers))
            assert answer.headers["x-content-type-options"] == "nosniff"


@replays(
    "CVE-2024-47168: monitoring although it is off",
    "CVE-2024-47869: the dashboard's key compared in uneven time",
)
def monitoring(target: Target) -> None:
    target.closed("monitoring", "monitoring/", "monitoring/summary", "monitoring/x")


@replays(
    "CVE-2026-27167: a login that shows the host's token",
)
def mocked_login(target: Target) -> None:
    target.closed("login/huggingface", "login/callback", "login", f"{API}/token", f"{API}/user")
    answer = target.get("/config")
    assert "session" not in answer.headers.get("set-cookie", "")
    assert "hf_" not in answer.text


@replays(
    "CVE-2025-48889: flagging copies any file",
)
def flagging(target: Target) -> None:
    for name in ("flag", "flag_1", "component_server", "process_recording", "runs"):
        target.closed(f"{API}/{name}")
    target.refused("call/flag", json={"data": [file_data(target.secret)]})


@replays(
    "GHSA-2mr9-9r47-px2g: one cookie jar for all that is proxied",
)
def cookies_of_others(target: Target) -> None:
    target.closed(f"{API}/proxy=https://one.hf.space/", f"{API}/proxy=https://two.hf.space/")


# Requests that cost more than they should


@replays(
    "CVE-2024-8966: bytes appended to the boundary",
    "CVE-2024-53981: bytes before and behind the boundary",
)
def long_boundary(target: Target) -> None:
    end = b"--x\r\nContent-Disposition: form-data; name=files; filename=a\r\n\r\na\r\n--x--"
    body = end + b"-" * (2**20)
    begun = time.monotonic()
    assert target.client.post(f"{API}/upload", content=body, headers=BOUNDARY).status_code < 500
    assert time.monotonic() - begun < SECONDS
    long = {"content-type": f"multipart/form-data; boundary={'-' * 60_000}"}
    target.refused("upload", content=b"x", headers=long)


@replays(
    "CVE-2026-40347: long preambles and epilogues",
)
def long_preamble(target: Target) -> None:
    begun = time.monotonic()
    answer = target.client.post(f"{API}/upload", content=b"\r\n" * 2**20, headers=BOUNDARY)
    assert answer.status_code < 500
    assert time.monotonic() - begun < SECONDS


@replays(
    "CVE-2026-42561: heads of parts without end",
)
def heads_of_parts(target: Target) -> None:
    many = b"--x\r\n" + b"a: b\r\n" * 200_000
    one = b"--x\r\na: " + b"b" * 2**20
    for body in (many, one):
        target.refused("upload", content=body, headers=BOUNDARY)


@replays(
    "CVE-2025-0187: names of files without end",
)
def long_names(target: Target) -> None:
    head = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="%s"\r\n\r\na\r\n--x--\r\n'
    )
    for name in (b"a" * 100_000, b"a" * 2**20):
        begun = time.monotonic()
        answer = target.client.post(f"{API}/upload", content=head % name, headers=BOUNDARY)
        assert answer.status_code < 500
        assert time.monotonic() - begun < SECONDS


@replays(
    "CVE-2024-24762: the Content-Type's regular expression",
)
def content_type(target: Target) -> None:
    kind = "application/x-www-form-urlencoded; !=" + '"' + "\\" * 60_000
    for path in ("upload", "call/adapt"):
        target.refused(path, content=b"a=b", headers={"content-type": kind})


@replays(
    "CVE-2024-47874: fields of a form without end",
)
def fields_without_files(target: Target) -> None:
    field = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + b"a" * 2**20 + b"\r\n"
    target.refused("upload", content=field * 21, headers=BOUNDARY)


@replays(
    "CVE-2026-54283: limits of a form that are not heeded",
    "CVE-2026-53538: semicolons that separate fields",
    "CVE-2026-53539: many semicolons",
)
def forms(target: Target) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    for path in ("upload", "call/adapt", "queue/join"):
        target.refused(path, content=b"a&" * 30_000, headers=form)
        target.refused(path, content=b"a;" * 30_000, headers=form)


@replays(
    "CVE-2025-54121: a file written while all others wait",
)
def large_file(target: Target) -> None:
    """Others are answered while one writes a file to the disk."""
    body = {"files": ("a.png", bytes(15 * 2**20))}
    begun = time.monotonic()
    assert target.client.post(f"{API}/upload", files=body).status_code == 200
    assert time.monotonic() - begun < SECONDS
    target.refused("upload", files={"files": ("a.png", bytes(22 * 2**20))})


@replays(
    "CVE-2025-62727: many ranges of a file",
)
def ranges(target: Target) -> None:
    [path] = target.client.post(f"{API}/upload", files={"files": ("a.png", PNG)}).json()
    headers = {"range": "bytes=" + ",".join(f"{n}-{n}" for n in range(9_000))}
    for address in (f"/{API}/file={path}", "/static/img/logo.svg", "/theme.css"):
        begun = time.monotonic()
        assert target.get(address, headers=headers).status_code in (200, 404, 400)
        assert time.monotonic() - begun < SECONDS


@replays(
    "CVE-2024-10624: gr.DateTime's regular expression",
)
def slow_words(target: Target) -> None:
    for value in ("now - " + "9" * 20_000 + "d", "9" * 20_000 + "-01-01 00:00:00"):
        begun = time.monotonic()
        body = {"data": [value] * 6, "session_hash": "slow", "fn_index": 0}
        assert target.client.post(f"{API}/run/predict", json=body).status_code <= 500
        assert time.monotonic() - begun < SECONDS


@replays(
    "CVE-2024-10569: a zipped table",
)
def bombs(target: Target) -> None:
    target.closed(f"{API}/process_recording", f"{API}/component_server")
    target.foreign(file_data("bomb.csv.zip"))


@replays(
    "CVE-2025-43859: ends of chunks that are not looked at",
)
def chunks(target: Target) -> None:
    """Chunks that end otherwise are no chunks: nothing behind them is a request of its own."""
    head = b"POST /gradio_api/call/adapt HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = target.raw(
        head + b"5\r\nAAAAAXX2\r\n45\r\n0\r\n\r\nGET /config HTTP/1.1\r\nHost: a\r\n\r\n"
    )
    assert b" 200 " not in answer.split(b"\r\n", 1)[0]
    assert b'"components"' not in answer


@replays(
    "CVE-2026-48710: a host that changes the path",
    "CVE-2026-54282: a path that changes the host",
)
def hosts(target: Target) -> None:
    """The path that is looked at is the one that is served, whatever the host says."""
    for host in (b"a/config?", b"a/gradio_api/info#", b"a@b/config\\"):
        answer = target.raw(
            b"GET /monitoring HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n"
        )
        assert b" 404 " in answer.split(b"\r\n", 1)[0] or b" 400 " in answer.split(b"\r\n", 1)[0]
    answer = target.raw(b"GET @attacker.example/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert b"attacker.example" not in answer


@replays(
    "GHSA-wqp7-x3pw-xc5r: methods that name attributes",
)
def methods(target: Target) -> None:
    for method in ("__init__", "dispatch", "PROPFIND", "state"):
        answer = target.client.request(method, "config")
        assert answer.status_code == 405


@replays(
    "CVE-2026-53540: a negative length",
)
def negative_length(target: Target) -> None:
    answer = target.raw(
        b"POST /gradio_api/upload HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\na=b"
    )
    assert answer.startswith(b"HTTP/1.1 4")


@replays("CVE-2026-59950: WebSockets whose origin is not looked at")
def sockets(target: Target) -> None:
    for path in (b"/gradio_api/mcp/", b"/gradio_api/mcp/ws", b"/"):
        answer = target.raw(
            b"GET "
            + path
            + b" HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert b" 101 " not in answer.split(b"\r\n", 1)[0]


@replays(
    "CVE-2025-53365: an exception that ends the server",
    "CVE-2025-53366: a request that ends the server",
    "CVE-2026-52869: sessions that anybody may continue",
)
def protocol(target: Target) -> None:
    """The server for assistants stays up, and keeps no session that another could take over."""
    accept = {"accept": "application/json, text/event-stream"}
    for body in ("{", "[]", '{"jsonrpc": "2.0", "method": 5}', "null", '{"method": "tools/call"}'):
        target.refused("mcp/", content=body, headers=accept | {"content-type": "application/json"})
    asked = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-03-26", "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"},
        },
    }  # fmt: skip
    answer = target.client.post(f"{API}/mcp/", json=asked, headers=accept)
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("attack", ATTACKS)
def test_it_does_not_work(
    target: Target, attack: Callable[[Target], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch(*_: object, **__: object) -> None:
        raise AssertionError("an address was fetched")

    monkeypatch.setattr("gradio.processing_utils.async_ssrf_protected_get", fetch)
    attack(target)
    assert target.client.get("robots.txt").status_code == 200
