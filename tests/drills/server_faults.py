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
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import skimage.data
from gradio_client import Client, handle_file
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.fixtures.rights import drop_rights  # noqa: E402  (found on the path above)
from tests.load.server import Server  # noqa: E402

COPIED = ("app", "dga", "assets")
ASKED = {"corruption": "fog", "severity": 3, "tau": 0.5, "seed": 5, "dda_depth": 2}
WEIGHTS = Path("assets/weights/everyday16/discriminator/model.safetensors")


def main() -> int:
    """Run the drill; returns the exit status."""
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        root = Path(place)
        tree, uploads = copy(root / "tree"), root / "uploads"
        uploads.mkdir()
        small = stack.enter_context(small_disk(uploads))
        picture = root / "cat.png"
        Image.fromarray(skimage.data.chelsea()).save(picture)
        before = listing(tree)

        def page(port: int | None = None) -> Server:
            environment = {"GRADIO_TEMP_DIR": str(uploads)}
            folder = Path(tempfile.mkdtemp(dir=root))
            return Server(port, folder, cwd=tree, env=environment, preexec_fn=drop_rights)

        server = stack.enter_context(page())
        results = [
            *faults_of_uploads(picture, uploads, server.url, small),
            ("read-only repository", listing(tree) == before),
            (
                "port taken",
                refused(page(server.port), f"port {server.port}: Address already in use"),
            ),
            *((what, refused(page(), said)) for what, said in faults_of_weights(tree)),
            ("the server is still there", server.process.poll() is None),
        ]
    for name, good in results:
        print(f"{name}: {'as promised' if good else 'BROKEN'}")
    print(f"{len(results)} checks, {sum(good for _, good in results)} as promised")
    return 0 if all(good for _, good in results) else 1


def copy(tree: Path) -> Path:
    """The repository, with modes that forbid all writing."""
    tree.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", tree)
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


def faults_of_uploads(
    picture: Path, uploads: Path, url: str, small: bool
) -> Iterator[tuple[str, bool]]:
    """A full disk and a closed folder: no path and no status 500, then the same result again."""
    client = Client(url, verbose=False)
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


def refused(page: Server, sentence: str) -> bool:
    """Whether a start ends with status 1 and one line that has the sentence."""
    process = page.start()
    try:
        status = process.wait(300)
    except subprocess.TimeoutExpired:
        process.kill()
        return False
    said = page.log.read_text("utf-8")
    print(f"  it said: {said.strip()[-200:]!r}")
    return status == 1 and "Traceback" not in said and sentence in said


def faults_of_weights(tree: Path) -> Iterator[tuple[str, str]]:
    """Altered, cut off and unreadable weights, one after the other, and what is said of them."""
    path = tree / WEIGHTS
    whole = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    yield "weights altered", "was altered"
    path.write_bytes(whole[: len(whole) // 2])
    yield "weights cut off", "was altered"
    path.write_bytes(whole)
    path.chmod(0)
    yield "weights unreadable", "cannot be read"


if __name__ == "__main__":
    sys.exit(main())
