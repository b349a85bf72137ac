"""Fixtures of every test: models, a running page, pictures."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
import skimage.data
import torch
from PIL import Image

from dga.images import to_pixels, to_square

# Failed assertions in these say what was compared, as those in tests do.
pytest.register_assert_rewrite("tests.fixtures.browser", "tests.fixtures.rights")

from tests.fixtures.app import networks, served  # noqa: E402, F401
from tests.fixtures.browser import chromium  # noqa: E402, F401
from tests.fixtures.host import host  # noqa: E402, F401
from tests.fixtures.models import (  # noqa: E402, F401
    choosy_models,
    images,
    pictures,
    shipped_models,
    tiny_models,
    tiny_profile,
)
from tests.fixtures.public_weights import checkpoints, small_imagenet  # noqa: E402, F401

WORKERS = 2


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Share a run of all tests among processes, file by file; ``-n 0`` keeps them in one."""
    options = config.option
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    if hasattr(config, "workerinput") or not whole or options.usepdb:
        return  # workers start no workers of their own
    if getattr(options, "numprocesses", 0) is None:
        options.numprocesses, options.dist, options.loadscopereorder = WORKERS, "loadfile", False


def pytest_configure() -> None:
    """One thread a process: tiny networks gain nothing by more, and each process has a core.

    Pages, their clients and browsers leave files in a folder that goes with the process.
    """
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # those of tests stay
    tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="dga-tests-")
    atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the processes that tests start
    torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no process is left alone with it."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker("browser")
    first = ("slow", "browser")
    items.sort(key=lambda item: [item.get_closest_marker(name) is None for name in first])


@pytest.fixture(scope="session")
def cat() -> np.ndarray:
    """scikit-image's chelsea, 64 pixels a side."""
    return to_pixels(to_square(Image.fromarray(skimage.data.chelsea()), 64))


@pytest.fixture
def photo(cat: np.ndarray, tmp_path: Path) -> Path:
    """The cat as a file."""
    Image.fromarray(cat).save(tmp_path / "cat.png")
    return tmp_path / "cat.png"


@pytest.fixture(scope="session")
def picture_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes of eight synthetic pictures, laid out as an image folder."""
    root = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for c, name in enumerate(("cat", "big_cat")):
        (root / name).mkdir()
        for i in range(8):
            base = rng.integers(0, 255, (6 + 4 * c, 6 + 4 * c, 3), dtype=np.uint8)
            Image.fromarray(base).resize((40, 36)).save(root / name / f"{name}_{i}.png")
    return root
