"""Strangers' pictures are decoded in processes of their own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.server import decoder as apart
from app.server.decoder import Decoder
from app.server.limits import PHOTO_PIXELS
from dga.data import uploads
from dga.data.uploads import UploadError
from tests.fuzz import blocks
from tests.fuzz.files import seeds

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes to fork")


@pytest.fixture
def decoder() -> Iterator[Decoder]:
    made = Decoder()
    yield made
    made.close()


@pytest.fixture
def png(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    path.write_bytes(blocks.saved("PNG"))
    return path


def process_of(decoder: Decoder) -> int:
    assert decoder._process is not None
    return decoder._process.pid


@pytest.mark.parametrize("name", seeds())
def test_the_same_pixels(decoder: Decoder, tmp_path: Path, name: str) -> None:
    path = tmp_path / "picture"
    path.write_bytes(seeds()[name]())
    for size in (24, 64):
        found = decoder.read_square(path, size)
        assert np.array_equal(found, uploads.read_square(path, size))
        assert found.flags.writeable


@pytest.mark.parametrize("content", [b"", b"words", seeds()["png"]()[:99], b"\x89PNG\r\n\x1a\n"])
def test_the_same_sentences(decoder: Decoder, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no picture"
    path.write_bytes(content)
    said = []
    for read in (decoder.read_square, uploads.read_square):
        with pytest.raises(UploadError) as refused:
            read(path, 64)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_no_picture_at_all(decoder: Decoder, tmp_path: Path) -> None:
    with pytest.raises(UploadError, match="Choose a picture first"):
        decoder.read_square(None, 64)
    with pytest.raises(UploadError, match="There is no such file"):
        decoder.read_square(tmp_path / "nothing", 64)


def test_names_of_any_bytes(decoder: Decoder, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"\xff ' \n.png")
    Path(name).write_bytes(blocks.saved("PNG"))
    assert decoder.read_square(name, 32).shape == (32, 32, 3)


def test_it_comes_back_when_it_is_killed(decoder: Decoder, png: Path) -> None:
    first = decoder.read_square(png, 32)
    process = process_of(decoder)
    os.kill(process, signal.SIGKILL)
    assert np.array_equal(decoder.read_square(png, 32), first)
    assert process_of(decoder) != process


def test_it_ends_with_the_page(decoder: Decoder) -> None:
    """The page's end of the pipe closes, however the page ends."""
    decoder.start()
    process = decoder._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0
    decoder.close()  # and once more does no harm


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (b"e", b"-11"),
        *((b"p", size) for size in (b"", b"few", bytes(32 * 32 * 3 + 1))),
        (b"s", b"\xff"),
    ],
    ids=["a crash", "nothing", "too few", "too many", "no words"],
)
def test_answers_that_are_none_become_one_sentence(
    decoder: Decoder, tmp_path: Path, monkeypatch, caplog, kind: bytes, content: bytes
) -> None:
    monkeypatch.setattr(decoder, "_answer", lambda *_: (kind, content))
    with pytest.raises(UploadError, match=r"cannot be decoded|\ufffd"):
        decoder.read_square(tmp_path / "a.png", 32)
    assert ("status b'-11'" in caplog.text) == (kind == b"e")


def program(code: str) -> subprocess.Popen[bytes]:
    """One that answers as a decoder does, or does not."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code], start_new_session=True, **pipes)


def test_an_answer_cut_short_is_asked_for_again(
    decoder: Decoder, png: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = decoder.read_square(png, 32)
    short = "import sys; sys.stdin.buffer.read(9); sys.stdout.buffer.write(b'p\\0\\0\\1\\0ab')"
    running, started = decoder._running, [program(short)]
    monkeypatch.setattr(decoder, "_running", lambda: started.pop() if started else running())
    assert np.array_equal(decoder.read_square(png, 32), whole)
    assert not started


def test_it_is_not_waited_for_for_ever(
    decoder: Decoder, png: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is what it forked left behind."""
    monkeypatch.setattr(apart, "PATIENCE", 1)
    whole = decoder.read_square(png, 32)
    decoder._process = process = program("import os, time; os.fork(); time.sleep(60)")
    with pytest.raises(UploadError, match="cannot be decoded"):
        decoder.read_square(png, 32)
    assert process.wait(10) == -signal.SIGKILL
    assert process.stdout is not None
    assert process.stdout.read() == b""  # which ends when nobody can write any more
    monkeypatch.undo()  # a busy machine may need more than that to start the next one
    assert np.array_equal(decoder.read_square(png, 32), whole)


