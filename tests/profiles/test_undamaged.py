"""Undamaged photographs, their parts and copies: at least 95 % come back bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import skimage.data
from PIL import Image

from app.runs.samples import EXAMPLES, PackageFile
from dga.images import Pixels, through_jpeg, to_pixels
from dga.networks.models import Models
from dga.photograph import repair_photograph

FOLDER = Path(skimage.data.__file__).parent
OTHERS = {
    "temple": PackageFile("sklearn", "datasets/images/china.jpg", "CC BY 2.0 (danielbuechele)"),
    "flower": PackageFile("sklearn", "datasets/images/flower.jpg", "CC BY 2.0 (vultilion)"),
    "hopper": PackageFile("matplotlib", "mpl-data/sample_data/grace_hopper.jpg", "public domain"),
    "cheetahs-face": PackageFile("gradio", "test_data/cheetah2.jpg", "Apache-2.0 package"),
    "lion": PackageFile("gradio", "media_assets/images/lion.jpg", "Apache-2.0 package"),
    "tower": PackageFile("gradio", "media_assets/images/tower.jpg", "Apache-2.0 package"),
}
NAMES = (
    *("brick.png", "camera.png", "cell.png", "clock_motion.png", "coins.png", "grass.png"),
    *("gravel.png", "hubble_deep_field.jpg", "ihc.png", "moon.png", "motorcycle_left.png"),
    "retina.jpg",
)
"""Beside those that are measured; scans and drawings are no photographs."""
LONGEST = 640
PARTS = ((0, 0, 230, 200), (0.25, 0.33, 180, 150), (0.5, 0.5, 158, 128), (0.6, 0.6, 210, 180))
"""Left and upper edge as shares of the sides, width and height in pixels."""


def undamaged() -> Iterator[tuple[str, Pixels]]:
    measured = {name: photograph.path() for name, photograph in (EXAMPLES | OTHERS).items()}
    for name, path in (measured | {name: FOLDER / name for name in NAMES}).items():
        assert path
        with Image.open(path) as image:
            whole = image.convert("RGB")
        whole.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
        yield name, to_pixels(whole)
        yield f"{name} in grey", to_pixels(whole.convert("L"))
        yield f"{name} as JPEG", to_pixels(through_jpeg(to_pixels(whole), 75))
        for left, upper, width, height in PARTS:
            corner = round(left * whole.width), round(upper * whole.height)
            box = (*corner, corner[0] + width, corner[1] + height)
            part = whole.crop((*box[:2], min(box[2], whole.width), min(box[3], whole.height)))
            yield f"{name}, {part.width} by {part.height}", to_pixels(part)


@pytest.mark.slow
def test_undamaged_photographs_come_back_bit_for_bit(shipped_models: Models) -> None:
    same = {
        name: repair_photograph(shipped_models, picture).is_unchanged
        for name, picture in undamaged()
    }
    print(f"{sum(same.values())} of {len(same)}; changed:", *(n for n in same if not same[n]))
    assert np.mean(list(same.values())) >= 0.95
