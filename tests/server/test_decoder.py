"""Strangers' pictures are decoded in processes of their own."""

import asyncio
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.server import decoder as decoders
from app.server.decoder import DAMAGED, PHOTO_PIXELS, Decoder
from dga.data import uploads
from dga.data.picture_files import encode_result
from dga.data.uploads import UploadError
from tests.fuzz.blocks import noise, saved
from tests.fuzz.files import seeds

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no process of its own here")
SQUARE = b"+" + struct.pack(">IIII", 32, 40, 40, 32) + bytes(32 * 40 * 3)


class Reader(Decoder):
    """Awaited here, where there is no loop yet."""

    def read(self, data: bytes) -> Any:
        return asyncio.run(self.read_upload(data))[:2]

    def write(self, *values: Any) -> bytes:
        return asyncio.run(self.write_photograph(*values))


@pytest.fixture(scope="module")
def decoder() -> Iterator[Reader]:
    made = Reader()
    yield made
    assert made._ready
    made._ready.end()


@pytest.mark.parametrize("name", [*seeds(), "heif"])
def test_the_same_pixels(decoder, name):
    """Every format and way of storing that is read: HEIC, GIF, 16 bits, palettes, ..."""
    if name == "heif":
        pytest.importorskip("pillow_heif").register_heif_opener()
    data = seeds()[name]() if name != "heif" else saved("HEIF")
    pixels, came = decoder.read(data)
    expected, size = uploads.read_photograph(data, PHOTO_PIXELS)
    assert np.array_equal(pixels, expected)
    assert pixels.flags.writeable
    assert came == size


REFUSED = b"", b"words", saved("PNG", noise(size=(300, 200)))[:-999], bytes(20 * 2**20 + 1)


@pytest.mark.parametrize("data", REFUSED, ids=range(len(REFUSED)))
def test_the_same_sentences(decoder, data):
    with pytest.raises(UploadError) as expected:
        uploads.read_photograph(data, PHOTO_PIXELS)
    with pytest.raises(UploadError) as refused:
        decoder.read(data)
    assert str(refused.value) == str(expected.value)


def test_what_a_repaired_file_lacks_is_said(decoder):
    """Of its own kind, or as the page's programs get it; of a plain picture nothing."""
    moving = saved("WEBP", save_all=True, append_images=[noise().rotate(90)], duration=90)
    clear = saved("PNG", noise("RGBA").rotate(45))
    gradient = Image.radial_gradient("L").resize((1500, 1000))
    opaque, large = (saved("PNG", Image.merge("LA", (gradient, alpha)))
                     for alpha in (Image.new("L", gradient.size, 255), gradient))  # fmt: skip
    for data, suffix, words in (
        (saved("PNG"), ".png", ""), (saved("JPEG"), None, ""),
        (moving, ".webp", "all but its first frame"),
        (clear, ".png", ""), (clear, None, "its transparency"), (clear, ".jpg", "its transparency"),
        (large, ".png", "its transparency"), (opaque, ".png", ""),
    ):  # fmt: skip
        losses = asyncio.run(decoder.read_upload(data, suffix))[2]
        assert losses == ([words] if words else [])


def test_results_are_written_apart(decoder):
    data = saved("JPEG")
    pixels, _ = decoder.read(data)
    for made in (pixels, 255 - pixels):
        assert decoder.write(data, made, ".jpg") == encode_result(data, made, ".jpg")
    with pytest.raises(UploadError):
        decoder.write(b"words", pixels, ".jpg")


def ready_process(decoder: Reader) -> subprocess.Popen[bytes]:
    decoder.start()
    assert decoder._ready is not None
    return decoder._ready.process


def test_each_picture_has_a_process_of_its_own(decoder):
    """Also after one that was killed."""
    first = ready_process(decoder)
    decoder.read(saved("PNG"))
    assert first.poll() is not None
    second = ready_process(decoder)
    assert second.pid != first.pid
    os.kill(second.pid, signal.SIGKILL)
    second.wait(10)
    assert decoder.read(saved("PNG"))[1] == (40, 32)


