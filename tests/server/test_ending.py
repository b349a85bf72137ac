"""A page that a host stops while it still loads."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import httpx
import pytest

from dga.io.shipped import ROOT

STARTS_WITHIN = 120.0
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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = ["-u", "-c", DEAF] if deaf else ["app.py"]
    command = [sys.executable, *program, "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            wait(f"http://127.0.0.1:{port}/theme.css")
            if deaf:
                assert server.stdout
                assert any("warming up" in line for line in server.stdout)
            server.terminate()
            assert server.wait(ENDS_WITHIN) == 0
        finally:
            server.kill()


def wait(url: str) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until:
        try:
            if httpx.get(url, timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the page did not start")
