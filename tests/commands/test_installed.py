"""The package, installed: the command and the page, elsewhere and without the right to write."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import skimage.data
from gradio_client import Client, handle_file
from PIL import Image

from dga.io.shipped import ROOT
from tests.fixtures.address import free_port, wait
from tests.fixtures.rights import drop_rights

PACKED = ("app", "dga", "assets", "pyproject.toml", "setup.py", "LICENSE")
ENDS_WITHIN = 30.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes are not asked here"),
]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Folder of the programs of an environment that sees this one's packages."""
    tree, environment = tmp_path / "tree", tmp_path / "environment"
    tree.mkdir()
    for source in [ROOT / name for name in PACKED] + list(ROOT.glob("requirements*.txt")):
        if source.is_dir():
            shutil.copytree(
                source, tree / source.name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(source, tree)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "these.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    python = environment / "bin" / "python"
    install = [python, "-m", "pip", "install", "-q", "--no-deps"]
    subprocess.run([*install, tree], check=True)
    shutil.rmtree(tree)
    for path in [environment, *environment.rglob("*")]:
        if path.exists() and not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    return environment / "bin"


def test_an_installation_adapts_and_serves(programs, tmp_path):
    photo, elsewhere, uploads = tmp_path / "photo.png", tmp_path / "elsewhere", tmp_path / "uploads"
    Image.fromarray(skimage.data.chelsea()).save(photo)
    uploads.mkdir()
    elsewhere.mkdir(mode=0o555)
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    surroundings |= {"HOME": str(elsewhere), "GRADIO_TEMP_DIR": str(uploads)}
    place = {"cwd": elsewhere, "env": surroundings, "preexec_fn": drop_rights}

    adapt = [programs / "dga", "adapt", photo, *["--methods", "dga", "--json", "--out"]]
    result = subprocess.run([*adapt, uploads / "out"], capture_output=True, text=True, **place)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["methods"]["dga"]["top5"]

    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    page = [programs / "dga-app", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(page, stdout=subprocess.DEVNULL, **place) as server:
        try:
            wait(url, server)
            assert "data:image/webp" in httpx.get(url).text  # a recorded run
            assert "<table" in httpx.get(url + "results").text
            answer = Client(url, verbose=False).predict(handle_file(photo), api_name="/repair")
            assert answer
            server.terminate()
            assert server.wait(ENDS_WITHIN) == 0
        finally:
            server.kill()
