"""What nobody waits for any more: it computes no further, and keeps nothing of anybody."""

import asyncio
import base64
import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from starlette.requests import Request
from starlette.responses import Response

from app import demo, endpoints
from app.endpoints import Service
from app.runs.models import Networks
from app.runs.photos import GONE, Photo, Photos
from app.runs.settings import Settings
from app.runs.subject import Subjects
from app.server.turns import ENOUGH, Turns
from tests.fixtures.app import serve_networks
from tests.fuzz.blocks import noise, saved

API = "gradio_api"
PICTURE = "data:image/png;base64," + base64.b64encode(saved("PNG")).decode()
ASSISTANT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
SETTINGS = {"damage": "none"}


class Work:
    """A repair that goes on until ``is_done``, and how far it is. ``parts``: what the page gets."""

    image = np.zeros((32, 40, 3), np.uint8)

    def __init__(self) -> None:
        self.steps, self.is_done, self.part = 0, False, dict[str, Any]()

    def facts(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def repair(self, *_: Any) -> Generator[Any, None, Any]:
        while not self.is_done:
            self.steps += 1
            time.sleep(0.02)
            yield self
        return self

    def watch(self, *_: Any) -> Iterator[dict[str, Any]]:
        for _ in self.repair():
            yield {"steps": self.steps, **self.part}

    def begins(self) -> None:
        while not self.steps:
            time.sleep(0.01)

    def stops(self, seconds: float) -> bool:
        """Whether it computes no further before the time is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = self.steps
            time.sleep(0.5)
            if self.steps == before:
                return True
        return False


LOOK_SECONDS = 2.0
MOST = 4  # runs of an address that wait here: as many as the server's take long to decode


def make_turns(*most: int, **options: Any) -> Turns:
    return Turns(*(most or (16, MOST)), **options)


@pytest.fixture(scope="module")
def url(shipped_models: Any) -> Iterator[str]:
    """Of a server that believes us, as a proxy, for whom we ask."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.1")
        patch.setattr(demo, "LOOK_SECONDS", LOOK_SECONDS, raising=False)
        patch.setattr(endpoints, "Turns", make_turns)
        for served in serve_networks(Networks(shipped_models)):
            yield served.url


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    made = Work()
    monkeypatch.setattr(endpoints, "photograph_steps", made.repair)
    monkeypatch.setattr(endpoints, "run_first_stages", made.watch)
    yield made
    made.is_done = True
    assert made.stops(5)


