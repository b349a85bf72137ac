"""Drill: the real page on a server where things break.

``python tests/drills/server_faults.py``: about a minute on an idle machine.

The repository is copied and made read-only, the server runs without root's rights over files and
keeps uploads on a small disk (a tmpfs, so it needs root; else that part is left out). Then: the
disk is full, the folder for uploads is closed, the port is taken, weights are altered, cut off or
unreadable. Ends with status 1 unless every fault is answered by a sentence and, once it is mended,
by the same result as before.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import skimage.data
from gradio_client import Client, handle_file
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.fixtures.rights import drop_rights  # noqa: E402  (found on the path above)

COPIED = ("app", "dga", "assets", "app.py")
STARTS_WITHIN = 300.0
ASKED = {"corruption": "fog", "severity": 3, "tau": 0.5, "seed": 5, "dda_depth": 2}
WEIGHTS = Path("assets/weights/everyday16/discriminator/model.safetensors")


def main() -> int:
    """Run the drill; returns the exit status."""
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        root = Path(place)
        tree, uploads, port = copy(root / "tree"), root / "uploads", free_port()
        uploads.mkdir()
        small = stack.enter_context(small_disk(uploads))
        picture = root / "cat.png"
        Image.fromarray(skimage.data.chelsea()).save(picture)
        before = listing(tree)
        server = stack.enter_context(served(tree, uploads, port))
        results = [
            *faults_of_uploads(picture, uploads, port, small),
            ("read-only repository", listing(tree) == before),
            ("port taken", refused(tree, uploads, port, f"Port {port} is taken")),
            *faults_of_weights(tree, uploads),
            ("the server is still there", server.poll() is None),
        ]
    for name, good in results:
        print(f"{name}: {'as promised' if good else 'BROKEN'}")
    print(f"{len(results)} checks, {sum(good for _, good in results)} as promised")
    return 0 if all(good for _, good in results) else 1


def copy(tree: Path) -> Path:
    """The repository, with modes that forbid all writing."""
    tree.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, tree / name, ignore=ignored)
        else:
            shutil.copy(source, tree / name)
    for path in [tree, *tree.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    return tree


def listing(tree: Path) -> list[tuple[str, int, int]]:
    """Every file with its size and time."""
    facts = [(path, path.stat()) for path in sorted(tree.rglob("*")) if path.is_file()]
    return [(str(path), stat.st_size, stat.st_mtime_ns) for path, stat in facts]


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Four megabytes mounted on ``folder``, where that is allowed."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(tree: Path, uploads: Path, port: int) -> subprocess.Popen[str]:
    """``python app.py`` in the copy."""
    environment = {
        **os.environ,
        "GRADIO_TEMP_DIR": str(uploads),
        "GRADIO_ANALYTICS_ENABLED": "False",
    }
    command = [sys.executable, "app.py", "--host", "127.0.0.1", "--port", str(port)]
    return subprocess.Popen(
        command, cwd=tree, env=environment, preexec_fn=drop_rights, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


@contextlib.contextmanager
def served(tree: Path, uploads: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """The running page. Raises ``RuntimeError`` with what it said if it does not come up."""
    server = start(tree, uploads, port)
    try:
        deadline = time.monotonic() + STARTS_WITHIN
        while server.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(f"http://127.0.0.1:{port}/", timeout=30).raise_for_status()
                break
            time.sleep(0.5)
        else:
            raise RuntimeError(server.communicate()[1] if server.poll() else "It does not answer.")
        yield server
    finally:
        server.kill()
        server.communicate()


def faults_of_uploads(
    picture: Path, uploads: Path, port: int, small: bool
) -> Iterator[tuple[str, bool]]:
    """A full disk and a closed folder: no path and no status 500, then the same result again."""
    client = Client(f"http://127.0.0.1:{port}/", verbose=False)
    expected = answer(client, picture)
    if small:
        filler = uploads / "filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            file.write(bytes(8 * 2**20))
        clean_but(uploads, filler)
        yield "disk full: refused politely", answers_politely(client, picture, uploads)
        filler.unlink()
        yield "disk full: as before afterwards", answer(client, picture) == expected
    for path in [uploads, *uploads.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    fresh = picture.with_name("fresh.png")  # one that no earlier run left there
    Image.open(picture).rotate(90).save(fresh)
    yield "uploads closed: refused politely", answers_politely(client, fresh, uploads)
    for path in [uploads, *uploads.rglob("*")]:
        path.chmod(0o700)
    yield "uploads closed: as before afterwards", answer(client, picture) == expected


def clean_but(folder: Path, kept: Path) -> None:
    """Earlier uploads go, and what they leave free is filled too."""
    for path in folder.iterdir():
        if path != kept:
            shutil.rmtree(path)
    with contextlib.suppress(OSError), kept.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def answer(client: Client, picture: Path) -> dict[str, Any]:
    """What a run found, without its seconds."""
    record, *_ = client.predict(handle_file(picture), **ASKED, api_name="/adapt")
    methods = {name: (m["depth"], m["top5"]) for name, m in record["methods"].items()}
    return {"confidence": record["confidence"], "methods": methods}


def answers_politely(client: Client, picture: Path, uploads: Path) -> bool:
    """Whether the run is refused without status 500 or the name of a folder."""
    try:
        answer(client, picture)
    except Exception as error:  # the client raises what it likes
        print(f"  it said: {type(error).__name__}: {str(error)[:160]!r}")
        said = str(error)
        return all(word not in said for word in (str(uploads), "Traceback", "500 Internal"))
    return False


def refused(tree: Path, uploads: Path, port: int, sentence: str) -> bool:
    """Whether a start ends with status 1 and one line that has the sentence."""
    server = start(tree, uploads, port)
    try:
        said = server.communicate(timeout=STARTS_WITHIN)[1]
    except subprocess.TimeoutExpired:
        server.kill()
        server.communicate()
        return False
    print(f"  it said: {said.strip()[-200:]!r}")
    return server.returncode == 1 and "Traceback" not in said and sentence in said


def faults_of_weights(tree: Path, uploads: Path) -> Iterator[tuple[str, bool]]:
    """Altered, cut off and unreadable weights."""
    path = tree / WEIGHTS
    whole = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    yield "weights altered", refused(tree, uploads, free_port(), "was altered")
    path.write_bytes(whole[: len(whole) // 2])
    yield "weights cut off", refused(tree, uploads, free_port(), "was altered")
    path.write_bytes(whole)
    path.chmod(0)
    yield "weights unreadable", refused(tree, uploads, free_port(), "cannot be read")


if __name__ == "__main__":
    sys.exit(main())
