"""Behind other people's servers: names, prefixes and variables of proxies, a foreign app.py."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image

from tests.fixtures.address import free_port

ROOT = Path(__file__).resolve().parents[2]
HTML = {"accept": "text/html,application/xhtml+xml"}
PUBLIC = "http://demo.example.org"


def begun(tmp_path: Path, **environment: str) -> tuple[subprocess.Popen[str], str]:
    """A server of its own process, and its address."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, ROOT / "app.py", "--port", str(port)],
        env=os.environ | {"GRADIO_TEMP_DIR": str(tmp_path)} | environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        if process.poll() is not None:
            assert process.stderr is not None
            raise AssertionError(process.stderr.read())
        try:
            if httpx.get(f"{address}/config", trust_env=False).status_code == 200:
                return process, address
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError("it did not start")


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server below a prefix, behind a proxy that it was told of, where all proxies are broken."""
    broken = "http://127.0.0.1:9"
    process, address = begun(
        tmp_path_factory.mktemp("proxied"),
        FORWARDED_ALLOW_IPS="127.0.0.1", GRADIO_ROOT_PATH="sub/",
        http_proxy=broken, HTTPS_PROXY=broken, ALL_PROXY="socks5://127.0.0.1:9", NO_PROXY="",
    )  # fmt: skip
    yield address
    process.terminate()
    process.wait(30)


FORWARDED = [
    {"x-forwarded-host": "demo.example.org", "x-forwarded-proto": "http"},
    {"x-forwarded-host": "demo.example.org:8443", "x-forwarded-proto": "https"},
    {"x-forwarded-host": "demo.example.org, inner", "x-forwarded-for": "203.0.113.5"},
    {"x-forwarded-for": "203.0.113.5"},
    {"x-forwarded-proto": "https"},
]


@pytest.mark.parametrize("headers", FORWARDED)
@pytest.mark.parametrize("sec", [{}, {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}])
def test_what_a_named_proxy_passes_on_is_served(proxied, headers, sec):
    """A browser without HTTPS does not say that it is the same site."""
    sent = headers | sec | {"origin": PUBLIC}
    answer = httpx.post(f"{proxied}/gradio_api/call/adapt", json={"data": []}, headers=sent)
    assert answer.status_code != 403, answer.text


def test_what_comes_by_itself_is_still_looked_at(proxied):
    answer = httpx.post(
        f"{proxied}/gradio_api/call/adapt", json={"data": []}, headers={"origin": PUBLIC}
    )
    assert answer.status_code == 403
    assert "FORWARDED_ALLOW_IPS" in answer.json()["detail"]


@pytest.mark.parametrize("passed", ["", "/sub"])
@pytest.mark.parametrize("page", ["photo", "board", "findings", "learn"])
def test_pages_stay_below_their_prefix(proxied, passed, page):
    """Whether a proxy takes the prefix away or passes it on."""
    headers = {"x-forwarded-host": "demo.example.org", "x-forwarded-proto": "https"} | HTML
    plain = httpx.get(f"{proxied}{passed}/{page}", headers=headers)
    assert plain.status_code == 200
    slash = httpx.get(f"{proxied}{passed}/{page}/?tau=0.5", headers=headers)
    assert slash.status_code == 307
    assert slash.headers["location"] == f"/sub/{page}?tau=0.5"
    missing = httpx.get(f"{proxied}{passed}/nothing", headers=headers)
    assert missing.status_code == 404
    assert 'href="/sub/"' in missing.text


def test_the_prefix_without_a_slash(proxied):
    headers = {"x-forwarded-host": "demo.example.org"} | HTML
    answer = httpx.get(f"{proxied}/sub?a=b", headers=headers)
    assert (answer.status_code, answer.headers["location"]) == (307, "/sub/?a=b")
    assert httpx.get(f"{proxied}/sub/", headers=headers).status_code == 200
    config = httpx.get(f"{proxied}/sub/config", headers=headers).json()
    assert config["root"] == "http://demo.example.org/sub"


def test_a_run_through_the_proxy(proxied, photo):
    """Upload, call and answer, as a page's script sends them."""
    headers = {"x-forwarded-host": "demo.example.org", "origin": PUBLIC}
    start = f"{proxied}/sub/gradio_api"
    with photo.open("rb") as file:
        sent = httpx.post(f"{start}/upload", files={"files": file}, headers=headers)
    data = [{"path": sent.json()[0], "meta": {"_type": "gradio.FileData"}}, "none", 1, 0.9, 0, 1]
    joined = httpx.post(f"{start}/call/adapt", json={"data": data}, headers=headers)
    answer = httpx.get(f"{start}/call/adapt/{joined.json()['event_id']}", timeout=120)
    assert '"t_star"' in answer.text


def test_a_refusal_is_a_page_where_a_page_was_asked_for(served):
    """Behind a proxy that nobody named: without HTTPS nothing the page sends would be taken."""
    for headers in ({"x-forwarded-host": "demo.example.org"}, {"host": "demo.example.org"}):
        answer = httpx.get(served.url, headers=headers | HTML)
        assert answer.status_code == 403
        assert answer.headers["content-type"].startswith("text/html")
        assert "FORWARDED_ALLOW_IPS" in answer.text
    for headers in ({}, {"x-forwarded-host": "localhost:7860"}):
        assert httpx.get(served.url, headers=headers | HTML).status_code == 200


@pytest.mark.parametrize("name", ["GRADIO_NUM_PORTS", "GRADIO_SERVER_PORT"])
@pytest.mark.parametrize("value", ["0", "many", "-1", "", "1.5"])
def test_numbers_that_are_none(tmp_path, name, value):
    done = subprocess.run(
        [sys.executable, ROOT / "app.py"],
        env=os.environ | {name: value},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr == f"dga: {name} is a number above 0, not {value!r}.\n"


OWN = """
import sys
sys.path.append({root!r})  # as where packages are installed: after one's own folder
import dga, app
assert not hasattr(app, "__path__")
print(dga.load_models("everyday16").profile.name)
"""
DECODED = """
import sys
sys.path.insert(0, {root!r})  # as a command of the package has it
from app.server.decoder import read_square
print(read_square({path!r}, 32).shape)
"""


def test_somebodys_own_app(tmp_path, cat):
    """Beside an installed dga: both work, and so does the page's decoder."""
    (tmp_path / "app.py").write_text("MINE = True\n")
    path = tmp_path / "cat.png"
    Image.fromarray(cat).save(path)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    for code, said in ((OWN, "everyday16"), (DECODED, "(32, 32, 3)")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(root=str(ROOT), path=str(path))],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.stdout.strip() == said, done.stderr
