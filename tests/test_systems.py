"""What a system is called, what its settings change, and what is asked for from outside."""

import dataclasses
import math
import re

import pytest

from dga.io.settings import read_settings
from dga.profiles import EVERYDAY16, PROFILES, MendingConfig, Repair
from dga.systems import parse, parse_all, require_repair, systems


def repair_of(text: str) -> Repair:
    return parse(EVERYDAY16, text).repair


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_every_name_is_the_system_of_that_name(profile):
    for name, system in systems(profile).items():
        assert parse(profile, name) == system
        assert system.name == name
    assert read_settings(parse(profile, "source")) == {}


def test_a_setting_changes_one_thing():
    guided, more = "dga-guided", ":tau=0.3:factor=2"
    plain, changed = (repair_of(name).diffusion for name in (guided, guided + more))
    assert changed.stopping == dataclasses.replace(plain.stopping, tau=0.3)
    assert changed.guidance == dataclasses.replace(plain.guidance, factor=2)
    assert repair_of("dga:depth=8").diffusion.depth == 8
    assert repair_of("dga:horizon=none").diffusion.stopping.horizon is None
    # Of DGA+ a plain name is the usual one's; what has noise is named so.
    plus, tau, noisy = map(repair_of, ("dga-plus", "dga-plus:tau=0.3", "dga-plus:noise_tau=0.9"))
    assert (tau.noise_diffusion, tau.diffusion.stopping.tau) == (plus.noise_diffusion, 0.3)
    assert (noisy.diffusion, noisy.noise_diffusion.stopping.tau) == (plus.diffusion, 0.9)
    assert parse(EVERYDAY16, "dda:ensemble=true").ensemble


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "No method was named"),
        ("magic", "Unknown method 'magic'. Known: source, diffpure"),
        ("tent", "Unknown method 'tent'. Known: source, diffpure"),
        ("dga:speed=3", "Unknown setting speed=3. This method's settings: tau, max_depth"),
        ("source:tau=1", "settings: none"),
        ("dga:tau", "look like dga:tau=0.3"),
        ("dga:tau=high", "'high' is no value for the setting tau"),
        ("dga:steps=many", "'many' is no value for the setting steps"),
        ("dga:tau=1.5", "tau is a number from 0 to 1"),
        ("dga:depth=101", "between 0 and 100"),
        ("dga:horizon=101", "between 0 and 100"),
        ("dga:tau=0.3:tau=0.4", "dga:tau=0.3:tau=0.4 names a setting twice"),
        ("dga-guided:scale=nan", "Numbers are finite; scale is nan"),
        ("dga:steps=0", "steps is a whole number from 1 up, not 0"),
        ("dga:eta=1.5", "eta is a number from 0 to 1"),
        ("dga:eta=nan", "eta is a number from 0 to 1, not nan"),
        ("dga-ancestral:eta=1", "say how many steps"),
        ("dga-guided:factor=0", "factor is a whole number from 1 up, not 0"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(text, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_all(EVERYDAY16, ["source", text] if text else [], parse)


def test_every_depth_is_checked_and_numbers_that_explain_a_picture_are_finite():
    for setting in ("depth", "blur_depth"):
        with pytest.raises(ValueError, match="between 0 and 100, not 500"):
            parse_all(PROFILES["photo"], [f"dga-plus:{setting}=500"], parse)
    with pytest.raises(ValueError, match="objection is nan"):
        MendingConfig(objection=math.nan)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("dga-plus:noise_depth=60", "noise in a photo"),
        ("dga-plus-ensemble:mend_depth=8:noise_tau=0.5", "noise in a photo"),
        ("dga-plus:mend_steps=2", "from depth 0"),
        ("dga-plus:mend_depth=8:mend_sharpen=1", "nothing is sharpened"),
        ("dga:sharpen_regularisation=0.5", "nothing is sharpened"),
        ("dga:depth=8:tau=0.3", "the depth is always 8"),
        ("dga-plus:share=0.5", "only an ensemble"),
    ],
)
def test_a_setting_that_decides_nothing_is_refused(text, reason):
    name = text.rpartition(":")[2].partition("=")[0]
    with pytest.raises(ValueError, match=f"^{name} decides nothing here: {reason}"):
        parse(PROFILES["photo"], text)


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        ("everyday16", "dga-plus:noise_depth=60:blocks=true"),
        ("photo", "dga-plus:mend_depth=8:mend_steps=2:smeared_impulses=false"),
        ("photo", "dga:sharpen=1:sharpen_regularisation=0.5:ensemble=true:share=0.3"),
    ],
)
def test_the_same_where_it_decides_something_is_taken(profile, text):
    assert parse(PROFILES[profile], text).name == text


@pytest.mark.parametrize("name", ["source", "dga-plus-ensemble"])
def test_what_one_picture_cannot_have_is_refused(name):
    with pytest.raises(ValueError, match=re.escape(f"{name} is measured on many pictures")):
        require_repair(parse(EVERYDAY16, name))
