"""A running page with the shipped models, for the tests that need one."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import gradio as gr

    from app.runs.session import Session

# Elsewhere than in the repository, e.g. to try the page with other weights.
WEIGHTS = os.environ.get("DGA_TEST_WEIGHTS")


@dataclass(frozen=True)
class Served:
    url: str
    session: Session
    demo: gr.Blocks


@pytest.fixture(scope="session")
def session() -> Session:
    from app.runs.session import Session  # here: most tests need no page
    from dga.networks.compute import Compute
    from dga.networks.models import load_models

    root = Path(WEIGHTS) if WEIGHTS else None
    return Session(load_models("everyday16", root, Compute.choose("cpu")))


@pytest.fixture(scope="session")
def served(session: Session) -> Iterator[Served]:
    from app.demo import serve

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    demo = serve(session, "127.0.0.1", port, block=False)
    yield Served(f"http://127.0.0.1:{port}/", session, demo)
    demo.close(verbose=False)
