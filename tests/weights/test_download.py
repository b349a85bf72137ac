"""Downloads from a host that breaks off, alters, ignores or refuses."""

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from dga.io.files import lock_folder
from dga.profiles import PublicFile
from dga.weights.checkpoints import WeightsError
from dga.weights.fetch import download
from tests.fixtures.host import Host

CONTENT = random.Random(0).randbytes(300_000)
OTHER = random.Random(1).randbytes(300_000)
NAME = "weights.pt"


def sleep_in_this_thread(nap: Callable[[], None]) -> Callable[[float], None]:
    """``nap`` in place of sleep for the test alone: servers of other tests go on sleeping."""
    sleep, here = time.sleep, threading.get_ident()
    return lambda seconds: nap() if threading.get_ident() == here else sleep(seconds)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", sleep_in_this_thread(lambda: None))
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 10_000)


@pytest.fixture
def file(host: Host) -> PublicFile:
    host.files[f"/{NAME}"] = CONTENT
    return host.public(f"/{NAME}")


def left_in(folder: Path) -> set[str]:
    """Files that are more than a lock or an empty beginning."""
    return {path.name for path in folder.iterdir() if path.stat().st_size}


def test_whole_file_and_no_second_request(host, file, tmp_path):
    path = download(file, tmp_path / "new")
    assert path.read_bytes() == CONTENT
    assert left_in(path.parent) == {NAME}
    assert download(file, tmp_path / "new") == path
    assert len(host.asked) == 1


def test_broken_connections_resume_in_this_call_and_in_the_next(host, file, tmp_path, monkeypatch):
    host.cuts = [100_000, 50_000]
    with monkeypatch.context() as patch:
        nap = mock.Mock(side_effect=[None, KeyboardInterrupt])
        patch.setattr("time.sleep", sleep_in_this_thread(nap))
        with pytest.raises(KeyboardInterrupt):
            download(file, tmp_path)
    assert left_in(tmp_path) == {f"{NAME}.part"}
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert [asked for _, asked in host.asked] == [None, "bytes=100000-", "bytes=150000-"]
    assert left_in(tmp_path) == {NAME}


def test_one_process_at_a_time(file, tmp_path):
    """Also while the first one has it all, and compares its sum."""
    part = tmp_path / f"{NAME}.part"
    part.write_bytes(CONTENT)
    with lock_folder(tmp_path):
        with pytest.raises(ValueError, match="Another process writes"):
            download(file, tmp_path)
        assert left_in(tmp_path) == {part.name}
    assert download(file, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("status", [404, 503])
def test_refusals(host, file, tmp_path, status):
    host.status = status
    with pytest.raises(WeightsError, match=rf"{NAME} could not be fetched: .*{status}") as caught:
        download(file, tmp_path)
    assert "\n" not in str(caught.value)
    assert left_in(tmp_path) == set()


@pytest.mark.parametrize("there", ["", NAME, f"{NAME}.part"])
@pytest.mark.parametrize("sent", [OTHER, CONTENT + b"more"], ids=["altered", "of another size"])
def test_another_file_leaves_nothing(host, file, tmp_path, sent, there):
    """Nor does what lay there before stay in the way of the right one."""
    if there:
        (tmp_path / there).write_bytes(OTHER)
    host.files[f"/{NAME}"] = sent
    with pytest.raises(WeightsError, match=f"not the file that was expected .*{file.sha256}"):
        download(file, tmp_path)
    assert left_in(tmp_path) <= {NAME}
    host.files[f"/{NAME}"] = CONTENT
    assert download(file, tmp_path).read_bytes() == CONTENT
