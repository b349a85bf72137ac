"""A page that a host stops while it still loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dga.io.shipped import ROOT
from tests.fixtures.address import free_port, wait

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
