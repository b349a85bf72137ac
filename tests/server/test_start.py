"""A start and an end: what is cheap is checked first, the page is shown, nothing is left."""

import os
import signal
import socket
import subprocess
import sys
import time
import tomllib

import httpx
import pytest

from app import demo, start
from dga.io.shipped import ROOT
from tests.fixtures.address import free_port
from tests.load.server import Server

HEAVY = (
    "cv2", "imagecorruptions", "matplotlib", "numba", "plotly", "scipy.fft", "scipy.ndimage",
    "scipy.optimize", "scipy.sparse", "skimage.io", "sklearn", "sympy", "timm", "torch._dynamo",
    "torchvision",
)  # fmt: skip
SERVED = f"""
import sys
import app.demo
from app.runs.models import Networks
sys.argv = ["app.py", "--host", "127.0.0.1"]
def waiting(networks):
    print([name for name in {HEAVY!r} if name in sys.modules], flush=True)
    raise app.demo.WeightsError("That is all.")
Networks.load = waiting
app.demo.main()
"""


def test_a_page_is_served_before_anything_heavy_is_imported():
    command = [sys.executable, "-c", SERVED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1] == "[]"
    # What fails while the page is shown ends it, as what fails before.
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "dga: That is all."
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("theirs", ["app.py", "app/__init__.py", "app/start.py"])
def test_the_command_starts_our_page_whoever_has_an_app(tmp_path, theirs):
    """As an installation's program does, with a visitor's own folder first on the path."""
    (tmp_path / theirs).parent.mkdir(exist_ok=True)
    (tmp_path / theirs).write_text("raise SystemExit('theirs')")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, function = scripts["dga-app"].split(":")
    path = os.pathsep.join(map(str, (tmp_path, ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", f"from {module} import {function}; {function}()"],
        env=os.environ | {"PYTHONPATH": path, "GRADIO_SERVER_PORT": "none"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stderr == "dga: GRADIO_SERVER_PORT is a number above 0, not 'none'.\n"


@pytest.mark.parametrize(
    ("variables", "options", "words"),
    [
        ({}, ["--port", "{taken}"], "127.0.0.1, port {taken}: Address already in use"),
        ({"GRADIO_SERVER_PORT": "{taken}"}, [], "127.0.0.1, port {taken}: Address already in use"),
        ({}, ["--port", "70000"], "port must be 0-65535"),
    ],
)
def test_what_cannot_be_served_is_said(variables, options, words, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as line:
        port = line.getsockname()[1]
        for name, value in variables.items():
            monkeypatch.setenv(name, value.format(taken=port))
        with pytest.raises(SystemExit, match=f"^dga: .*{words.format(taken=port)}"):
            demo.main([option.format(taken=port) for option in options])


def test_where_an_error_arose_is_shown_to_whoever_asks(monkeypatch):
    """As commands do."""
    monkeypatch.setenv("DGA_TRACEBACK", "1")
    with pytest.raises(OSError, match="port must be 0-65535"):
        demo.main(["--port", "70000"])


@pytest.mark.parametrize("name", ["GRADIO_SERVER_PORT", "GRADIO_NUM_PORTS"])
@pytest.mark.parametrize("value", ["0", "many"])
def test_numbers_that_are_none(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=f"^dga: {name} is a number above 0, not '{value}'.$"):
        start.main()


def test_a_page_behind_a_proxy_is_asked_directly(tmp_path, monkeypatch):
    """A proxy that nobody answers at stands between the program and everything else."""
    dead = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("http_proxy", f"http://{dead}")
    monkeypatch.setenv("all_proxy", f"socks://{dead}")
    monkeypatch.setenv("No_Proxy", "example.org")
    with Server(tmp_path) as server, httpx.Client(base_url=server.url, trust_env=False) as client:
        while "/gradio_api/mcp" not in server.log.read_text():  # the last that Gradio says
            assert server.process.poll() is None
            time.sleep(0.05)
        assert client.get("").is_success
        assert not server.faults()


@pytest.mark.slow
def test_it_ends_at_once_and_leaves_nothing(tmp_path):
    """With visitors there, as Ctrl+C does."""
    with Server(tmp_path) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        [folder] = tmp_path.glob("dga-files-*")
        for number in range(16_000):  # as many as are let in within an hour
            (folder / str(number)).mkdir()
            (folder / str(number) / "a.png").touch()
        content = (ROOT / "app" / "static" / "icon.svg").read_bytes()
        assert client.post("gradio_api/upload", files={"files": content}).status_code == 200
        address = "gradio_api/heartbeat/a-visitor"
        with client.stream("GET", address):
            begun = time.monotonic()
            assert server.stop(signal.SIGTERM) == 0
            assert time.monotonic() - begun < 2
        assert not server.faults()
    while folder.exists():
        assert time.monotonic() - begun < 60
        time.sleep(0.1)
    assert [path.name for path in tmp_path.iterdir()] == ["server.log"]
