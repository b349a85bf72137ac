"""One run of a visitor: checked settings, its state, cancelling, the time budget, the endpoint."""

import threading
from pathlib import Path

import httpx
import numpy as np
import pytest
import skimage.data
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from PIL import Image

from app.runs.session import CancelledError, RunError, Session
from app.runs.settings import check_settings
from app.runs.watch import Step
from app.server.upload_folder import present
from app.words.errors import GATE_WORDS
from dga.corruptions import CORRUPTIONS
from dga.photograph import repair_photograph
from dga.pipeline import adapt
from dga.profiles import EVERYDAY16
from dga.record import sentence
from dga.request import Request

GOOD = {"corruption": "fog", "severity": 3, "tau": 0.5, "seed": 0, "dda_depth": 23}


@pytest.fixture(scope="module")
def cat_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "cat.png"
    Image.fromarray(skimage.data.chelsea()).save(path)
    return path


def test_good_settings():
    assert check_settings(EVERYDAY16, **GOOD) == Request("fog", 3, 0.5, 0, 23)
    assert check_settings(EVERYDAY16, "none", 3.0, 1, 7.0, 100) == Request(None, 3, 1.0, 7, 100)
    for corruption in CORRUPTIONS:
        assert check_settings(EVERYDAY16, **(GOOD | {"corruption": corruption}))


def test_cancel_stops_within_a_step(session, cat_file):
    flag = threading.Event()
    settings = Request(None, 1, 0.5, 0, 40)
    subject = session.subject(cat_file, settings)
    events = session.events(subject.input, settings, flag)
    first = next(e for e in events if isinstance(e, Step) and "dda" in e.systems)
    assert first.depth < 40
    flag.set()
    with pytest.raises(CancelledError):
        next(events)


def test_time_budget(session, cat_file):
    hurried = Session(session.models, budget_seconds=0.0)
    settings = Request(None, 1, 0.5, 0, 40)
    subject = hurried.subject(cat_file, settings)
    with pytest.raises(RunError, match="longer than 0 seconds"):
        list(hurried.events(subject.input, settings))


@pytest.fixture(scope="module")
def client(served):
    return Client(served.url, verbose=False)


def call(client, picture, **changes):
    return client.predict(handle_file(picture), **(GOOD | changes), api_name="/adapt")


def test_endpoint_is_described(client):
    described = client.view_api(return_format="dict")["named_endpoints"]
    assert list(described) == ["/adapt", "/repair"]
    parameters = described["/adapt"]["parameters"]
    names = [parameter["parameter_name"] for parameter in parameters]
    assert names == ["picture", "corruption", "severity", "tau", "seed", "dda_depth"]
    assert described["/adapt"]["description"].startswith("Repair one damaged picture")
    (only,) = described["/repair"]["parameters"]
    assert only["parameter_name"] == "picture"


def test_a_photograph_is_repaired_for_programs_as_by_the_library(client, served, tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (50, 90, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    record, path = client.predict(handle_file(tmp_path / "photo.png"), api_name="/repair")
    same = repair_photograph(served.session.models, pixels)
    assert np.array_equal(np.asarray(Image.open(path).convert("RGB")), same.image)
    assert record | {"seconds": 0} == same.facts() | {"seconds": 0}
    with pytest.raises(AppError, match="Choose a picture first"):
        client.predict(None, api_name="/repair")


@pytest.mark.parametrize("endpoint", ["/adapt", "/repair"])
def test_results_stay_whole_while_equal_ones_are_written(
    served, cat_file, tmp_path, monkeypatch, endpoint
):
    """Equal results share a file, which somebody may be reading; it counts as its address's."""
    Image.open(cat_file).resize((64, 48)).save(tmp_path / "small.png")
    settings = GOOD if endpoint == "/adapt" else {}
    client = Client(served.url, verbose=False, download_files=False)

    def results():
        picture = handle_file(tmp_path / "small.png")
        _, *files = client.predict(picture, **settings, api_name=endpoint)
        return [Path(file["path"]) for file in files]

    def opened(path, mode="r", *others, **options):
        stream = usual(path, mode, *others, **options)
        if "w" in mode:
            told.append([path.read_bytes() for path in first] == whole)
        return stream

    counted = []
    monkeypatch.setattr(served.demo, "count", lambda address, length: counted.append(length))
    first, usual, told = results(), Path.open, []
    whole = [path.read_bytes() for path in first]
    assert {len(content) for content in whole} <= set(counted)
    assert all(path.is_relative_to(present()) for path in first)
    monkeypatch.setattr(Path, "open", opened)
    assert results() == first
    assert all(told)


def test_endpoint_agrees_with_the_library(client, served, cat_file):
    tau = served.session.profile.stopping.tau
    asked = {"corruption": "gaussian_noise", "tau": tau, "seed": 5, "dda_depth": 3}
    record, *pictures = call(client, cat_file, **asked)
    same = Request("gaussian_noise", 3, tau, 5, 3)
    subject = served.session.subject(cat_file, same)
    run = adapt(served.session.models, subject.input, 5, same.usual(served.session.profile))
    assert record["t_star"] == run.t_star
    assert record["crossed"] == run.stop.crossed
    assert np.allclose(record["confidence"], run.confidence)
    assert {name: m["depth"] for name, m in record["methods"].items()} == {
        "dga": run.t_star,
        "dga-guided": run.t_star,
        "dda": 3,
        "dga-plus": run.explained.stop.t_star,
    }
    assert record["explained"]["sentence"] == sentence(run.explained)
    assert record["methods"]["dga-plus"]["seconds"] >= record["explained"]["seconds"]
    shown = [np.asarray(Image.open(path).convert("RGB")) for path in pictures]
    assert len(shown) == 6
    assert np.array_equal(shown[0], subject.input)
    assert np.array_equal(shown[1], run.search.x_t_star)
    assert np.array_equal(shown[3], run.reconstructions["dga-guided"].image)
    assert np.array_equal(shown[5], run.reconstructions["dga-plus"].image)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"corruption": "rain"}, "The corruption is one of: none, gaussian_noise"),
        ({"tau": "high"}, "tau is a number from 0 to 1."),
    ],
)
def test_endpoint_refuses(client, cat_file, changes, sentence):
    with pytest.raises(AppError) as caught:
        call(client, cat_file, **changes)
    assert sentence in str(caught.value)


def test_endpoint_refuses_what_is_no_picture(client, tmp_path):
    path = tmp_path / "words.png"
    path.write_text("no picture at all")
    with pytest.raises(AppError, match="This file is not a PNG, JPEG"):
        call(client, path)


@pytest.mark.parametrize("meta", [{}, {"meta": {"_type": "gradio.FileData"}}])
def test_endpoint_reads_only_uploads(served, cat_file, meta):
    """The Python client would upload the file; a plain request names it on the server."""
    address = f"{served.url}gradio_api/call/adapt"
    data = [{"path": str(cat_file)} | meta, *GOOD.values()]
    answer = httpx.post(address, json={"data": data}, timeout=30)
    assert (answer.status_code, answer.json()["detail"]) == (400, GATE_WORDS["foreign"])
