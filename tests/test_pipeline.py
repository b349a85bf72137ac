"""The one loop: what comes out, what it costs, and what is not done because nobody needs it."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from dga.adaptation import adapt, judge_curve
from dga.diffusion import FewSteps, ForwardPath, ReverseProcess
from dga.images import from_tensor, to_tensor
from dga.networks.models import Models
from dga.pipeline import ForwardProcess
from dga.profiles import Diffusion
from dga.steps import take_result
from dga.stopping import Stop, choose_depth
from dga.systems import DEFAULT_SYSTEMS, System, parse
from tests.fixtures.runs import OutOfMemory, apart, counted, repaired


def systems_of(models: Models, *texts: str) -> list[System]:
    return [parse(models.profile, text) for text in texts]


def repairs_of(models: Models, *texts: str) -> list[Any]:
    return [system.repair for system in systems_of(models, *texts)]


# What comes out


def test_every_picture_ends_as_it_is_alone_in_any_order_and_company(choosy_models, pictures):
    """Each by every repair and each repair by itself: the same depths, and pictures to a level."""
    repairs = repairs_of(choosy_models, *DEFAULT_SYSTEMS, "diffpure", "dda-ancestral")
    together = repaired(choosy_models, pictures, repairs)
    assert len(together) == len(pictures) * len(repairs)
    for (i, repair), (start, rebuilt) in together.items():
        alone = repaired(choosy_models, pictures[i : i + 1], [repair], 3 + i)[0, repair]
        assert alone[0].stop == start.stop
        assert alone[0].explanation.degradation == start.explanation.degradation
        assert alone[0].steps == rebuilt.start.steps
        assert apart(alone[1].image, rebuilt.image) <= 1
        assert not start.is_unchanged or np.array_equal(from_tensor(rebuilt.image), pictures[i])
    ends = {repair: [together[i, repair][0] for i in range(6)] for repair in repairs}
    assert len({one.stop for one in ends[repairs[0]]}) > 1  # some cross, others do not
    plus = ends[repairs[3]]
    assert [one.is_unchanged for one in plus] == [True, False, False, False, True, False]
    assert [i for i, one in enumerate(plus) if one.explanation.degradation.noise] == [1, 5]
    assert plus[3].explanation.degradation.exposure.gain > 2


def test_the_record_holds_together(choosy_models, pictures):
    run, again = (adapt(choosy_models, pictures[4], seed=3) for _ in range(2))
    assert run.forward.logits.shape == (101,)
    assert np.array_equal(run.forward.logits, again.forward.logits)
    assert run.forward.stop == choose_depth(run.forward.logits, run.stopping) == Stop(10, True)
    schedule = choosy_models.schedule
    path = ForwardPath(schedule, to_tensor(pictures[4]), 3).up_to(schedule.steps)
    assert np.array_equal(run.forward.x_t_star, from_tensor(path[run.t_star]))
    process = ReverseProcess(schedule, choosy_models.denoiser, FewSteps(12, 1.0))
    *_, end = process.run(path[[10]], [10], [3])
    assert np.array_equal(from_tensor(end.x)[0], run.reconstructions["dga"].image)
    depths = {name: result.depth for name, result in run.reconstructions.items()}
    assert depths == {"dga": 10, "dga-guided": 10, "dda": 5, "dga-plus": 0}


def test_only_what_is_asked_for_is_computed(choosy_models, pictures):
    alone = adapt(choosy_models, pictures[5], 3, systems_of(choosy_models, "dga-plus"))
    assert (alone.forward, alone.t_star, alone.x_t_star, len(alone.confidence)) == (*[None] * 3, 0)
    assert len(alone.plus.start.confidence) < 20
    judged = adapt(choosy_models, pictures[4], 3, [])  # by nobody: the paper's path alone
    assert (judged.forward.stop, judged.reconstructions) == (Stop(10, True), {})


def test_depth_zero_returns_the_input_bit_for_bit(tiny_models, cat):
    picture = np.ascontiguousarray(cat[::2, ::2])
    chosen = systems_of(tiny_models, "dga:tau=1", "dga:depth=0", "dda")
    done = adapt(tiny_models, picture, 0, chosen)
    assert done.forward.stop == Stop(0, True)
    left, zero, dda = (result.image for result in done.reconstructions.values())
    assert np.array_equal(left, picture)
    assert np.array_equal(zero, picture)
    assert np.array_equal(done.forward.x_t_star, picture)
    assert not np.array_equal(dda, picture)


@pytest.mark.parametrize("tau", [0.0, 0.3, 0.5, 1.0])
def test_a_curve_to_some_depth_stops_where_the_whole_one_does(choosy_models, pictures, tau):
    chosen = systems_of(choosy_models, f"dga:tau={tau}:horizon=60")
    whole = adapt(choosy_models, pictures[4], 3, chosen)
    process = ForwardProcess(choosy_models, to_tensor(pictures[4]), 3)
    short = take_result(judge_curve(process, chosen[0].repair.diffusion.stopping, 16))
    known = len(short.logits)
    assert short.stop == whole.forward.stop
    assert known == 61 if whole.forward.stop.has_given_up else 17 <= known <= 61
    assert np.allclose(short.logits, whole.forward.logits[:known], atol=1e-5)


def test_a_fixed_depth_asks_no_discriminator(choosy_models, pictures):
    models = counted(choosy_models)
    repaired(models, pictures[5:], repairs_of(models, "dda", "dga-guided:depth=3"))
    assert (models.discriminator.shown, models.explainer.shown) == (0, 0)
    assert models.denoiser.shown == 5 + 3


@pytest.mark.parametrize(("i", "looked"), [(0, 0), (4, 6)], ids=["one colour", "source data"])
def test_what_is_left_alone_costs_no_denoising(choosy_models, pictures, i, looked):
    models = counted(choosy_models)
    (plus,) = repairs_of(models, "dga-plus")
    ((start, _),) = repaired(models, pictures[i : i + 1], [plus]).values()
    assert start.is_unchanged
    assert (models.explainer.shown, models.denoiser.shown) == (looked, 0)


def test_memory_that_runs_out_is_a_sentence(choosy_models, pictures):
    small = dataclasses.replace(choosy_models, denoiser=OutOfMemory())
    with pytest.raises(MemoryError, match=r"Memory ran out .*2 GiB\): take fewer pictures"):
        adapt(small, pictures[2], 0, systems_of(small, "dda"))


# What is refused


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda m, p: adapt(m, p[:16]), r"pictures of shape \(32, 32, 3\)"),
        (lambda m, p: adapt(m, p / 255), "in 8 bits"),
        (lambda m, p: adapt(m, p, 0, systems_of(m, "source")), "evaluate"),
    ],
)
def test_bad_requests_are_sentences(choosy_models, pictures, work, words):
    with pytest.raises(ValueError, match=words):
        work(choosy_models, pictures[2])
    with pytest.raises(ValueError, match="a fixed depth or a stopping rule"):
        Diffusion()
