"""What programs get from ``/repair``, and the page from ``watch``."""

import asyncio
import gc
import json
from pathlib import Path

import httpx
import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from PIL import Image

import dga
from app.endpoints import Service
from app.runs.models import Networks
from app.runs.samples import SAMPLES
from app.runs.subject import Subject, read_pictures
from app.server.turns import Turns
from app.server.visitors import Account, Visitor
from tests.fixtures.app import serve_networks


@pytest.fixture(scope="module")
def served(shipped_models):
    """Of a profile of 64 px, which takes a tenth of the time."""
    yield from serve_networks(Networks(shipped_models))


@pytest.fixture(scope="module")
def client(served):
    return Client(served.url, verbose=False)


def test_the_page_of_other_networks_shows_nothing_that_the_shipped_ones_recorded(served):
    page = httpx.get(served.url).text
    data = json.loads(page.partition('id="data">')[2].partition("<")[0])
    assert data["record"] is None
    assert not any(data[name] for name in ("recorded", "rates"))
    assert "EfficientNet" not in page
    assert data["deepest"] == data["horizon"] == 60


@pytest.fixture
def panda(served, tmp_path) -> tuple[Path, np.ndarray]:
    """A noisy photograph as a file, and its pixels."""
    pixels = SAMPLES["panda"].pixels(served.networks.profile)
    noisy = dga.corrupt(pixels, "impulse_noise", severity=3, seed=0)
    path = tmp_path / "panda.png"
    Image.fromarray(noisy).save(path)
    return path, noisy


def test_repair_gives_what_the_library_gives(client, served, panda):
    path, pixels = panda
    record, repaired = client.predict(handle_file(path), api_name="/repair")
    expected = dga.repair_photograph(served.networks.models, pixels)
    assert (np.array(Image.open(repaired)) == expected.image).all()
    assert record["found"] == expected.facts()["found"]
    assert record["lost"] == []
    assert (record["width"], record["height"]) == (64, 64)


def test_results_are_on_the_account_of_whoever_asked(client, served, panda, monkeypatch):
    """They stay on the disk as long as what was sent."""
    files = Account(3 * 2**16, 3 * 2**16, 1e9, ("quota", "quota"))
    monkeypatch.setattr(served.server.visitors, "files", files)
    client.predict(handle_file(panda[0]), api_name="/repair")
    with pytest.raises(AppError, match="pictures as fit have come"):
        client.predict(handle_file(panda[0]), api_name="/repair")


def test_a_pages_later_choice_takes_the_place_of_an_earlier_one(shipped_models):
    """Even where the line is full: the earlier one is never computed."""

    async def choose_twice() -> tuple[list, list]:
        service, computed = Service(Networks(shipped_models)), []
        service.turns = Turns(most=1)

        async def choose(choice: str) -> list:
            def steps(models):
                computed.append(choice)
                yield choice

            return [part async for part in service.run(Visitor("a", "page"), steps)]

        async with asyncio.timeout(20), service.turns.join(Visitor("b")):
            earlier = asyncio.create_task(choose("earlier"))
            while not service.turns.line:
                await asyncio.sleep(0.01)
            later = asyncio.create_task(choose("later"))
            ends = [await earlier]
        return [*ends, await asyncio.wait_for(later, 20)], computed

    ends, computed = asyncio.run(choose_twice())
    assert [part for part in ends[1] if part == "later"] == computed == ["later"]
    assert "earlier" not in ends[0]


def watch_events(url: str, settings: object) -> list[tuple[str, object]]:
    """Events of a run, as the page gets them."""
    answer = httpx.post(f"{url}watch", json={"settings": settings, "page": "test"}, timeout=120)
    parts = (part.split("\n") for part in answer.text.strip().split("\n\n"))
    return [(name[7:], json.loads(data[6:])) for name, data in parts]


def test_an_upload_is_its_owners_by_an_unguessable_key(served, panda):
    path, pixels = panda
    answer = httpx.post(
        f"{served.url}photo", content=path.read_bytes(), headers={"x-name": "p.png"}
    )
    photo = answer.json()
    assert (photo["width"], photo["name"]) == (64, "p.png")
    assert len(photo["photo"]) >= 20
    events = watch_events(served.url, {"photo": photo["photo"], "damage": "none"})
    record = {key: value for _, content in events for key, value in content.items()}
    file = httpx.get(served.url + record["download"])
    assert file.headers["content-disposition"].endswith("p-repaired.png")
    models = served.networks.models
    (tmp := path.with_name("back.png")).write_bytes(file.content)
    expected = dga.repair_photograph(models, pixels, seed=0).image
    assert (np.array(Image.open(tmp)) == expected).all()
    assert httpx.get(f"{served.url}photo/{photo['photo']}/guess").status_code == 404


def test_a_cameras_frame_is_read_repaired_and_forgotten(served, panda):
    pixels = panda[1][::-1]  # nobody else's
    models = served.networks.models
    read = httpx.post(f"{served.url}frame", content=pixels.tobytes(), timeout=60)
    assert read.json() == read_pictures(models, pixels)[0]
    answer = httpx.post(f"{served.url}frame/repair", content=pixels.tobytes(), timeout=60)
    parts = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data")]
    repaired = dga.repair_photograph(models, pixels, seed=0).image
    (reading,) = (part["repaired"]["reading"] for part in parts if "repaired" in part)
    assert reading == read_pictures(models, repaired)[0] | {"is_right": None}
    gc.collect()
    kept = (one.original.pixels for one in gc.get_objects() if type(one) is Subject)
    assert not any((pixels == one).all() for one in kept if one.shape == pixels.shape)


@pytest.mark.parametrize("address", ["frame", "frame/repair"])
@pytest.mark.parametrize(("size", "status"), [(0, 400), (3 * 64 * 64 - 1, 400), (2**18 + 1, 413)])
def test_a_frame_of_another_size_is_refused(served, address, size, status):
    answer = httpx.post(served.url + address, content=bytes(size), timeout=60)
    assert answer.status_code == status
    assert answer.json()["detail"].endswith(".")
