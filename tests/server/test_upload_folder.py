"""Uploads lie in a private folder and do not stay."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.server.upload_folder import KEPT_SECONDS, LOCK, PREFIX, UploadFolder, remove_left_behind

OPEN = (
    "from app.server.upload_folder import UploadFolder; uploads = UploadFolder.open(); "
    "print(uploads.folder, flush=True)"
)
ROOT = Path(__file__).resolve().parents[2]


def started(parent: Path, then: str) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k != "GRADIO_TEMP_DIR"}
    return subprocess.Popen(
        [sys.executable, "-c", f"{OPEN}; {then}"],
        cwd=ROOT,
        env=environment | {"TMPDIR": str(parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_folder_lives_as_long_as_its_server(tmp_path: Path) -> None:
    """A killed one leaves it behind; the next one clears it away, but none that is in use."""
    killed = started(tmp_path, "input()")
    assert killed.stdout is not None
    folder = Path(killed.stdout.readline().strip())
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    remove_left_behind(tmp_path)
    assert folder.exists()
    (folder / "upload.png").write_bytes(b"private")
    killed.kill()
    killed.wait()
    assert folder.exists()
    ended = started(tmp_path, "(uploads.folder / 'upload.png').write_bytes(b'x')")
    assert ended.wait() == 0
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


def test_the_operators_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    monkeypatch.setattr(UploadFolder, "_present", None)  # a page of another test may be there
    uploads = UploadFolder.open()
    assert uploads.folder.parent == tmp_path  # what else lies there is somebody else's
    uploads.close()
    assert list(tmp_path.iterdir()) == []


def test_old_files_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one/a.png", "two/b.png", "example.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"1234")
    uploads = UploadFolder(tmp_path, most=13)
    kept = {str(tmp_path / "example.png")}
    uploads.sweep(kept)
    assert uploads._used >= 12
    now = time.time()
    monkeypatch.setattr("app.server.upload_folder.time.time", lambda: now + KEPT_SECONDS + 60)
    uploads.sweep(kept)
    assert [path.name for path in tmp_path.rglob("*.png")] == ["example.png"]
    assert not (tmp_path / "one").exists()  # a thousand empty folders take room, too


def test_its_room_is_limited(tmp_path: Path) -> None:
    uploads = UploadFolder(tmp_path, most=10)
    assert uploads.count("an address", 0) == ""
    (tmp_path / "a").write_bytes(bytes(10))
    uploads.sweep(())
    assert uploads.count("an address", 0) == "full"


def test_no_upload_can_pass_for_the_lock(tmp_path: Path) -> None:
    uploads = UploadFolder(tmp_path)
    for path in (tmp_path / LOCK, tmp_path / "upload" / LOCK):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    uploads.sweep((), age=-1)
    assert list(tmp_path.iterdir()) == [tmp_path / LOCK]
