"""The record of a run: complete, in order, and what the library computes."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

import dga
from app.runs.photos import Photo
from app.runs.settings import Settings
from app.runs.subject import Subject
from app.runs.watch import FILM, choose_stopping, compare_methods, run_first_stages
from dga.systems import systems
from tests.fixtures.runs import RECORD_PARTS


def collect(models, subject, settings):
    """The whole record, and the order in which its parts came first."""
    record, order = {}, []
    comparison = compare_methods(models, subject, settings)
    for part in chain(run_first_stages(models, subject), comparison):
        order += [name for name in part if name not in record]
        record |= part
    return record, order


@pytest.fixture(scope="module")
def noisy():
    return Settings(photo="own", damage="gaussian_noise", strength=4, seed=1)


@pytest.fixture(scope="module")
def subject(cat, noisy):
    return Subject.make(Photo("own", cat, "cat"), noisy)


@pytest.fixture(scope="module")
def run(shipped_models, subject, noisy):
    return collect(shipped_models, subject, noisy)


def test_what_the_page_shows_first_comes_first(run, shipped_models):
    record, order = run
    assert set(record) - {"progress"} == RECORD_PARTS
    assert order.index("damaged") < order.index("repaired") < order.index("fixed")
    assert order.index("repaired") < order.index("curve") < order.index("paper")
    assert len(record["film"]) == len(record["depths"]) == len(FILM)
    assert len(record["curve"]["confidence"]) > shipped_models.profile.stopping.horizon


def test_the_page_shows_what_the_library_computes(run, subject, shipped_models, noisy, cat):
    record, _ = run
    damaged = dga.corrupt(cat, "gaussian_noise", severity=4, seed=1)
    assert (subject.damaged == damaged).all()
    ours = dga.repair_photograph(shipped_models, damaged, seed=1)
    assert (subject.result == ours.image).all()
    rule = choose_stopping(shipped_models.profile, noisy)
    profile = replace(shipped_models.profile, stopping=rule)
    chosen = [systems(profile)[name] for name in ("dga", "dga-guided", "dda")]
    run = dga.adapt(shipped_models, damaged, 1, chosen)
    assert record["stop"]["depth"] == run.t_star
    images = subject.images
    for name, row in (("paper", "dga"), ("guided", "dga-guided"), ("fixed", "dda")):
        assert record[name]["reading"]["label"] == run.reconstructions[row].prediction.label
        # batched otherwise, so that roundings differ
        assert np.abs(images[name].astype(int) - run.reconstructions[row].image).max() <= 1
    curve = np.array(record["curve"]["confidence"])
    assert np.allclose(curve, run.confidence[: len(curve)], atol=1e-3)


def test_another_threshold_computes_only_what_depends_on_it(run, subject, shipped_models, noisy):
    record, _ = run
    other, _ = collect(shipped_models, subject, noisy.model_copy(update={"tau": 1.0}))
    assert other["repaired"] is record["repaired"]
    assert other["fixed"] is record["fixed"]
    assert other["stop"]["tau"] == 1.0
    assert other["stop"]["depth"] < record["stop"]["depth"]
    limited, _ = collect(shipped_models, subject, noisy.model_copy(update={"max_depth": 1}))
    assert (limited["stop"]["depth"], limited["stop"]["is_crossed"]) == (1, False)
    assert limited["paper"]["depth"] == 1
    never, _ = collect(shipped_models, subject, noisy.model_copy(update={"tau": 0.0}))
    assert never["stop"]["has_given_up"]
    assert (subject.images["paper"] == subject.damaged).all()
    again, _ = collect(shipped_models, subject, noisy)
    assert again == record


def test_an_undamaged_wide_photo_of_unknown_kind(shipped_models, cat):
    settings, wide = Settings(photo="own", damage="none"), np.tile(cat, (1, 7, 1))
    subject = Subject.make(Photo("own", wide), settings)
    record, order = collect(shipped_models, subject, settings)
    assert order.index("middle") < order.index("repaired")  # its answer does not wait for the whole
    alone = dga.repair_photograph(shipped_models, cat, settings.seed)  # one of seven, its middle
    assert record["middle"]["is_unchanged"] == alone.is_unchanged
    assert record["truth"] is None
    assert record["is_damaged"] is False
    assert record["damaged"]["reading"]["is_right"] is None
    is_same = np.array_equal(subject.result, wide)
    assert record["repaired"]["is_unchanged"] == is_same
    assert ("left it alone" in record["headline"]) == is_same
