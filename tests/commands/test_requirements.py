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
