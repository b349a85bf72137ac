"""A page that a host stops while it still loads."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from app.server.upload_folder import PREFIX
from dga.io.shipped import ROOT
from tests.fixtures.address import free_port, wait
from tests.load.server import Server

ENDS_WITHIN = 20.0

# What compiles in the main thread can lose an interrupt: LLVM calls back into Python.
DEAF = """
import time
from app.demo import main
from app.runs.session import Session

def deaf(session):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            print("warming up", flush=True)
            time.sleep(60)
        except BaseException:
            pass

Session.warm_up = deaf
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("deaf", [False, True], ids=["at once", "deaf"])
def test_a_page_that_is_stopped_while_it_loads_ends_in_order(deaf: bool) -> None:
    port = free_port()
    program = ["-u", "-c", DEAF] if deaf else ["app.py"]
    command = [sys.executable, *program, "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            wait(f"http://127.0.0.1:{port}/theme.css", server)
            if deaf:
                assert server.stdout
                assert any("warming up" in line for line in server.stdout)
            server.terminate()
            assert server.wait(ENDS_WITHIN) == 0
        finally:
            server.kill()


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True], ids=["own place", "operator's folder"])
def test_it_ends_at_once_and_leaves_nothing(tmp_path: Path, named: bool) -> None:
    """With a full folder and visitors there; a killed one's is swept, examples and all."""
    place = tmp_path / "operators"
    place.mkdir()
    (place / "of-somebody-else.txt").touch()
    parent = place if named else tmp_path
    env = {"GRADIO_TEMP_DIR": str(place)} if named else {"GRADIO_TEMP_DIR": ""}
    with Server(None, tmp_path, env=env) as server:
        assert list(parent.glob(f"{PREFIX}*/dga-examples-*"))
        server.stop(signal.SIGKILL)
    with Server(server.port, tmp_path, env=env) as server:
        [folder] = parent.glob(f"{PREFIX}*")
        for _ in range(4_096):
            (folder / secrets.token_hex(16)).mkdir()

        def stay(name: str) -> None:
            with suppress(httpx.HTTPError), httpx.stream("GET", f"{server.url}{name}") as answer:
                answer.read()

        for number in range(20):
            name = f"gradio_api/heartbeat/visitor-{number:04}"
            threading.Thread(target=stay, args=(name,), daemon=True).start()
        time.sleep(1)
        begun = time.monotonic()
        assert server.stop(signal.SIGTERM) == 0
        assert time.monotonic() - begun < 1
    until = time.monotonic() + 60
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert {path.name for path in tmp_path.rglob("*")} == {
        "operators", "of-somebody-else.txt", "server.log",
    }  # fmt: skip
