"""Versions of the packages that results can depend on."""

import platform
from importlib.metadata import version

PACKAGES = ("torch", "timm", "numpy", "imagecorruptions-imaug", "scikit-image")


def read_versions() -> dict[str, str]:
    """Read the versions of Python and of the packages that results can depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