def test_it_ends_with_the_page():
    """The page's end of the line closes, however the page ends."""
    decoder = Reader()
    process = ready_process(decoder)
    assert decoder._ready is not None
    decoder._ready.line.close()
    assert process.wait(20) == 0


@pytest.mark.parametrize(
    "answer",
    [
        *(b"", b"+", b"+few", SQUARE[:-1], SQUARE + b"x", b"x" + SQUARE[1:], b"+" + SQUARE),
        *(b"+" + struct.pack(">IIII", *sizes, 1, 1) for sizes in ((2**16, 2**16), (0, 9))),
    ],
)
def test_answers_that_are_none_become_one_sentence(decoder, monkeypatch, answer):
    async def ask(*_: Any) -> bytes:
        return answer

    monkeypatch.setattr(decoders._Subprocess, "ask", ask)
    with pytest.raises(UploadError) as error:
        decoder.read(b"")
    assert str(error.value) == DAMAGED


def ask(code: str, work: Callable[..., bytes] = len, *values: Any) -> bytes:  # type: ignore[assignment]
    """What a process answers that runs ``code`` in a decoder's place."""
    decoders._START, usual = code, decoders._START
    try:
        process = decoders._Subprocess()
    finally:
        decoders._START = usual
    try:
        return asyncio.run(process.ask(pickle.dumps((work, values))))
    finally:
        process.end()
        assert process.process.poll() is not None


LINE = "import os, socket, sys, time; line = socket.socket(fileno=0); line.recv(9999)\n"


def test_it_is_not_waited_for_for_ever(monkeypatch):
    """Nor is what it started left behind."""
    monkeypatch.setattr(decoders, "PATIENCE", 1)
    begun = time.monotonic()
    assert ask(LINE + "os.fork(); time.sleep(60)") == b""
    drops = LINE + "while True: line.send(b'p'); time.sleep(0.1)"
    assert ask(drops) == b""
    assert time.monotonic() - begun < 10


def test_no_more_is_read_than_an_answer_has(monkeypatch):
    monkeypatch.setattr(decoders, "MOST", 10_000)
    assert len(ask(LINE + "while True: line.send(b'p' * 9999)")) == 10_000


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("os.kill(os.getpid(), 9)", b""),
        ("1 / 0", b""),
        ("while True: pass", b""),
        ("try: bytes(2**30)\nexcept MemoryError: line.send(b'much')", b"much"),
        ("try: os.write(os.open({path!r}, 65), b'a')\nexcept OSError: line.send(b'no')", b"no"),
        ("import resource; line.send(b'%d' % resource.getrlimit(resource.RLIMIT_CORE)[0])", b"0"),
    ],
)
def test_it_has_little_to_reach_for(code, answer, tmp_path, monkeypatch):
    monkeypatch.setattr(decoders, "_LIMIT", decoders._LIMIT.replace("-t 10", "-t 2"))
    assert ask(LINE + code.replace("{path!r}", repr(str(tmp_path / "a")))) == answer
    assert not (tmp_path / "a").exists() or not (tmp_path / "a").read_bytes()


def test_it_knows_nobody_else():
    """It starts anew: no file of the page is open there."""
    code = LINE + "line.send(b'%d' % len(os.listdir('/proc/self/fd')))"
    if Path("/proc/self/fd").exists():
        assert int(ask(code)) <= 5


DECODED = """
import sys
sys.path.insert(0, {root!r})  # as a command of the package has it
import asyncio
from app.server.decoder import Decoder
print(asyncio.run(Decoder().read_upload(open({path!r}, "rb").read()))[0].shape)
"""


def test_somebodys_own_app(tmp_path):
    """Beside an installed dga: the page's decoder finds its own."""
    (tmp_path / "app.py").write_text("MINE = True\n")
    Image.new("RGB", (48, 32)).save(tmp_path / "a.png")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    place = {"root": str(decoders.ROOT), "path": str(tmp_path / "a.png")}
    done = subprocess.run(
        [sys.executable, "-c", DECODED.format(**place)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.strip() == "(32, 48, 3)", done.stderr