def ask(url: str, address: str, timeout: float = 180) -> str:
    """What an assistant at this address hears of her call."""
    call = {"name": "repair", "arguments": {"picture": PICTURE}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = ASSISTANT | {"x-forwarded-for": address}
    return httpx.post(f"{url}{API}/mcp/", json=body, headers=headers, timeout=timeout).text


def upload(url: str) -> dict[str, Any]:
    [path] = httpx.post(f"{url}{API}/upload", files={"files": ("a.png", saved("PNG"))}).json()
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


def test_assistants_are_visitors_of_their_own(url, work):
    with ThreadPoolExecutor(MOST + 4) as threads:
        many = [threads.submit(ask, url, "10.0.0.1") for _ in range(MOST + 2)]
        wait(many, timeout=120, return_when=FIRST_COMPLETED)  # what is turned away
        other = threads.submit(ask, url, "10.0.0.2")
        time.sleep(1)
        work.is_done = True
        heard = [answer.result() for answer in many]
        assert sum(ENOUGH.format(MOST) in answer for answer in heard) == 1
        assert '"isError": true' not in other.result()
        assert "steps" in other.result()


def test_an_assistants_run_ends_with_her_connection(url, work):
    with pytest.raises(httpx.ReadTimeout):
        ask(url, "10.0.0.3", timeout=2)
    assert work.steps
    assert work.stops(3)


@pytest.mark.parametrize("way", ["queue/join", "call/repair"])
def test_a_run_that_nobody_hears_ends(url, work, way, monkeypatch):
    monkeypatch.setattr(endpoints, "UNHEARD_SECONDS", 1.0, raising=False)
    body = {"data": [upload(url)], "fn_index": 0}
    session = {"session_hash": "a-deaf-visitor"} if way == "queue/join" else {}
    httpx.post(f"{url}{API}/{way}", json=body | session).raise_for_status()
    work.begins()
    assert work.stops(6)


def test_a_run_that_somebody_hears_goes_on(url, work, monkeypatch):
    """Until she leaves."""
    monkeypatch.setattr(endpoints, "UNHEARD_SECONDS", 1.0, raising=False)
    call = f"{url}{API}/call/repair"
    event = httpx.post(call, json={"data": [upload(url)]}).json()["event_id"]
    with httpx.stream("GET", f"{call}/{event}", timeout=60):
        work.begins()
        assert not work.stops(4)
    assert work.stops(6)


def test_the_pages_run_ends_with_its_connection(url, work):
    with httpx.stream("POST", f"{url}watch", json={"settings": SETTINGS}, timeout=60) as answer:
        lines = answer.iter_lines()  # which ends the connection with itself
        assert next(lines) == "event: part"
        assert not work.stops(2)
    assert work.stops(3)


def test_whoever_reads_nothing_holds_nobody_up(url, work):
    """Her turn is others' while her part waits for her."""
    work.part = {"image": "a" * 2**22}
    body = json.dumps({"settings": SETTINGS}).encode()
    head = (
        f"POST /watch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"X-Forwarded-For: 10.0.0.4\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", urlsplit(url).port)) as line:
        line.sendall(head.encode() + body)
        assert work.stops(10)
        work.is_done = True
        assert "steps" in ask(url, "10.0.0.5", timeout=20)


def fetch(url: str, session: str) -> str:
    """All messages that wait for a session, and those of half a second."""
    text = ""
    with (
        contextlib.suppress(httpx.ReadTimeout),
        httpx.stream(
            "GET", f"{url}{API}/queue/data", params={"session_hash": session}, timeout=2
        ) as answer,
    ):
        for line in answer.iter_lines():
            text += line
    return text


def test_unread_messages_go(url, work, monkeypatch):
    monkeypatch.setattr(endpoints, "UNREAD_SECONDS", 1.0, raising=False)
    work.is_done = True
    body = {"data": [upload(url)], "fn_index": 0, "session_hash": "a-late-reader"}
    httpx.post(f"{url}{API}/queue/join", json=body).raise_for_status()
    time.sleep(4)
    assert "process_completed" not in fetch(url, "a-late-reader")


def test_a_photo_takes_along_what_was_made_of_it(url, monkeypatch):
    """A run of it tells nothing more."""
    made = list[Photos]()
    monkeypatch.setattr(
        Photos, "get", lambda self, key, get=Photos.get: made.append(self) or get(self, key)
    )
    content = saved("PNG", noise(size=(64, 64)))
    key = httpx.post(f"{url}photo", content=content, timeout=60).json()["photo"]
    settings = {"photo": key, "damage": "none"}
    with httpx.stream("POST", f"{url}watch", json={"settings": settings}, timeout=60) as answer:
        lines = answer.iter_lines()
        while "data:image" not in next(lines, "data:image"):
            pass
        while not made:
            time.sleep(0.1)
        time.sleep(3)
        photos = made[0]
        photos._forget(key)
        rest = list(lines)
    assert answer.status_code == 404 or any(GONE in line for line in rest) or "event: end" in rest


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "])
def test_half_a_head_is_not_waited_for(url, sent):
    """Nor one that never begins; also behind a whole one on the same connection."""
    whole = b"HEAD /learn HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for first in (b"", whole):
        with socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=10) as line:
            line.sendall(first + sent)
            with contextlib.suppress(ConnectionResetError):
                while line.recv(2**16):
                    pass


def test_a_reader_who_takes_nothing_is_cut_off(url, work):
    work.part = {"image": "a" * 2**22}
    body = json.dumps({"settings": SETTINGS}).encode()
    head = f"POST /watch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=10) as line:
        line.sendall(head.encode() + body)
        time.sleep(4 * LOOK_SECONDS)
        came = 0
        with contextlib.suppress(ConnectionResetError):
            while part := line.recv(2**20):
                came += len(part)
        assert came < 2**24


def test_events_that_there_are_none_fill_no_log(url, caplog, capfd):
    for number in range(20):
        answer = httpx.get(f"{url}{API}/call/repair/nobodys-{number}", timeout=10)
        assert "Traceback" not in answer.text
    time.sleep(0.5)
    assert len(caplog.text) + len("".join(capfd.readouterr())) < 20 * 300


def request_of(address: str) -> Request:
    return Request({"type": "http", "client": (address, 1), "query_string": b""})


def test_addresses_take_turns_at_brushes(monkeypatch, shipped_models):
    made = list[int]()

    def get_layer(pixels: Any, kind: str, layers: Any) -> Any:
        made.append(int(pixels.sum()))
        return pixels

    async def crowd() -> None:
        service = Service(Networks(shipped_models))
        asked = [("a", "panda")] * 8 + [("b", "goldfish")]
        brushes = (service.show_brush(key, "fog", request_of(who)) for who, key in asked)
        await asyncio.gather(*brushes)

    monkeypatch.setattr(endpoints, "get_layer", get_layer)
    asyncio.run(crowd())
    [hers] = {*made} - {made[0]}
    assert made.index(hers) <= 2


def test_who_gives_way_after_the_last_step_is_answered(shipped_models):
    async def crowd() -> list[Response]:
        service = Service(Networks(shipped_models))
        service.reading_turns.slice_seconds = 0
        brushes = (service.show_brush("panda", "fog", request_of(who)) for who in "abc")
        return await asyncio.gather(*brushes)

    assert len({answer.body for answer in asyncio.run(crowd())}) == 1


def test_old_files_and_their_folders_go(tmp_path):
    for name in ("old/a.png", "young/b.png"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    for name in ("old/a.png", "old"):
        os.utime(tmp_path / name, (1, 1))
    demo.remove_old(tmp_path)  # which makes the folder young
    os.utime(tmp_path / "old", (1, 1))
    demo.remove_old(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["b.png", "young"]


def test_photos_are_forgotten_while_they_are_computed():
    """By one thread, while another goes on computing of them."""
    pixels, here, faults = np.zeros((8, 8, 3), np.uint8), set[str](), list[BaseException]()
    subjects, is_over = Subjects(here.__contains__), threading.Event()

    def compute() -> None:
        try:
            while not is_over.is_set():
                for key in list(here):
                    subjects.get(Photo(key, pixels), Settings(photo=key, damage="none"))
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=compute)
    thread.start()
    for number in range(20_000):
        here.add(f"photo-{number % 50}")
        if number % 50 == 49:
            for key in list(here):
                here.discard(key)
                subjects.forget(key)
    is_over.set()
    thread.join()
    assert not faults
    assert not subjects._subjects
