"""What the lists of packages promise: a lowest version for each."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_package_has_a_lowest_version(name):
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    assert any(lines)
    for package in filter(None, lines):
        assert re.match(r"[\w.-]+(\[\w+\])?(>=|==)\d+", package), package


def test_every_ignored_advisory_is_explained():
    lines = (ROOT / ".ci/advisories").read_text("utf-8").splitlines()
    said = [line for line in lines if line and not line.startswith("#")]
    assert said
    names = [line.split()[0] for line in said]
    assert len(set(names)) == len(names)
    for line in said:
        assert re.fullmatch(r"(GHSA|CVE|PYSEC)-[\w-]+  [\w-]+ < \d[\d.]*, .+: .+", line), line
