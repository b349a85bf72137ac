"""Many visitors at once: every one is answered or politely refused, and no answer is wrong."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import httpx
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from gradio_client.utils import QueueError

from tests.load.cases import BAD, CASES, Case, connect, digest

PAGES = ("", "photo", "board", "findings", "learn")
MANNERS = {"adapt": 6, "cancel": 2, "complain": 1, "upload": 1, "look": 1}
"""How often a visitor does what."""
REFUSED = "try again"
"""Part of every sentence that turns a visitor away."""


class Crowd:
    """``visitors`` clients that come and go for ``minutes``, each with habits of its own."""

    def __init__(self, url: str, folder: Path, alone: dict[Case, str], seed: int = 0) -> None:
        self.url, self.folder, self.alone, self.seed = url, folder, alone, seed
        self.outcomes: Counter[str] = Counter()
        self.strange: list[str] = []
        self.waits: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def visit(self, visitors: int, minutes: float) -> None:
        """Let them in; returns when the last has left."""
        end = time.monotonic() + minutes * 60
        with ThreadPoolExecutor(visitors) as threads:
            for i in range(visitors):
                threads.submit(self._stay, i, random.Random(self.seed + i), end)

    def _stay(self, number: int, dice: random.Random, end: float) -> None:
        try:
            client = connect(self.url, number)
        except Exception as error:
            return self._note("unhandled", f"could not connect: {error!r}")
        while time.monotonic() < end:
            manner = dice.choices(list(MANNERS), list(MANNERS.values()))[0]
            begun = time.monotonic()
            try:
                getattr(self, f"_{manner}")(client, dice)
            except QueueError:  # the client's own words for the server's sentence
                self._note("refused")
            except AppError as error:
                self._refusal(error)
            except Exception as error:
                self._note("unhandled", f"{manner}: {error!r}")
            with self._lock:
                self.waits.append((time.monotonic() - begun, manner))
            time.sleep(dice.uniform(0, 2))

    def _adapt(self, client: Client, dice: random.Random) -> None:
        case = dice.choice(CASES)
        found = digest(client.predict(**case.arguments(self.folder), api_name="/adapt"))
        same = found == self.alone[case]
        self._note("right" if same else "wrong", None if same else f"another result: {case}")

    def _cancel(self, client: Client, dice: random.Random) -> None:
        job = client.submit(**dice.choice(CASES).arguments(self.folder), api_name="/adapt")
        time.sleep(dice.uniform(0, 4))
        job.cancel()
        try:
            job.result(timeout=120)
        except (CancelledError, KeyError):
            pass  # the client finds no data in the answer to a cancelled job
        except ValueError as error:  # its own fault where a run ends just as it is cancelled
            if "tasks to be done" not in str(error):
                raise
        self._note("cancelled")

    def _complain(self, client: Client, dice: random.Random) -> None:
        """Ask for what cannot be: one sentence, and never a result."""
        arguments = dice.choice(CASES).arguments(self.folder) | dice.choice(BAD)
        client.predict(**arguments, api_name="/adapt")
        self._note("wrong", f"an answer to {arguments}")

    def _upload(self, client: Client, dice: random.Random) -> None:
        """Send words that say they are a picture."""
        arguments = dice.choice(CASES).arguments(self.folder)
        arguments["picture"] = handle_file(str(self.folder / "words.png"))
        client.predict(**arguments, api_name="/adapt")
        self._note("wrong", "an answer to a file that is no picture")

    def _look(self, client: Client, dice: random.Random) -> None:
        page = dice.choice(PAGES)
        status = httpx.get(self.url + page, timeout=120).status_code
        self._note("looked" if status == 200 else "unhandled", f"{page or 'first page'}: {status}")

    def _refusal(self, error: AppError) -> None:
        sentence = str(error)
        if REFUSED in sentence:
            self._note("refused")
        elif "Traceback" in sentence or "/" in sentence or not sentence.endswith("."):
            self._note("unhandled", sentence)
        else:
            self._note("corrected", None)

    def _note(self, outcome: str, detail: str | None = None) -> None:
        with self._lock:
            self.outcomes[outcome] += 1
            if detail and outcome in ("wrong", "unhandled"):
                self.strange.append(detail)
