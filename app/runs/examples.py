"""Photographs that installed packages bring, each with its licence."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PackageFile:
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
EXAMPLES = {
    "astronaut": PackageFile("skimage", "data/astronaut.png", "public domain (NASA)"),
    "cat": PackageFile("skimage", "data/chelsea.png", "CC0"),
    "coffee": PackageFile("skimage", "data/coffee.png", "CC0"),
    "rocket": PackageFile("skimage", "data/rocket.jpg", "CC0"),
    "cheetah": PackageFile("gradio", "media_assets/images/cheetah.jpg", "Apache-2.0 package"),
}
