"""``python -m tests.load visitors`` or ``memory``; exits with 1 if a promise broke."""

import argparse
import contextlib
import io
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import skimage.data
from PIL import Image

from app.runs.samples import SAMPLES
from dga.corruptions import CORRUPTIONS
from tests.load.server import Server

DAMAGES = ("gaussian_noise", "defocus_blur", "jpeg_compression", "contrast", "none")
CASES = [{"damage": damage, "strength": 3, "seed": 1} for damage in DAMAGES]
RESULTS = ("damaged", "repaired", "fixed", "paper", "guided")
"""Parts of a run's record whose pictures and readings are the same whenever it runs."""
MOST_VISITORS = 9_999
FLOOD_SECONDS = 2.5
MOST_SECONDS = 60.0
"""For our repair, whatever others do."""
MOST_MEMORY = 1.5
"""Of a server that many have used, in that of an idle one after its first run."""


class Visitor:
    """Whoever has number ``n`` has an address of her own and a photo."""

    def __init__(self, url: str, n: int) -> None:
        headers = {"x-forwarded-for": f"10.0.{n // 250}.{n % 250 + 1}"}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=180)
        self.page, self.n = f"page-{n:08}", n
        self.longest_wait = 0.0

    def send_photo(self, size: tuple[int, int]) -> str:
        stream = io.BytesIO()
        Image.fromarray(skimage.data.chelsea()).resize(size).save(stream, "PNG")
        answer = self.http.post("photo", content=stream.getvalue(), headers={"x-name": "cat.png"})
        return answer.raise_for_status().json()["photo"]

    def parts(self, settings: dict[str, Any]) -> Iterator[Any]:
        """Of a run's record, as they come. Raises ``RuntimeError`` with the server's sentence."""
        call = {"settings": settings, "page": self.page}
        with self.http.stream("POST", "watch", json=call) as events:
            if events.is_error:
                raise RuntimeError(json.loads(events.read())["detail"])
            event = ""
            for line in events.iter_lines():
                if line.startswith("event: "):
                    event = line[7:]
                elif line.startswith("data: ") and event == "error":
                    raise RuntimeError(json.loads(line[6:])["error"])
                elif line.startswith("data: ") and event == "part":
                    yield json.loads(line[6:])

    def watch(self, settings: dict[str, Any]) -> list[Any]:
        """Pictures and readings of a run."""
        record, begin = dict[str, Any](), time.monotonic()
        for part in self.parts(settings):
            record |= part
            if "repaired" in part:
                self.longest_wait = max(self.longest_wait, time.monotonic() - begin)
        made = (record.get(name) for name in RESULTS)
        return [part and (part["image"], part["reading"]) for part in made]

    def stay(self, expected: list[Any], end: float) -> Counter[str]:
        """Until ``end``, run after run, some left early; returns how often what came of them."""
        outcomes, dice = Counter[str](), random.Random(self.n)
        while time.monotonic() < end:
            number, is_patient = dice.randrange(len(CASES)), dice.random() < 0.7
            try:
                if is_patient:
                    is_right = self.watch(CASES[number]) == expected[number]
                    outcomes["right" if is_right else "wrong"] += 1
                else:
                    next(self.parts(CASES[number]))
                    outcomes["left"] += 1
            except (RuntimeError, httpx.HTTPError) as error:
                is_turned_away = "try again" in str(error)
                outcomes["turned away" if is_turned_away else f"strange: {error}"] += 1
            time.sleep(dice.uniform(0, 2))
        return outcomes


def flood(url: str, end: float) -> None:
    """From one address, with a new page every few seconds, as who wants all turns for herself."""

    def run(number: int) -> None:
        flooding = Visitor(url, MOST_VISITORS + 1)
        flooding.page = f"flood-{number}"
        with contextlib.suppress(RuntimeError, httpx.HTTPError):
            flooding.watch({"seed": number})

    with ThreadPoolExecutor(64) as threads:
        number = 0
        while time.monotonic() < end:
            threads.submit(run, number)
            number += 1
            time.sleep(FLOOD_SECONDS)
        threads.shutdown(cancel_futures=True)


def crowd(visitors: int, minutes: float) -> bool:
    """Whether every visitor was answered soon, right or with a sentence, beside one who floods."""
    with Server() as server:
        alone = Visitor(server.url, MOST_VISITORS)
        expected = [alone.watch(case) for case in CASES]
        os.nice(10)  # visitors would not sit on the server's cores
        end = time.monotonic() + 60 * minutes
        everybody = [Visitor(server.url, n) for n in range(visitors)]
        with ThreadPoolExecutor(visitors + 1) as threads:
            threads.submit(flood, server.url, end)
            each = threads.map(lambda visitor: visitor.stay(expected, end), everybody)
            outcomes = sum(each, Counter[str]())
        is_same = [alone.watch(case) for case in CASES] == expected
        faults = server.faults()
    print(f"{visitors} visitors for {minutes:g} minutes: {dict(outcomes)}")
    longest_wait = max(visitor.longest_wait for visitor in everybody)
    print(f"longest wait for our repair: {longest_wait:.0f} s")
    print(f"results afterwards the same: {is_same}; stack traces in the log: {len(faults)}")
    is_known = outcomes.keys() <= {"right", "left", "turned away"}
    is_served = outcomes["right"] > 0 and longest_wait <= MOST_SECONDS
    return is_same and is_known and not faults and is_served


def memory(photos: int, runs: int) -> bool:
    """Whether memory stays bounded when strangers leave large photos and runs behind."""
    dice = random.Random(0)
    with Server() as server:
        Visitor(server.url, 0).watch({})
        idle = server.resident()
        sent = [Visitor(server.url, n).send_photo((1200, 833)) for n in range(photos)]
        for n in range(runs):
            visitor, photo = Visitor(server.url, n % photos), dice.choice((*SAMPLES, *sent))
            settings = {"photo": photo, "damage": dice.choice(CORRUPTIONS), "tau": dice.random()}
            with contextlib.suppress(RuntimeError):  # the oldest photos go for the newest results
                if n % 4:
                    visitor.watch(settings)
                else:  # is left after its first part
                    next(visitor.parts(settings))
            if n % 100 == 99:
                print(f"after {n + 1} runs: {server.resident() / 2**20:.0f} MiB", flush=True)
        used = server.resident()
    print(f"{idle / 2**20:.0f} MiB after the first run, {used / 2**20:.0f} after all")
    return used < MOST_MEMORY * idle


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("drill", choices=("visitors", "memory"))
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--photos", type=int, default=64)
    parser.add_argument("--runs", type=int, default=8)
    options = parser.parse_args()
    if options.drill == "memory":
        is_good = memory(options.photos, options.runs)
    else:
        is_good = crowd(options.visitors, options.minutes)
    raise SystemExit(not is_good)
