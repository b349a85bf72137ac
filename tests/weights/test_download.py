"""Downloads from a host that breaks off, alters, ignores or refuses."""

import random
import shutil
import socket
from collections import namedtuple
from pathlib import Path

import pytest
from filelock import FileLock

from dga.profiles import PublicFile
from dga.weights.download import DownloadError, download, gigabytes
from tests.fixtures.host import Host

CONTENT = random.Random(0).randbytes(300_000)
OTHER = random.Random(1).randbytes(300_000)
NAME = "weights.pt"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 10_000)


@pytest.fixture
def file(host: Host) -> PublicFile:
    host.files[f"/{NAME}"] = CONTENT
    return host.public(f"/{NAME}")


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith(".lock")}


def test_whole_file_and_no_second_request(host, file, tmp_path):
    path = download(file, tmp_path / "new")
    assert path.read_bytes() == CONTENT
    assert left_in(path.parent) == {NAME}
    assert download(file, tmp_path / "new") == path
    assert len(host.asked) == 1


def test_broken_connection_resumes(host, file, tmp_path):
    host.cuts = [100_000, 50_000]
    path = download(file, tmp_path)
    assert path.read_bytes() == CONTENT
    assert [asked for _, asked in host.asked] == [None, "bytes=100000-", "bytes=150000-"]


def test_stopped_download_goes_on_in_the_next_call(host, file, tmp_path, monkeypatch):
    host.cuts = [120_000]

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", stop)
    with pytest.raises(KeyboardInterrupt):
        download(file, tmp_path)
    assert left_in(tmp_path) == {f"{NAME}.part"}
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert host.asked[-1][1] == "bytes=120000-"
    assert left_in(tmp_path) == {NAME}


@pytest.mark.parametrize("misbehaviour", ["ranges", "wrong_range"])
def test_host_that_ignores_ranges(host, file, tmp_path, misbehaviour):
    setattr(host, misbehaviour, misbehaviour == "wrong_range")
    host.cuts = [100_000]
    assert download(file, tmp_path).read_bytes() == CONTENT


def test_file_that_changed_meanwhile(host, file, tmp_path, monkeypatch):
    """The SHA-256 of the pieces says so, and it starts over."""
    host.files[f"/{NAME}"] = OTHER
    host.cuts = [100_000]

    def change(_: float) -> None:
        host.files[f"/{NAME}"] = CONTENT

    monkeypatch.setattr("time.sleep", change)
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert left_in(tmp_path) == {NAME}


@pytest.mark.parametrize(
    ("name", "there", "asked"),
    [(f"{NAME}.part", CONTENT, 0), (f"{NAME}.part", OTHER + b"more", 1), (NAME, OTHER, 1)],
    ids=["a whole part", "a part too long", "an altered file"],
)
def test_what_lies_there_is_checked(host, file, tmp_path, name, there, asked):
    (tmp_path / name).write_bytes(there)
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert len(host.asked) == asked


@pytest.mark.parametrize("status", [404, 403, 503])
def test_refusals(host, file, tmp_path, status):
    host.status = status
    with pytest.raises(DownloadError, match=rf"{NAME} could not be fetched: .*{status}") as caught:
        download(file, tmp_path)
    assert "\n" not in str(caught.value)
    assert left_in(tmp_path) == set()


@pytest.mark.parametrize(
    ("sent", "lengths", "words"),
    [
        (CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]), True, "not the file that was expected.*{sha256}"),
        (CONTENT + b"more", True, "not the file that was expected"),
        (CONTENT * 20, False, "not the file that was expected"),
    ],
    ids=["altered", "of another size", "endless"],
)
def test_another_file_leaves_nothing(host, file, tmp_path, sent, lengths, words):
    host.lengths, host.files[f"/{NAME}"] = lengths, sent
    with pytest.raises(DownloadError, match=words.format(sha256=file.sha256)):
        download(file, tmp_path)
    assert left_in(tmp_path) == set()


def test_too_little_space_is_said_before_writing(host, file, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**12, 10**12, 10**6))
    with pytest.raises(DownloadError, match=r"needs 67 MB and .* has 1 MB left.*DGA_HOME"):
        download(file, tmp_path)
    assert left_in(tmp_path) == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_disk_that_fills_up(host, file, tmp_path):
    (tmp_path / f"{NAME}.part").symlink_to("/dev/full")
    with pytest.raises(DownloadError, match=r"No space left on device\. Nothing was kept"):
        download(file, tmp_path)
    assert not (tmp_path / NAME).exists()


def test_host_that_is_not_there(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/{NAME}"
    with pytest.raises(DownloadError, match=f"{url} could not be fetched.*tries again"):
        download(PublicFile(url, 10, "0" * 64), tmp_path)
    assert left_in(tmp_path) == set()


def test_address_that_is_none(tmp_path):
    with pytest.raises(DownloadError, match="could not be fetched"):
        download(PublicFile("nowhere/weights.pt", 10, "0" * 64), tmp_path)


def test_two_processes_do_not_write_at_once(host, file, tmp_path):
    with (
        FileLock(tmp_path / f".{NAME}.lock"),
        pytest.raises(DownloadError, match="Another process is fetching"),
    ):
        download(file, tmp_path)
    assert download(file, tmp_path).exists()


def test_sizes():
    assert gigabytes(2_211_383_297) == "2.2 GB"
    assert gigabytes(113_000_000) == "113 MB"
