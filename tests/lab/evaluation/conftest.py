"""What evaluations are asked for, unless a test asks otherwise."""

from pathlib import Path

import pytest

from dga.lab.evaluation.plan import Plan


@pytest.fixture(scope="session")
def plan(picture_folder: Path) -> Plan:
    """Two pictures of each class, with noise and in fog, severity 3."""
    names = "gaussian_noise", "fog"
    return Plan(data=(picture_folder,), corruptions=names, severity=3, per_class=2, split="all")
