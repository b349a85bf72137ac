"""``python -m tests.load visitors`` or ``memory``; exits with 1 if a promise broke."""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import skimage.data
from PIL import Image

from tests.load.server import Server

PAGES = ("", "all-15", "results", "learn")
DAMAGES = ("gaussian_noise", "defocus_blur", "jpeg_compression", "contrast", "none")
MANNERS = {"watch": 5, "leave": 2, "complain": 1, "look": 2}
"""How often a visitor does what."""
HELD = 1.5
"""Memory of a server that many have used, in that of an idle one after its first run."""
RESULTS = ("damaged", "repaired", "fixed", "paper", "guided")
"""Parts of a run's record that are the same whenever it runs, but for their seconds."""


class Visitor:
    """Whoever has number ``n`` has an address of her own and a photo."""

    def __init__(self, url: str, n: int) -> None:
        headers = {"x-forwarded-for": f"10.0.{n // 250}.{n % 250 + 1}"}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=180)
        self.page, self.photo = f"page-{n:08}", ""

    def send_photo(self, size: tuple[int, int] = (320, 240)) -> None:
        stream = io.BytesIO()
        Image.fromarray(skimage.data.chelsea()).resize(size).save(stream, "PNG")
        answer = self.http.post("photo", content=stream.getvalue(), headers={"x-name": "cat.png"})
        self.photo = answer.raise_for_status().json()["photo"]

    def begin(self, settings: dict[str, Any]) -> str:
        """The address of a run's events."""
        body = {"data": [settings, self.page]}
        answer = self.http.post("gradio_api/call/watch", json=body)
        return f"gradio_api/call/watch/{answer.raise_for_status().json()['event_id']}"

    def parts(self, settings: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        with self.http.stream("GET", self.begin(settings)) as answer:
            event = ""
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    event = line[7:]
                elif line.startswith("data: ") and event != "heartbeat":
                    yield event, json.loads(line[6:])

    def watch(self, settings: dict[str, Any]) -> str:
        """What a run found, without what differs from time to time."""
        record: dict[str, Any] = {}
        for event, content in self.parts(settings):
            if event == "error":
                raise RuntimeError(content["error"] if isinstance(content, dict) else str(content))
            if event == "generating":
                record |= content[0]
        return json.dumps(_timeless({name: record.get(name) for name in RESULTS}))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(part) for name, part in value.items() if name != "seconds"}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


class Crowd:
    """Visitors at once, each with habits of her own; ``alone``: records of runs without others."""

    def __init__(self, url: str) -> None:
        self.url, self.outcomes, self.strange = url, Counter[str](), list[str]()
        self.waits, self._lock = list[float](), threading.Lock()
        self.cases = [{"damage": damage, "strength": 3, "seed": 1} for damage in DAMAGES]
        self.alone = self.run_alone()

    def run_alone(self) -> list[str]:
        visitor = Visitor(self.url, 9_999)
        return [visitor.watch(case) for case in self.cases]

    def visit(self, visitors: int, minutes: float) -> None:
        end = time.monotonic() + 60 * minutes
        with ThreadPoolExecutor(visitors) as threads:
            list(threads.map(lambda n: self._stay(n, end), range(visitors)))

    def _stay(self, n: int, end: float) -> None:
        visitor, dice = Visitor(self.url, n), random.Random(n)
        while time.monotonic() < end:
            manner = dice.choices(list(MANNERS), list(MANNERS.values()))[0]
            begun = time.monotonic()
            try:
                outcome = getattr(self, f"_{manner}")(visitor, dice)
            except (RuntimeError, httpx.HTTPError) as error:
                text = error.response.text if isinstance(error, httpx.HTTPStatusError) else error
                outcome = "turned away" if "try again" in str(text) else f"strange: {text}"
            with self._lock:
                self.waits.append(time.monotonic() - begun)
                self.outcomes[outcome.split(":")[0]] += 1
                self.strange += [outcome] if ":" in outcome else []
            time.sleep(dice.uniform(0, 2))

    def _watch(self, visitor: Visitor, dice: random.Random) -> str:
        number = dice.randrange(len(self.cases))
        return "right" if visitor.watch(self.cases[number]) == self.alone[number] else "wrong: run"

    def _leave(self, visitor: Visitor, dice: random.Random) -> str:
        next(visitor.parts(dice.choice(self.cases)))
        return "left"

    def _complain(self, visitor: Visitor, dice: random.Random) -> str:
        body: Any = dice.choice(({"damage": "rust"}, {"strength": 9}, {"photo": "nobody's"}, 5))
        event, content = list(visitor.parts(body))[-1]
        is_said = event == "error" and content["error"].endswith(".")
        return "corrected" if is_said else f"strange: {content}"

    def _look(self, visitor: Visitor, dice: random.Random) -> str:
        visitor.http.get(dice.choice(PAGES)).raise_for_status()
        visitor.send_photo()
        return "looked"


def crowd(visitors: int, minutes: float) -> bool:
    """Whether every visitor was answered, right or with a sentence."""
    with Server() as server:
        played = Crowd(server.url)
        os.nice(10)  # visitors would not sit on the server's cores
        played.visit(visitors, minutes)
        is_same, faults = played.run_alone() == played.alone, server.faults()
        print(f"{visitors} visitors for {minutes:g} minutes: {dict(played.outcomes)}")
        print(f"longest wait {max(played.waits):.0f} s; results afterwards the same: {is_same}")
        print(f"stack traces in the log: {len(faults)}", *played.strange[:20], sep="\n")
    return is_same and not faults and not played.strange and played.outcomes["right"] > 0


def memory(photos: int = 64) -> bool:
    """Whether memory stays bounded when strangers leave large photos and runs behind."""
    with Server() as server:
        Visitor(server.url, 0).watch({})
        idle = server.resident()
        for n in range(photos):
            visitor = Visitor(server.url, n)
            visitor.send_photo((1200, 833))
            if n % 8 == 0:
                visitor.watch({"photo": visitor.photo, "damage": DAMAGES[n // 8 % len(DAMAGES)]})
        used = server.resident()
        print(f"{idle / 2**20:.0f} MiB idle, {used / 2**20:.0f} after {photos} photos")
    return used < HELD * idle


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("drill", choices=("visitors", "memory"))
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=2.0)
    options = parser.parse_args()
    is_good = memory() if options.drill == "memory" else crowd(options.visitors, options.minutes)
    raise SystemExit(not is_good)
