"""Strangers who leave something in the page's memory: runs, sessions, uploads, boards, photos."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from tqdm import tqdm

from app.runs.damage import OPENING, STROKES

PICTURES = ("chelsea", "coffee", "astronaut")
DAMAGES = ("none", "gaussian_noise", "fog", "contrast", "motion_blur")
FULL_EVERY = 8
"""One run of so many goes through the queue; the others are made beside it."""
OWN = 4
"""Pictures on a board."""
MEGAPIXEL = 1200, 833


class Strangers:
    """Whoever has number ``n`` has an address and a session of her own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.folder = folder
        self.http = httpx.Client(base_url=url, timeout=120, limits=httpx.Limits())
        parts = self.http.get("config").json()["dependencies"]
        self.events = {part["api_name"]: part["id"] for part in parts}

    def run(self, count: int) -> None:
        """In the queue and beside it, of every picture, damaged in several ways."""
        for n in tqdm(range(count), unit="run"):
            picture = {"path": self._upload(n, PICTURES[n % len(PICTURES)])}
            picture |= {"meta": {"_type": "gradio.FileData"}}
            damage, severity = DAMAGES[n % len(DAMAGES)], n % 5 + 1
            asked = [picture, damage, severity, 0.5, n, 8, 1, 1, 16, "dga-plus"]
            if n % FULL_EVERY:
                self._press(n, "damaged", asked)
                self._queued(n, "follow", [])
            else:
                self._queued(n, "run", asked)

    def stay(self, count: int) -> None:
        """Sessions with an open page, all at once, in which nothing is done."""
        with ExitStack() as open_pages:
            for n in tqdm(range(10_000, 10_000 + count), unit="session"):
                address = f"gradio_api/heartbeat/{_session(n)}"
                open_pages.enter_context(self.http.stream("GET", address, headers=_from(n)))
                self._press(n, "look", [])

    def upload(self, count: int) -> None:
        """Photographs, all at once."""
        with ThreadPoolExecutor(count) as threads:
            numbers = range(20_000, 20_000 + count)
            list(threads.map(lambda n: self._upload(n, PICTURES[n % len(PICTURES)]), numbers))

    def board(self, count: int) -> None:
        """Boards of own pictures, each run to its end."""
        for n in tqdm(range(30_000, 30_000 + count), unit="board"):
            paths = [self._upload(n, PICTURES[i % len(PICTURES)], i) for i in range(OWN)]
            asked = {"token": f"{n:032x}", "image": "own"}
            files = [{"path": path, "name": f"{i}.png"} for i, path in enumerate(paths)]
            ask = {"ask": json.dumps(asked | {"files": files})}
            self._press(n, "drop", [], event_data=ask)
            self._queued(n, "run_2", [json.dumps(asked)])
            line, *_ = self._press(n, "show_1", [json.dumps(asked)])
            assert line["files"]  # to save: all that is there was computed

    def photo(self, count: int) -> None:
        """Photographs of a megapixel with noise in two places, repaired, and one depth of each."""
        strokes = [vars(stroke) | {"points": list(stroke.points)} for stroke in OPENING.strokes]
        damage = {"kind": STROKES, "strokes": strokes}
        with Image.open(self.folder / "coffee.png") as image:
            image.resize(MEGAPIXEL).save(self.folder / "whole.png")
        for n in tqdm(range(40_000, 40_000 + count), unit="photo"):
            asked = {"name": "", "path": self._upload(n, "whole"), "damage": damage}
            value, *_ = self._press(n, "show", [], event_data={"ask": json.dumps(asked)})
            self._queued(n, "run_1", [json.dumps(asked | {"key": value["key"]})])
            one = {"ask": json.dumps({"key": value["key"], "depth": 8})}
            [told] = self._queued(n, "more_1", [], event_data=one)
            assert told["single"][0] == 8

    def _upload(self, n: int, name: str, more: int = 0) -> str:
        content = (self.folder / f"{name}.png").read_bytes() + bytes([n % 256, more])
        files = {"files": (f"{name}.png", content)}
        answer = self.http.post("gradio_api/upload", files=files, headers=_from(n))
        return str(answer.raise_for_status().json()[0])

    def _press(self, n: int, event: str, data: list[Any], **others: Any) -> list[Any]:
        body = self._body(n, event, data) | others
        answer = self.http.post("gradio_api/run/predict", json=body, headers=_from(n))
        return list(answer.raise_for_status().json()["data"])

    def _queued(self, n: int, event: str, data: list[Any], **others: Any) -> list[Any]:
        """What the last message says: for all but the first of several, what changed."""
        body = self._body(n, event, data) | others
        self.http.post("gradio_api/queue/join", json=body, headers=_from(n)).raise_for_status()
        address = f"gradio_api/queue/data?session_hash={_session(n)}"
        with self.http.stream("GET", address, headers=_from(n)) as lines:
            ends = (json.loads(line[5:]) for line in lines.iter_lines() if line.startswith("data"))
            end = next(end for end in ends if end["msg"] == "process_completed")
            assert end["success"]
            return list(end["output"]["data"])

    def _body(self, n: int, event: str, data: list[Any]) -> dict[str, Any]:
        return {"fn_index": self.events[event], "data": data, "session_hash": _session(n)}


def _session(n: int) -> str:
    return f"stranger-{n:08}"


def _from(n: int) -> dict[str, str]:
    return {"x-forwarded-for": f"10.{n // 62_500 + 1}.{n // 250 % 250}.{n % 250 + 1}"}
