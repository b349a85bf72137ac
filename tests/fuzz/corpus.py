"""Opens every hostile picture and measures: ``python -m tests.fuzz.corpus``.

One line of JSON a file: what became of it, the sentence, the peak of memory above that of the
idle process in megabytes, and seconds. ``tests/data/test_uploads.py`` says what is promised.
"""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image

from dga.data.uploads import UploadError, decode_picture, open_picture, read_bytes
from dga.images import REDUCED_SIDE
from tests.fuzz.files import corpus, seeds

_STATUS = Path("/proc/self/status")
_FORGET_PEAK = Path("/proc/self/clear_refs")


def memory_mb(field: str) -> float:
    """This process's ``VmRSS`` or ``VmHWM``, the peak since :func:`forget_peak`."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def forget_peak() -> None:
    """Let the kernel count the peak of memory anew."""
    _FORGET_PEAK.write_text("5")


def read_upload(path: Path) -> Image.Image:
    """A stranger's picture, reduced where it is large."""
    return decode_picture(open_picture(read_bytes(path)), REDUCED_SIDE)


def try_file(path: Path) -> tuple[str, str]:
    """``picture`` and its size, ``refused`` and the sentence, or ``failed`` and the error."""
    try:
        image = read_upload(path)
    except UploadError as error:
        sentence = str(error)
        is_clear = sentence.endswith(".") and "\n" not in sentence and str(path) not in sentence
        return ("refused" if is_clear else "failed"), sentence
    except BaseException as error:
        return "failed", repr(error)
    is_sound = image.mode == "RGB" and not image.info
    return ("picture" if is_sound else "failed"), f"{image.width} by {image.height}"


def measure(name: str, path: Path) -> dict[str, Any]:
    """The record of one file."""
    idle, begun = memory_mb("VmRSS"), time.monotonic()
    forget_peak()
    verdict, said = try_file(path)
    seconds, peak = time.monotonic() - begun, memory_mb("VmHWM") - idle
    return {"name": name, "verdict": verdict, "said": said, "peak_mb": peak, "seconds": seconds}


def main() -> None:
    """Entry of the command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload.png"
        for make in seeds().values():  # so that nothing is loaded for the first time below
            path.write_bytes(make())
            try_file(path)
        for name, make in corpus().items():
            path.write_bytes(make())
            print(json.dumps(measure(name, path)), flush=True)


if __name__ == "__main__":
    main()
