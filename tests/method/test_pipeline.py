"""One adaptation, start to end, on tiny models."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
import torch
from dga.outcomes import judge_further, outcomes_of

from dga.diffusion import forward_path
from dga.images import from_tensor, to_tensor
from dga.networks.compute import Compute
from dga.networks.models import Models
from dga.networks.unet import Denoiser
from dga.pipeline import (
    Adaptation,
    Denoised,
    Explained,
    Halted,
    Judged,
    Noised,
    Outcomes,
    Rebuilt,
    Reconstruction,
    Route,
    Scored,
    Searched,
    Stepped,
    adapt,
    adapt_many,
    adapt_steps,
    default_routes,
    rebuild,
)
from dga.profiles import EVERYDAY16
from dga.stopping import Stop, choose_depth, confidence_from_logits

GREY_LEVEL = 1 / 127.5  # of pictures in [-1, 1]; sums of other batches and threads differ by less


@pytest.fixture
def picture() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)


def _stopping(models: Models, **changes: object) -> object:
    return dataclasses.replace(models.profile.stopping, **changes)  # type: ignore[arg-type]


def test_events_come_in_the_order_of_the_algorithm(
    tiny_models: Models, picture: np.ndarray
) -> None:
    stopping = _stopping(tiny_models, tau=0.0)
    events = list(adapt_steps(tiny_models, picture, stopping=stopping))  # type: ignore[arg-type]
    kinds = Counter(type(event) for event in events)
    assert kinds[Noised] == kinds[Halted] == kinds[Adaptation] == 1
    assert kinds[Explained] == 1
    assert kinds[Scored] > 0
    assert kinds[Reconstruction] == 4
    steps = Counter(event.route.name for event in events if isinstance(event, Denoised))
    assert steps.pop("dga-plus", 0) <= 12
    assert steps == {"dga": 12, "dga-guided": 12, "dda": 5}
    depths = [d for e in events if isinstance(e, Judged)
              for d in range(e.first, e.first + len(e.confidence))]  # fmt: skip
    assert depths == list(range(101))
    assert isinstance(events[0], Noised)
    assert np.array_equal(events[0].states[0], picture)
    assert events.index(next(e for e in events if isinstance(e, Halted))) == 1 + kinds[Judged]
    assert isinstance(events[-1], Adaptation)
    guided = [e for e in events if isinstance(e, Denoised) and e.route.name == "dga-guided"]
    assert [(e.step, e.steps, e.depth) for e in guided] == [(i, 12, 12 - i) for i in range(1, 13)]


def test_every_noise_path_is_told(tiny_models: Models, picture: np.ndarray) -> None:
    stopping = _stopping(tiny_models, paths=3)
    events = list(adapt_steps(tiny_models, picture, stopping=stopping, routes=[]))  # type: ignore[arg-type]
    curves = [
        np.concatenate([e.confidence for e in events if isinstance(e, Judged) and e.path == number])
        for number in range(3)
    ]
    run = events[-1]
    assert isinstance(run, Adaptation)
    assert np.array_equal(np.stack(curves), confidence_from_logits(run.logits))
    assert not np.array_equal(curves[0], curves[1])


def test_the_record_holds_together(tiny_models: Models, picture: np.ndarray) -> None:
    run = adapt(tiny_models, picture, seed=3)
    assert run.logits.shape == (1, 101)
    assert run.confidence.shape == (101,)
    assert run.stop == choose_depth(run.logits, run.stopping)
    path = forward_path(tiny_models.schedule, to_tensor(picture), 3)
    assert np.array_equal(run.x_t_star, from_tensor(path[run.t_star]))
    assert list(run.reconstructions) == ["dga", "dga-guided", "dda", "dga-plus"]
    assert run.reconstructions["dga"].depth == run.t_star
    assert run.reconstructions["dda"].depth == 5
    for result in run.reconstructions.values():
        assert sum(result.prediction.probabilities) == pytest.approx(1, abs=1e-5)
        assert result.prediction.top(5)[0] == (
            result.prediction.label,
            result.prediction.probability,
        )


def test_depth_zero_returns_the_input_bit_for_bit(tiny_models: Models, picture: np.ndarray) -> None:
    stopping = _stopping(tiny_models, tau=1.0)
    run = adapt(tiny_models, picture, stopping=stopping)  # type: ignore[arg-type]
    assert run.stop == Stop(0, True)
    assert np.array_equal(run.reconstructions["dga"].image, picture)
    assert np.array_equal(run.reconstructions["dga-guided"].image, picture)
    assert np.array_equal(run.x_t_star, picture)
    assert not np.array_equal(run.reconstructions["dda"].image, picture)


def test_same_seed_same_bits(tiny_models: Models, picture: np.ndarray) -> None:
    first, again, other = (adapt(tiny_models, picture, seed=s) for s in (4, 4, 5))
    assert np.array_equal(first.logits, again.logits)
    for name, result in first.reconstructions.items():
        assert np.array_equal(result.image, again.reconstructions[name].image)
    assert not np.array_equal(first.logits, other.logits)


def test_batch_of_one_agrees_with_batch_of_eight(tiny_models: Models) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (8, 32, 32, 3), dtype=np.uint8)
    x = to_tensor(pixels)
    depths, seeds = [0, 3, 9, 1, 9, 4, 2, 7], list(range(8))
    states = torch.stack(
        [forward_path(tiny_models.schedule, x[i], s)[depths[i]] for i, s in enumerate(seeds)]
    )
    for guidance in (None, tiny_models.profile.guidance):
        together = rebuild(tiny_models, states, x, depths, seeds, guidance)
        for i in range(8):
            one = slice(i, i + 1)
            alone = rebuild(tiny_models, states[one], x[one], depths[one], seeds[one], guidance)
            torch.testing.assert_close(alone[0], together[i], atol=GREY_LEVEL / 2, rtol=0)
        assert torch.equal(together[0], x[0])


def test_moving_tau_needs_no_network(tiny_models: Models, picture: np.ndarray) -> None:
    run = adapt(tiny_models, picture, routes=[])
    rules = [dataclasses.replace(run.stopping, tau=tau) for tau in (0.1, 0.4, 0.6, 0.99)]
    depths = [choose_depth(run.logits, rule).t_star for rule in rules]
    assert depths == sorted(depths, reverse=True)
    assert choose_depth(run.logits, run.stopping) == run.stop


@pytest.mark.parametrize("tau", [0.0, 0.2, 0.45, 0.5, 0.55, 1.0])
def test_a_curve_to_some_depth_stops_where_the_whole_one_does(
    tiny_models: Models, picture: np.ndarray, tau: float
) -> None:
    stopping = _stopping(tiny_models, tau=tau, paths=2, horizon=60)
    whole = adapt(tiny_models, picture, 3, stopping, routes=[])  # type: ignore[arg-type]
    *_, run = adapt_steps(tiny_models, picture, 3, stopping, [], extent=16)  # type: ignore[arg-type]
    assert isinstance(run, Adaptation)
    known = run.logits.shape[1]
    assert run.stop == whole.stop
    assert known == 61 if whole.stop.hopeless else 17 <= known <= 61
    assert np.allclose(run.logits, whole.logits[:, :known], atol=1e-5)
    *pieces, rest = judge_further(tiny_models, picture, 3, 2, known)
    assert np.allclose(rest, whole.logits[:, known:], atol=1e-5)
    told = [e.confidence for e in pieces if isinstance(e, Judged) and e.path == 1]
    assert np.allclose(np.concatenate(told), confidence_from_logits(rest[1]))


@pytest.mark.parametrize("name", ["dga", "dga-guided"])
def test_outcome_at_a_depth_is_what_a_run_from_there_gives(
    tiny_models: Models, picture: np.ndarray, name: str
) -> None:
    route = default_routes(tiny_models.profile)[name]
    *progress, outcomes = outcomes_of(tiny_models, picture, 3, route, 20)
    assert isinstance(outcomes, Outcomes)
    assert progress[-1] == (12, 12)
    assert np.array_equal(outcomes.images[0], picture)
    for depth in (1, 7, 20):
        fixed = dataclasses.replace(route, depth=depth)
        alone = adapt(tiny_models, picture, 3, routes=[fixed]).reconstructions[name]
        assert np.abs(outcomes.images[depth].astype(int) - alone.image).max() <= 1
        assert outcomes.predictions[depth].label == alone.prediction.label


def test_the_same_depth_is_not_rebuilt_twice(tiny_models: Models, picture: np.ndarray) -> None:
    """DGA + G that went to the maximum, where DDA starts: one picture, made once."""
    stopping = _stopping(tiny_models, tau=0.0, max_depth=5)
    events = list(adapt_steps(tiny_models, picture, 3, stopping))  # type: ignore[arg-type]
    assert {e.route.name for e in events if isinstance(e, Denoised)} >= {"dga", "dga-guided"}
    assert not any(e.route.name == "dda" for e in events if isinstance(e, Denoised))
    run = events[-1]
    assert isinstance(run, Adaptation)
    guided, dda = run.reconstructions["dga-guided"], run.reconstructions["dda"]
    assert dda == dataclasses.replace(guided, route=dda.route)
    assert dda.route.name == "dda"


def test_every_depth_of_a_run_is_told_by_the_way(tiny_models: Models, picture: np.ndarray) -> None:
    events = list(adapt_steps(tiny_models, picture, 3, extent=16, outcomes=True))
    noised, plus = (event for event in events if isinstance(event, Outcomes))
    run = events[-1]
    assert isinstance(run, Adaptation)
    assert noised.route is None
    assert np.array_equal(noised.images[run.t_star], run.x_t_star)
    assert noised.predictions[run.t_star].label == run.x_t_star_prediction.label
    assert len(plus.images) == len(plus.predictions) == 17
    result, explained = run.reconstructions["dga-plus"], run.explained
    assert explained is not None
    assert plus.exact == explained.denoised
    if plus.exact or not result.depth:
        assert np.abs(plus.images[result.depth].astype(int) - result.image).max() <= 1


@pytest.mark.parametrize("name", ["dga", "dga-guided", "dda"])
def test_many_pictures_end_as_each_of_them_alone(tiny_models: Models, name: str) -> None:
    """Judged no deeper than needed and rebuilt together: the same depths and pictures."""
    rng = np.random.default_rng(5)
    coarse = rng.integers(0, 255, (5, 4, 4, 3), dtype=np.uint8)
    pictures = coarse.repeat(8, 1).repeat(8, 2)
    seeds, route = [3, 4, 5, 6, 7], default_routes(tiny_models.profile)[name]
    alone = [adapt(tiny_models, p, s, None, [route]) for p, s in zip(pictures, seeds, strict=True)]
    taus = sorted(float(run.confidence[: run.stopping.max_depth].min()) for run in alone)
    rule = dataclasses.replace(tiny_models.profile.stopping, tau=taus[2] + 1e-6)
    alone = [adapt(tiny_models, p, s, rule, [route]) for p, s in zip(pictures, seeds, strict=True)]
    if name != "dda":
        assert len({run.stop for run in alone}) > 1  # some cross, others do not
    events = list(adapt_many(tiny_models, pictures, seeds, rule, route))
    done = {event.picture: event for event in events if isinstance(event, Rebuilt)}
    assert sorted(done) == [0, 1, 2, 3, 4]
    for number, run in enumerate(alone):
        result = run.reconstructions[name]
        assert done[number].stop.t_star == result.depth
        difference = done[number].image.astype(int) - result.image.astype(int)
        assert np.abs(difference).max() <= 1
    steps = [event for event in events if isinstance(event, Stepped)]
    assert [event.step for event in steps] == list(range(steps[0].steps + 1))
    found = [event.picture for event in events if isinstance(event, Searched) and event.stops]
    assert found == [0, 1, 2, 3, 4]


def test_one_search_serves_all_routes(tiny_models: Models) -> None:
    """Judged once, rebuilt once where routes are alike; each ends as by its route alone."""
    rng = np.random.default_rng(5)
    pictures = rng.integers(0, 255, (4, 4, 4, 3), dtype=np.uint8).repeat(8, 1).repeat(8, 2)
    rule, seeds = tiny_models.profile.stopping, [3, 4, 5, 6]
    curves = [adapt(tiny_models, p, s, rule, []) for p, s in zip(pictures, seeds, strict=True)]
    taus = sorted(float(run.confidence[: rule.max_depth].min()) for run in curves)
    rule = dataclasses.replace(rule, tau=taus[1] + 1e-6)
    routes = tuple(default_routes(tiny_models.profile, rule.max_depth).values())
    assert routes[1].alike(routes[2])
    alone: dict[tuple[int, str], Reconstruction] = {}
    for number, (picture, seed) in enumerate(zip(pictures, seeds, strict=True)):
        for route in routes:
            run = adapt(tiny_models, picture, seed, rule, [route])
            alone[number, route.name] = run.reconstructions[route.name]
    events = list(adapt_many(tiny_models, pictures, seeds, rule, *routes))
    done = {(e.picture, e.route): e for e in events if isinstance(e, Rebuilt)}
    assert done.keys() == alone.keys()
    for key, result in alone.items():
        assert done[key].stop.t_star == result.depth
        assert np.abs(done[key].image.astype(int) - result.image).max() <= 1
        assert done[key].prediction.label == result.prediction.label
        assert (done[key].explanation is not None) == (key[1] == "dga-plus")
    stops = [e.stops for e in events if isinstance(e, Searched) and e.stops]
    assert {stop["dga"].crossed for stop in stops} == {True, False}
    depths = [stop["dga-guided"].t_star for stop in stops]
    assert all(stop["dga"] is stop["dga-guided"] for stop in stops)
    # Pictures that DGA + G takes to DDA's depth go back once for both.
    batches = [e.under_way for e in events if isinstance(e, Stepped)]
    together = {number for batch in batches for number, names in batch if len(names) == 2}
    assert together == {i for i, depth in enumerate(depths) if depth == rule.max_depth} != set()


def test_dga_plus_is_the_same_alone_beside_others_and_of_many(tiny_models: Models) -> None:
    rng = np.random.default_rng(5)
    flat = np.full((1, 32, 32, 3), 90, np.uint8)
    noisy = rng.integers(0, 255, (2, 32, 32, 3), dtype=np.uint8)
    coarse = rng.integers(90, 150, (2, 4, 4, 3), dtype=np.uint8).repeat(8, 1).repeat(8, 2)
    pictures, seeds = np.concatenate([flat, noisy, coarse]), [3, 4, 5, 6, 7]
    routes = default_routes(tiny_models.profile)
    stopping = tiny_models.profile.stopping
    events = list(adapt_many(tiny_models, pictures, seeds, stopping, routes["dga-plus"]))
    done = {event.picture: event for event in events if isinstance(event, Rebuilt)}
    assert sorted(done) == [0, 1, 2, 3, 4]
    for number, (picture, seed) in enumerate(zip(pictures, seeds, strict=True)):
        alone = adapt(tiny_models, picture, seed, routes=[routes["dga-plus"]])
        beside = adapt(tiny_models, picture, seed, routes=[routes["dga"], routes["dga-plus"]])
        result = alone.reconstructions["dga-plus"]
        assert alone.explained is not None
        assert beside.explained is not None
        assert (alone.stop, alone.stopping) == (alone.explained.stop, EVERYDAY16.plus.stopping)
        assert beside.explained.explanation.degradation == alone.explained.explanation.degradation
        assert np.array_equal(beside.reconstructions["dga-plus"].image, result.image)
        assert done[number].stop == alone.stop
        assert np.abs(done[number].image.astype(int) - result.image).max() <= 1
        assert result.steps == len(alone.explained.route.visited(result.depth)) - 1
        assert np.array_equal(result.image, picture) or not alone.explained.unchanged
        assert alone.explained.unchanged or number > 0


def test_several_noise_paths_are_averaged(tiny_models: Models, picture: np.ndarray) -> None:
    stopping = _stopping(tiny_models, paths=3)
    run = adapt(tiny_models, picture, stopping=stopping, routes=[])  # type: ignore[arg-type]
    assert run.logits.shape == (3, 101)
    alone = adapt(tiny_models, picture, routes=[])
    assert np.array_equal(run.logits[0], alone.logits[0])
    assert not np.array_equal(run.logits[0], run.logits[1])


def test_bad_requests_are_sentences(tiny_models: Models, picture: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"pictures of shape \(32, 32, 3\)"):
        adapt(tiny_models, picture[:16])
    with pytest.raises(ValueError, match="from 0 to 1"):
        adapt(tiny_models, picture, stopping=_stopping(tiny_models, tau=2.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="from 1 to 100"):
        default_routes(tiny_models.profile, 101)


def test_networks_that_return_nonsense_are_noticed(
    tiny_models: Models, picture: np.ndarray
) -> None:
    class Broken(torch.nn.Module):
        def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
            return torch.full((len(x), 6, *x.shape[2:]), float("nan"))

    broken = dataclasses.replace(tiny_models, denoiser=Broken())
    with pytest.raises(FloatingPointError, match="not numbers"):
        adapt(broken, picture, routes=[Route("dda", "DDA", depth=2)])


def test_bfloat16_stays_close_to_float32(tiny_models: Models) -> None:
    compute = Compute(torch.device("cpu"), torch.bfloat16)
    network = Denoiser(tiny_models.profile.denoiser)
    network.load_state_dict(tiny_models.denoiser.state_dict())
    fast = compute.prepare(network.eval())
    x = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    time = torch.tensor([100, 400])
    exact = tiny_models.denoiser(x, time)
    error = (fast(x, time) - exact).abs().mean() / exact.abs().mean()
    assert 0 < error < 0.02


def test_unknown_device_and_precision_are_named() -> None:
    with pytest.raises(ValueError, match="auto, float32, bfloat16"):
        Compute.choose("cpu", "float8")
    with pytest.raises(ValueError, match="cannot be used here"):
        Compute.choose("cuda:99")
