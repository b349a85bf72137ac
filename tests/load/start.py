"""How long a start takes: to the page, and from there to the first adapted picture."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.load.cases import CASES, connect
from tests.load.server import ROOT, Server

IMPORTS = "import torch, gradio"


def bare_import() -> float:
    """Seconds of a process that does nothing but import what no page could do without."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, check=True)
    return time.perf_counter() - begun


def start(pictures: Path) -> tuple[float, float, float]:
    """Seconds to the page, from there to the first adapted picture, and for the same again."""
    begun = time.perf_counter()
    with Server() as server:
        served = time.perf_counter()
        client = connect(server.url)
        client.predict(**CASES[0].arguments(pictures), api_name="/adapt")
        adapted = time.perf_counter()
        client.predict(**CASES[0].arguments(pictures), api_name="/adapt")
        return served - begun, adapted - served, time.perf_counter() - adapted
