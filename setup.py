"""Puts ``assets/`` into an installation as ``dga/assets``; all else is in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["dga", "dga.*", "app", "app.*"]), "dga.assets"],
    package_dir={"dga.assets": "assets"},
)
