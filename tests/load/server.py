"""A page of its own, in a process of its own, that a drill may load and stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fixtures.address import free_port, wait

ROOT = Path(__file__).parents[2]


class Server:
    """``python app.py`` on a free port; its words go to ``log``, its files to ``folder``."""

    def __init__(self, folder: Path | None = None) -> None:
        self.port = free_port()
        self.folder = folder or Path(tempfile.mkdtemp(prefix="dga-load-"))
        self.log = self.folder / "server.log"
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self) -> Server:
        # Believed like a proxy, a drill can play visitors from many addresses.
        variables = {"FORWARDED_ALLOW_IPS": "127.0.0.1", "TMPDIR": str(self.folder)}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "app.py", "--host", "127.0.0.1", "--port", str(self.port)],
                stdout=log, stderr=log, cwd=ROOT, env=os.environ | variables,
            )  # fmt: skip
        wait(self.url, self.process)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)

    def resident(self) -> int:
        """Bytes of memory of the process and its children; needs requirements-dev.txt."""
        import psutil

        process = psutil.Process(self.process.pid)
        return sum(p.memory_info().rss for p in [process, *process.children(recursive=True)])

    def stop(self, kind: signal.Signals) -> int:
        """Send a signal and wait; the exit status."""
        self.process.send_signal(kind)
        return self.process.wait(60)

    def faults(self) -> list[str]:
        """Lines of the log that begin a stack trace."""
        lines = self.log.read_text("utf-8", errors="replace").splitlines()
        return [line for line in lines if line.startswith("Traceback")]
