"""What requirements.txt promises: a lowest version for all that is imported."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROUGHT = {"starlette", "gradio_client"}  # of gradio, with no life of their own here


def listed(name: str) -> dict[str, str]:
    """Packages of a file, by their plain names, with what is said of their versions."""
    lines = (line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines())
    found = [re.fullmatch(r"([\w.-]+)(?:\[\w+\])?(.*)", line) for line in lines if line]
    assert all(found)
    return {plain(match[1]): match[2] for match in found if match}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_package_has_a_lowest_version(name: str) -> None:
    assert listed(name)
    for package, versions in listed(name).items():
        assert re.match(r"(>=|==)\d+(\.\d+)*", versions), package


def test_every_import_is_listed() -> None:
    known, imported = packages_distributions(), set[str]()
    for path in [*ROOT.glob("dga/**/*.py"), *ROOT.glob("app/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    foreign = imported - sys.stdlib_module_names - {"dga", "app", "spaces"} - BROUGHT
    names = ("requirements.txt", "requirements-dev.txt", "requirements-cluster.txt")
    stands = set().union(*map(listed, names))
    assert {"torch", "gradio", "PIL"} <= foreign
    for name in sorted(foreign):
        assert {plain(package) for package in known.get(name, [name])} & stands, name


def test_every_ignored_advisory_is_explained() -> None:
    lines = (ROOT / ".ci/advisories").read_text("utf-8").splitlines()
    said = [line for line in lines if line and not line.startswith("#")]
    assert said
    names = [line.split()[0] for line in said]
    assert len(set(names)) == len(names)
    for line in said:
        assert re.fullmatch(r"(GHSA|CVE|PYSEC)-[\w-]+  [\w-]+ < \d[\d.]*, .+: .+", line), line
