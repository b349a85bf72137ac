"""Photographs that installed packages bring, each with its licence."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """A photograph in an installed package, ``file`` below it."""

    package: str
    file: str
    licence: str

    def path(self) -> Path | None:
        """None where the package is not installed or has moved it."""
        spec = importlib.util.find_spec(self.package)
        folder = Path(spec.origin).parent if spec and spec.origin else Path()
        return folder / self.file if (folder / self.file).is_file() else None


# Settings of whole photographs' repair were chosen on scikit-image's.
SPLITS: dict[str, dict[str, Source]] = {
    "tune": {
        "astronaut": Source("skimage", "data/astronaut.png", "public domain (NASA)"),
        "cat": Source("skimage", "data/chelsea.png", "CC0"),
        "coffee": Source("skimage", "data/coffee.png", "CC0"),
        "rocket": Source("skimage", "data/rocket.jpg", "CC0"),
    },
    "report": {
        "temple": Source("sklearn", "datasets/images/china.jpg", "CC BY 2.0 (danielbuechele)"),
        "flower": Source("sklearn", "datasets/images/flower.jpg", "CC BY 2.0 (vultilion)"),
        "hopper": Source(
            "matplotlib", "mpl-data/sample_data/grace_hopper.jpg", "public domain (US Navy)"
        ),
        "cheetah": Source("gradio", "media_assets/images/cheetah.jpg", "Apache-2.0 package"),
        "cheetahs-face": Source("gradio", "test_data/cheetah2.jpg", "Apache-2.0 package"),
        "lion": Source("gradio", "media_assets/images/lion.jpg", "Apache-2.0 package"),
        "tower": Source("gradio", "media_assets/images/tower.jpg", "Apache-2.0 package"),
    },
}
