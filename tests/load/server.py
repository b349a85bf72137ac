"""A page of its own, in a process of its own, that a drill may load, stop and kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

import httpx
import psutil

from tests.fixtures.address import free_port

ROOT = Path(__file__).parents[2]
START_SECONDS = 180.0


class Server:
    """``python app.py`` on a free port; its words go to ``log``, its files to ``temporary``."""

    def __init__(self, port: int | None = None, folder: Path | None = None) -> None:
        self.port = port or free_port()
        self.folder = folder or Path(tempfile.mkdtemp(prefix="dga-load-"))
        self.log = self.folder / "server.log"
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self) -> Server:
        # Believed like a proxy, a drill can play visitors from many addresses.
        environment = os.environ | {"FORWARDED_ALLOW_IPS": "127.0.0.1"}
        environment |= {"TMPDIR": str(self.folder), "GRADIO_ANALYTICS_ENABLED": "False"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "app.py", "--host", "127.0.0.1", "--port", str(self.port)],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The page did not start; see {self.log}.")
            time.sleep(0.05)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)

    def answers(self) -> bool:
        """Whether the first page comes."""
        try:
            return httpx.get(self.url, timeout=10).status_code == 200
        except httpx.HTTPError:
            return False

    def resident(self) -> int:
        """Bytes of memory of the process and its children."""
        process = psutil.Process(self.process.pid)
        return sum(p.memory_info().rss for p in [process, *process.children(recursive=True)])

    def stop(self, kind: signal.Signals, patience: float = 60.0) -> int:
        """Send a signal and wait; the exit status."""
        self.process.send_signal(kind)
        return self.process.wait(patience)

    def words(self) -> str:
        """What the server wrote."""
        return self.log.read_text("utf-8", errors="replace")

    def faults(self) -> list[str]:
        """Lines of the log that begin a stack trace."""
        return [line for line in self.words().splitlines() if line.startswith("Traceback")]
