"""What is measured beside the library's systems: readers that adapt, pairs, controls."""

import re

import pytest

from dga.lab.readers.systems import MemoConfig, TentConfig, parse, systems
from dga.profiles import EVERYDAY16, PROFILES


def test_any_repair_goes_with_any_reader():
    tent, memo = parse(EVERYDAY16, "dga-plus+tent"), parse(EVERYDAY16, "dga-guided+memo:views=2")
    assert (tent.repair, tent.reader) == (EVERYDAY16.plus, TentConfig())
    assert tent.ensemble
    pair = parse(EVERYDAY16, "dga-plus+tent:permute=noise:batch=32")
    assert (pair.permute, pair.reader.batch) == ("noise", 32)
    assert memo.repair == systems(EVERYDAY16)["dga-guided"].repair
    assert memo.reader == MemoConfig(views=2, min_area=0.4)
    assert memo.trust == 0  # it reads each picture alone
    assert tent.trust > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "No method was named"),
        ("magic", "Unknown method 'magic'. Known: source, tent, memo"),
        ("source+tent", "Unknown repair 'source'. Known: "),
        ("dga+magic", "Unknown reader 'magic'. Known: tent, memo, denoise."),
        ("tent:lr=inf", "Numbers are finite; lr is inf"),
        ("dga-plus+tent:trust=-1", "trust is a number from 0 up"),
        ("tent:batch=-5", "batch is a whole number from 1 up, not -5"),
        ("dga-plus:permute=noise", "permute=noise needs batch=N"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(text, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        parse(EVERYDAY16, text)


@pytest.mark.parametrize("what", ["noise", "depth"])
def test_a_control_that_exchanges_nothing_is_refused(what):
    """In a profile that mends noise."""
    text = f"dga-plus:permute={what}:batch=4"
    with pytest.raises(ValueError, match=f"^permute={what} is no control here"):
        parse(PROFILES["photo"], text)
    assert parse(EVERYDAY16, text).permute == what
    assert parse(PROFILES["photo"], f"dga:permute={what}:batch=4").permute == what
    assert parse(PROFILES["photo"], "dga-plus:permute=explanation:batch=4").batch == 4