def ended(answer: bytes) -> int:
    kind, length = apart._ANSWER.unpack(answer[: apart._ANSWER.size])
    assert kind == b"e"
    assert len(answer) == apart._ANSWER.size + length
    return int(answer[apart._ANSWER.size :])


OWN, OTHERS = apart._framed(b"p", bytes(12)), apart._framed(b"p", b"\xff" * 12)


@pytest.mark.parametrize("answer", [OWN, apart._framed(b"s", b"words"), apart._framed(b"e", b"-9")])
def test_one_answer_passes(answer: bytes) -> None:
    assert apart.checked(answer) == answer


@pytest.mark.parametrize(
    "answer",
    [b"", b"p", OWN + OTHERS, OWN + b"p", OWN[:-1], apart._framed(b"x", b"words")],
    ids=["nothing", "no length", "two", "one and a bit", "too short", "unknown kind"],
)
def test_a_forged_answer_does_not_reach_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """The next visitor gets what is read after it, so nothing may be left over or lacking."""
    monkeypatch.setattr(apart, "_decoded", lambda path, size: answer if path == b"bad" else OWN)
    requests = b"".join(apart._REQUEST.pack(2, len(path)) + path for path in (b"bad", b"good"))
    answers = io.BytesIO()
    apart._serve(io.BytesIO(requests), answers)
    first, length = apart._ANSWER.unpack_from(answers.getvalue())
    assert first == b"e"
    assert answers.getvalue()[apart._ANSWER.size + length :] == OWN


def test_no_more_is_read_than_an_answer_has() -> None:
    assert len(apart.apart(lambda: bytes(5000), most=100)) <= 100
    endless = apart.apart(lambda: bytes(2 * apart.MOST))  # more than the pipe holds
    assert ended(endless) == 1  # it was closed while the decoder wrote


def test_only_the_fork_dies() -> None:
    assert apart.apart(lambda: b"fine") == b"fine"
    assert ended(apart.apart(lambda: os.kill(os.getpid(), signal.SIGKILL))) == -signal.SIGKILL  # type: ignore[arg-type, return-value]
    assert ended(apart.apart(lambda: 1 / 0)) == 1  # type: ignore[arg-type, return-value]


def test_it_cannot_answer_in_another_name() -> None:
    def pipes() -> bytes:
        nothing = Path(os.devnull).stat().st_rdev
        return b"%d" % sum(os.fstat(number).st_rdev == nothing for number in (0, 1))

    assert apart.apart(pipes) == b"2"


def test_time_is_limited() -> None:
    begun = time.monotonic()
    assert ended(apart.apart(lambda: time.sleep(60), seconds=1)) == -signal.SIGALRM  # type: ignore[arg-type, return-value]
    assert time.monotonic() - begun < 20


def test_memory_is_limited() -> None:
    def greedy() -> bytes:
        try:
            return b"%d" % len(np.ones(2 * apart.MEMORY, np.uint8))
        except MemoryError:
            return b"too much"

    assert apart.apart(greedy) == b"too much"


def test_no_file_is_written(tmp_path: Path) -> None:
    def writes() -> bytes:
        try:
            return b"%d" % (tmp_path / "a").write_bytes(b"mark")
        except OSError:
            return b"refused"

    assert apart.apart(writes) == b"refused"
    assert not (tmp_path / "a").read_bytes()


def test_a_photograph_keeps_its_size_up_to_a_limit(decoder: Decoder, tmp_path: Path) -> None:
    for width, height in ((90, 60), (1500, 1000), (4000, 3000)):
        path = tmp_path / f"{width}.png"
        Image.effect_noise((width, height), 50).convert("RGB").save(path, compress_level=1)
        found, came = decoder.read_photograph(path)
        theirs, _ = uploads.read_photograph(path, PHOTO_PIXELS)
        assert np.array_equal(found, theirs)
        assert found.flags.writeable
        assert came == width * height
        assert 0.7 * min(came, PHOTO_PIXELS) < found.shape[0] * found.shape[1] <= PHOTO_PIXELS
        assert abs(found.shape[1] / found.shape[0] - width / height) < 0.01
    with pytest.raises(UploadError, match="Choose a picture first"):
        decoder.read_photograph(None)


@pytest.mark.parametrize("content", [b"", bytes(5), bytes(40)])
def test_a_photograph_of_another_size_than_told_is_none(
    decoder: Decoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(decoder, "_answer", lambda *_: (b"p", content))
    with pytest.raises(UploadError, match="cannot be decoded"):
        decoder.read_photograph(tmp_path / "a.png")
