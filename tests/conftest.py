"""Fixtures of every test: models, a running page, pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import skimage.data
from PIL import Image

from dga.images import to_pixels, to_square

# Failed assertions in these say what was compared, as those in tests do.
pytest.register_assert_rewrite("tests.fixtures.browser", "tests.fixtures.rights")

from tests.fixtures.app import served, session  # noqa: E402, F401
from tests.fixtures.models import (  # noqa: E402, F401
    shipped_models,
    tiny_models,
    tiny_profile,
)


@pytest.fixture(scope="session")
def cat() -> np.ndarray:
    """scikit-image's chelsea, 64 pixels a side."""
    return to_pixels(to_square(Image.fromarray(skimage.data.chelsea()), 64))


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
