"""What the lists of packages promise: a lowest version for each."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def listed(name: str) -> dict[str, str]:
    """Packages of a file, by their plain names, with what is said of their versions."""
    lines = (line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines())
    found = [re.fullmatch(r"([\w.-]+)(?:\[\w+\])?(.*)", line) for line in lines if line]
    assert all(found)
    return {plain(match[1]): match[2] for match in found if match}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_package_has_a_lowest_version(name):
    assert listed(name)
    for package, versions in listed(name).items():
        assert re.match(r"(>=|==)\d+(\.\d+)*", versions), package


def test_every_ignored_advisory_is_explained():
    lines = (ROOT / ".ci/advisories").read_text("utf-8").splitlines()
    said = [line for line in lines if line and not line.startswith("#")]
    assert said
    names = [line.split()[0] for line in said]
    assert len(set(names)) == len(names)
    for line in said:
        assert re.fullmatch(r"(GHSA|CVE|PYSEC)-[\w-]+  [\w-]+ < \d[\d.]*, .+: .+", line), line
