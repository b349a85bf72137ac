"""Visitors who vanish, and servers that are stopped."""

from __future__ import annotations

import contextlib
import signal
import time
from pathlib import Path

import httpx

from tests.load.cases import CASES, Case, connect, digest
from tests.load.server import Server

SHORT = CASES[2]
LONG = Case("chelsea", "gaussian_noise", 5, 0.0, 0, 100)
"""About as much work as one may ask for."""


def vanish(server: Server, folder: Path, times: int) -> list[float]:
    """Seconds until a short run was answered after somebody left in the middle of a long one."""
    client, taken = connect(server.url), []
    for _ in range(times):
        _leave_in_the_middle(_begin_long(server.url, folder))
        begun = time.monotonic()
        client.predict(**SHORT.arguments(folder), api_name="/adapt")
        taken.append(time.monotonic() - begun)
    return taken


def _begin_long(url: str, folder: Path) -> str:
    """Ask for a long run over HTTP; the address of its events."""
    with (folder / f"{LONG.picture}.png").open("rb") as stream:
        [name] = httpx.post(f"{url}gradio_api/upload", files={"files": stream}).json()
    picture = {"path": name, "meta": {"_type": "gradio.FileData"}}
    asked = [LONG.corruption, LONG.severity, LONG.tau, LONG.seed, LONG.dda_depth]
    address = f"{url}gradio_api/call/adapt"
    answer = httpx.post(address, json={"data": [picture, *asked]}, timeout=60)
    return f"{address}/{answer.json()['event_id']}"


def _leave_in_the_middle(event: str) -> None:
    """Listen to a run for a while, then close the connection."""
    with (
        contextlib.suppress(httpx.ReadTimeout),
        httpx.stream("GET", event, timeout=httpx.Timeout(60, read=3)) as answer,
    ):
        begun = time.monotonic()
        for _ in answer.iter_lines():
            if time.monotonic() - begun > 3:
                return


def stop_and_start(folder: Path, alone: dict[Case, str]) -> dict[str, object]:
    """SIGTERM and SIGKILL in the middle of a run; each time the same place starts again."""
    found: dict[str, object] = {}
    place = folder / "stopped"
    place.mkdir()
    port = None
    for kind in (signal.SIGTERM, signal.SIGKILL):
        with Server(port, place) as server:
            port = server.port
            _begin_long(server.url, folder)
            time.sleep(3)
            begun = time.monotonic()
            status = server.stop(kind)
            seconds, faults = time.monotonic() - begun, server.faults()
        with Server(port, place) as server:
            answer = connect(server.url).predict(**SHORT.arguments(folder), api_name="/adapt")
        found[kind.name] = {
            "status": status, "seconds": seconds, "faults": faults,
            "same after the next start": digest(answer) == alone[SHORT],
        }  # fmt: skip
    return found
