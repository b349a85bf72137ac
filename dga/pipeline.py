"""Discriminator-guided adaptive diffusion of one picture, start to end."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.degradation import to_levels
from dga.diffusion import ANCESTRAL, ReverseStep, Sampler, forward_path, reverse
from dga.discriminator import chunk_size, curve_chunks
from dga.explanation import Explanation, Scored
from dga.guidance import structural_guide
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction, predict
from dga.networks.models import Models
from dga.profiles import GuidanceConfig, PlusConfig, Profile, StoppingConfig
from dga.restoration import Entered, enter, last, posterior_mean
from dga.sampling import FewSteps, sampler_of
from dga.stopping import Stop, choose_depth, confidence_from_logits, is_decided
from dga.titles import SYSTEMS


@dataclass(frozen=True)
class Route:
    """How a picture is rebuilt: from t* (``depth`` None) or a fixed depth, guided or not.

    ``sampler``: every depth in turn, or fewer steps (:func:`dga.sampling.few_steps`).
    ``plus``: DGA+ instead, which finds its own start and way (:mod:`dga.restoration`).
    """

    name: str
    title: str
    depth: int | None = None
    guidance: GuidanceConfig | None = None
    sampler: Sampler = ANCESTRAL
    plus: PlusConfig | None = None

    def visited(self, t_star: int) -> Sequence[int]:
        """Depths of the way back, falling, from t* or the fixed depth to 0; not those of DGA+."""
        return self.sampler.visited(t_star if self.depth is None else self.depth)

    def alike(self, other: Route) -> bool:
        """Whether both give the same picture from the same depth."""
        mine, theirs = (self.guidance, self.sampler), (other.guidance, other.sampler)
        return mine == theirs and not (self.plus or other.plus)


def default_routes(profile: Profile, dda_depth: int | None = None) -> dict[str, Route]:
    """DGA, DGA + G, DDA and DGA+ with a profile's settings.

    Raises ``ValueError`` for a bad depth.
    """
    depth = profile.dda_depth if dda_depth is None else dda_depth
    if not 1 <= depth <= profile.schedule.steps:
        raise ValueError(f"DDA's depth is from 1 to {profile.schedule.steps}, not {depth}.")
    few = sampler_of(profile.sampling)
    routes = (
        Route("dga", SYSTEMS["dga"], sampler=few),
        Route("dga-guided", SYSTEMS["dga-guided"], None, profile.guidance, few),
        Route("dda", SYSTEMS["dda"], depth, profile.dda_guidance, few),
        plus_route(profile),
    )
    return {route.name: route for route in routes}


def plus_route(profile: Profile) -> Route:
    """DGA+ with a profile's settings."""
    return Route("dga-plus", SYSTEMS["dga-plus"], plus=profile.plus)


def taken(route: Route, denoised: bool) -> Route:
    """DGA+ from t* on: in one step by the posterior mean where noise is the damage, or sampled."""
    assert route.plus is not None
    if denoised:
        return replace(route, guidance=None, sampler=FewSteps(1))
    sampler = FewSteps(route.plus.steps, route.plus.eta)
    return replace(route, guidance=route.plus.guidance, sampler=sampler)


def ancestral_routes(profile: Profile, dda_depth: int | None = None) -> dict[str, Route]:
    """The same, but for DGA+, with every depth in turn: ``dga-ancestral`` ..."""
    routes = default_routes(profile.ancestral, dda_depth).items()
    return {
        f"{name}-ancestral": replace(r, name=f"{name}-ancestral", title=f"{r.title} (ancestral)")
        for name, r in routes
        if not r.plus
    }


@dataclass(frozen=True)
class Noised:
    """Event: the picture's own noise path is drawn. ``states``: uint8 ``[T + 1, H, W, 3]``."""

    states: Pixels


@dataclass(frozen=True)
class Judged:
    """Event: confidence at depths ``first``, ``first + 1``, ... of noise path ``path``."""

    first: int
    confidence: NDArray[np.float64]
    path: int = 0


@dataclass(frozen=True)
class Halted:
    """Event: the forward process stopped. ``x_t_star``: uint8 ``[H, W, 3]``."""

    stop: Stop
    logits: NDArray[np.float64]
    x_t_star: Pixels
    prediction: Prediction
    seconds: float


@dataclass(frozen=True)
class Explained:
    """Event and result of DGA+: what was found, and where the noise-aware path halted.

    ``route``: as it is taken from here (:func:`taken`); ``restored``:
    after the inverse, and ``x_t_star``: uint8 ``[H, W, 3]``; ``confidence``: at depths
    ``explanation.entry``, and so on, as far as it was needed; ``unchanged``: the picture is
    returned bit for bit.
    """

    route: Route
    explanation: Explanation
    restored: Pixels
    x_t_star: Pixels
    confidence: NDArray[np.float64]
    stop: Stop
    unchanged: bool
    seconds: float

    @property
    def denoised(self) -> bool:
        """Whether the posterior mean is the answer: no step of it is guided."""
        return self.route.guidance is None


@dataclass(frozen=True)
class Denoised:
    """Event: one reverse step. ``depth`` was just reached; pictures are uint8 ``[H, W, 3]``."""

    route: Route
    step: int
    steps: int
    depth: int
    x: Pixels
    x0_hat: Pixels


@dataclass(frozen=True)
class Reconstruction:
    """Event and result: one rebuilt picture, uint8 ``[H, W, 3]``, from ``depth`` in ``steps``."""

    route: Route
    depth: int
    image: Pixels
    prediction: Prediction
    seconds: float
    steps: int


@dataclass(frozen=True)
class Outcomes:
    """Event: what comes out at each depth 0, 1, ...: uint8 ``[n, H, W, 3]``, and how it is read.

    ``route``: None for the noised states themselves; ``exact``: whether this is what the route
    ends with at that depth, else it is its one-step estimate.
    """

    route: Route | None
    images: Pixels
    predictions: Sequence[Prediction]
    exact: bool = True


@dataclass(frozen=True)
class Searched:
    """Event of :func:`adapt_many`: a picture was judged deeper.

    ``stops``: where each route rebuilds it from, by name; empty until that is known.
    """

    picture: int
    stops: Mapping[str, Stop]


@dataclass(frozen=True)
class Stepped:
    """Event of :func:`adapt_many`: one reverse step, after the pictures that it finished.

    ``under_way``: pictures by position, with the routes that each is rebuilt for; ``images``:
    uint8 ``[b, S, S, 3]``; ``step`` of ``steps`` of all, from 0.
    """

    under_way: Sequence[tuple[int, Sequence[str]]]
    images: Pixels
    step: int
    steps: int


@dataclass(frozen=True)
class Rebuilt:
    """Event of :func:`adapt_many`: a picture is done by one route. ``image``: uint8 ``[S, S, 3]``.

    ``explanation``: what DGA+ found.
    """

    picture: int
    route: str
    stop: Stop
    image: Pixels
    prediction: Prediction
    explanation: Explanation | None = None


@dataclass(frozen=True)
class Adaptation:
    """One finished run: all that a page, a figure or a table needs.

    ``logits``: ``[paths, T + 1]`` of the paper's path, fewer depths where an ``extent`` was
    given, ``[1, 0]`` where DGA+ alone was asked for; pictures are
    uint8 ``[H, W, 3]``; ``explained``: what DGA+ found, if it was asked for.
    """

    profile: Profile
    stopping: StoppingConfig
    seed: int
    dtype: str
    device: str
    input: Pixels
    input_prediction: Prediction
    logits: NDArray[np.float64]
    stop: Stop
    x_t_star: Pixels
    x_t_star_prediction: Prediction
    curve_seconds: float
    reconstructions: Mapping[str, Reconstruction]
    explained: Explained | None = None

    @property
    def t_star(self) -> int:
        return self.stop.t_star

    @property
    def confidence(self) -> NDArray[np.float64]:
        """P(corrupted | x_k) at depths 0...T, averaged over noise paths."""
        averaged: NDArray[np.float64] = confidence_from_logits(self.logits).mean(0)
        return averaged


Event = (
    Noised
    | Judged
    | Halted
    | Scored
    | Explained
    | Denoised
    | Reconstruction
    | Outcomes
    | Adaptation
)


def adapt(
    models: Models,
    pixels: Pixels,
    seed: int = 0,
    stopping: StoppingConfig | None = None,
    routes: Sequence[Route] | None = None,
) -> Adaptation:
    """Adapt one picture, uint8 ``[S, S, 3]`` of the profile's size.

    The same arguments give the same result. Raises ``ValueError`` for another size
    or a bad setting and ``FloatingPointError`` if a network returns no numbers.
    """
    *_, last = adapt_steps(models, pixels, seed, stopping, routes)
    assert isinstance(last, Adaptation)
    return last


def adapt_steps(
    models: Models,
    pixels: Pixels,
    seed: int = 0,
    stopping: StoppingConfig | None = None,
    routes: Sequence[Route] | None = None,
    extent: int | None = None,
    outcomes: bool = False,
) -> Iterator[Event]:
    """:func:`adapt`, a step at a time. The last event is the :class:`Adaptation`.

    ``extent``: judge the curve to this depth, and deeper only where the stop depends on it;
    ``outcomes``: tell also how the noised states and DGA+ are read at each depth to there.
    """
    profile = models.profile
    stopping = stopping or profile.stopping
    routes = tuple(default_routes(profile).values()) if routes is None else routes
    check_pixels(pixels, profile)
    x_input = to_tensor(pixels)[None].to(models.device)  # [1, 3, S, S]
    input_prediction = classify(models, x_input)

    # DGA+ alone needs no path but its own.
    entered: Entered | None = None
    explained: Explained | None = None
    if routes and all(route.plus for route in routes) and extent is None:
        entered, explained = yield from _explain(models, x_input[0], seed, routes[0])
        assert routes[0].plus is not None
        stopping = routes[0].plus.stopping
        path, stop, logits = entered.states, entered.stop, np.empty((1, 0))
        yield Noised(from_tensor(path))
        curve_seconds = explained.seconds
    else:
        # Forward: noise goes in until the discriminator is no longer sure.
        started = time.perf_counter()
        path = forward_path(models.schedule, x_input[0], seed)  # [T + 1, 3, S, S]
        yield Noised(from_tensor(path))
        logits = yield from _judge(models, path, x_input, seed, stopping, extent)
        stop = choose_depth(logits, stopping)
        curve_seconds = time.perf_counter() - started
    x_t_star = path[stop.t_star][None]
    halted = Halted(
        stop=stop,
        logits=logits,
        x_t_star=from_tensor(x_t_star[0]),
        prediction=classify(models, x_t_star),
        seconds=curve_seconds,
    )
    yield halted
    depths = range((profile.schedule.steps if extent is None else extent) + 1)
    if outcomes:
        noised = path[: len(depths)]
        yield Outcomes(None, from_tensor(noised), read(models, noised))

    # Reverse: each route rebuilds the picture from its own depth.
    done: dict[str, Reconstruction] = {}
    for route in routes:
        if route.plus:
            if entered is None:
                entered, explained = yield from _explain(models, x_input[0], seed, route)
            assert explained is not None
            walk = _rebuild_entered(models, entered, explained, pixels, seed)
        else:
            depth = stop.t_star if route.depth is None else route.depth
            same = (r for r in done.values() if r.depth == depth and r.route.alike(route))
            if twin := next(same, None):
                done[route.name] = replace(twin, route=route)
                yield done[route.name]
                continue
            walk = _rebuild(models, path, x_input, pixels, depth, route, seed)
        done[route.name] = yield from walk
        yield done[route.name]
        if outcomes and route.plus:
            assert entered is not None
            assert explained is not None
            yield _one_step_outcomes(models, entered, explained, pixels, depths)
    yield Adaptation(
        profile=profile,
        stopping=stopping,
        seed=seed,
        dtype=models.compute.precision,
        device=str(models.device),
        input=pixels,
        input_prediction=input_prediction,
        logits=logits,
        stop=stop,
        x_t_star=halted.x_t_star,
        x_t_star_prediction=halted.prediction,
        curve_seconds=halted.seconds,
        reconstructions=done,
        explained=explained,
    )


def _judge(
    models: Models,
    path: Tensor,
    x_input: Tensor,
    seed: int,
    stopping: StoppingConfig,
    extent: int | None,
) -> Generator[Judged, None, NDArray[np.float64]]:
    """Yield each path's confidence in pieces; return logits ``[paths, K]``."""
    paths = [
        forward_path(models.schedule, x_input[0], path_seed(seed, number)) if number else path
        for number in range(max(1, stopping.paths))
    ]
    logits, known = np.empty((len(paths), 0)), len(path) if extent is None else extent + 1
    while True:
        more = yield from judge_paths(models, paths, logits.shape[1], known)
        logits = np.concatenate([logits, more], axis=1)
        if known >= len(path) or is_decided(logits, stopping):
            return logits
        known = min(known + chunk_of(path), stopping.deepest + 1)


def judge_paths(
    models: Models, paths: Sequence[Tensor], first: int, end: int
) -> Generator[Judged, None, NDArray[np.float64]]:
    """Judge noise paths, each ``[T + 1, 3, H, W]``, at depths ``first`` to ``end`` - 1.

    Yields confidence in pieces; returns logits ``[paths, end - first]``.
    """
    rows = []
    for number, states in enumerate(paths):
        pieces = []
        walk = curve_chunks(models.schedule, models.discriminator, states[:end], first=first)
        for depth, logits in walk:
            values = logits.double().numpy()
            pieces.append(values)
            yield Judged(depth, confidence_from_logits(values), number)
        rows.append(np.concatenate(pieces))
    return np.stack(rows)


def _explain(
    models: Models, x: Tensor, seed: int, route: Route
) -> Generator[Scored | Explained, None, tuple[Entered, Explained]]:
    """DGA+ up to t*, each candidate's score as it is judged."""
    assert route.plus is not None
    started = time.perf_counter()
    entered = yield from enter(models, x, seed, route.plus)
    explained = Explained(
        route=taken(route, entered.denoised),
        explanation=entered.explanation,
        restored=from_tensor(entered.restored),
        x_t_star=from_tensor(entered.states[entered.stop.t_star]),
        confidence=confidence_from_logits(entered.logits),
        stop=entered.stop,
        unchanged=entered.unchanged,
        seconds=time.perf_counter() - started,
    )
    yield explained
    return entered, explained


def adapt_many(
    models: Models,
    pictures: Pixels,
    seeds: Sequence[int],
    stopping: StoppingConfig,
    *routes: Route,
) -> Iterator[Searched | Stepped | Rebuilt]:
    """Adapt pictures by some routes, uint8 ``[B, S, S, 3]``: judged in turn, rebuilt together.

    The same depths and pictures as :func:`adapt` with one noise path, sooner: a picture is
    judged once for all routes, no deeper than where the rule is met, and rebuilt once where
    routes are alike. DGA+ rebuilds each as soon as it is explained. Ends when every picture is
    :class:`Rebuilt` by every route.
    """
    plain = [route for route in routes if not route.plus]
    walks: dict[tuple[GuidanceConfig | None, Sampler], dict[tuple[int, int], _Walk]] = {}
    for number, (picture, seed) in enumerate(zip(pictures, seeds, strict=True)):
        check_pixels(picture, models.profile)
        x = to_tensor(picture).to(models.device)
        path = forward_path(models.schedule, x, seed) if plain else x[None]
        searched: Stop | None = None
        if any(route.depth is None for route in plain):
            searched = yield from _search(models, path[: stopping.deepest + 1], number, stopping)
        entered = {r: last(enter(models, x, seed, r.plus)) for r in routes if r.plus}
        stops = {route.name: found.stop for route, found in entered.items()}
        for route in plain:
            stop = searched if route.depth is None else Stop(route.depth, crossed=True)
            assert stop is not None
            stops[route.name] = stop
            way, depth = walks.setdefault((route.guidance, route.sampler), {}), stop.t_star
            walk = way.setdefault((number, depth), _Walk(number, depth, path[depth].clone()))
            walk.stops[route.name] = stop
        yield Searched(number, stops)
        for route, found in entered.items():
            assert route.plus is not None
            rebuilt, _ = rebuild_entered(models, [found], [seed], route.plus)
            (said,) = read(models, rebuilt)
            image, told = from_tensor(rebuilt[0]), found.explanation
            yield Rebuilt(number, route.name, found.stop, image, said, told)
    if plain:
        yield from _walk_back(models, pictures, seeds, walks)


@dataclass
class _Walk:
    """A picture's way back from one depth, for every route that takes it."""

    picture: int
    depth: int
    state: Tensor
    stops: dict[str, Stop] = field(default_factory=dict)


def _walk_back(
    models: Models,
    pictures: Pixels,
    seeds: Sequence[int],
    walks: Mapping[tuple[GuidanceConfig | None, Sampler], Mapping[tuple[int, int], _Walk]],
) -> Iterator[Stepped | Rebuilt]:
    # As many at once as the discriminator is shown: bounds memory whatever the picture's size.
    size = chunk_size(*pictures.shape[1:3])
    groups: list[tuple[GuidanceConfig | None, Sampler, list[_Walk], int]] = []
    for (guidance, sampler), way in walks.items():
        for walk in way.values():
            if not walk.depth:
                x = to_tensor(pictures[walk.picture])[None].to(models.device)
                yield from _arrived(walk, pictures[walk.picture], classify(models, x))
        deep = [walk for walk in way.values() if walk.depth]
        for group in (deep[i : i + size] for i in range(0, len(deep), size)):
            steps = max(len(sampler.visited(walk.depth)) - 1 for walk in group)
            groups.append((guidance, sampler, group, steps))
    done, steps = 0, sum(count for *_, count in groups)
    yield Stepped((), pictures[:0], done, steps)
    for guidance, sampler, group, count in groups:
        x = torch.stack([walk.state for walk in group])  # [b, 3, S, S]
        x_input = to_tensor(pictures[[walk.picture for walk in group]]).to(models.device)
        own = [walk.depth for walk in group], [seeds[walk.picture] for walk in group]
        for step in rebuild_steps(models, x, x_input, *own, guidance, sampler):
            check_numbers(step.x)
            images, rows = from_tensor(step.x), [group[i] for i in step.rows.tolist()]
            arrived = (step.depth == 0).nonzero().squeeze(1).tolist()
            left = step.depth.nonzero().squeeze(1).tolist()
            if arrived:
                said = read(models, to_tensor(images[arrived]).to(models.device))
                for i, prediction in zip(arrived, said, strict=True):
                    yield from _arrived(rows[i], images[i], prediction)
            under_way = [(rows[i].picture, tuple(rows[i].stops)) for i in left]
            yield Stepped(under_way, images[left], done + step.step, steps)
        done += count


def _arrived(walk: _Walk, image: Pixels, prediction: Prediction) -> Iterator[Rebuilt]:
    for name, stop in walk.stops.items():
        yield Rebuilt(walk.picture, name, stop, image, prediction)


def _search(
    models: Models, path: Tensor, picture: int, stopping: StoppingConfig
) -> Generator[Searched, None, Stop]:
    """Judge a path piece by piece until the rule is met: deeper states cannot move that."""
    logits = list[float]()
    for _, piece in curve_chunks(models.schedule, models.discriminator, path):
        logits += piece.double().tolist()
        stop = choose_depth(logits, stopping)
        if stop.crossed:
            return stop
        yield Searched(picture, {})
    return stop


def check_numbers(x: Tensor) -> None:
    """Raise ``FloatingPointError`` for a picture that is not numbers."""
    if not torch.isfinite(x).all():
        raise FloatingPointError("The diffusion model returned values that are not numbers.")


def path_seed(seed: int, number: int) -> int:
    """Seed of a further noise path; path 0 has the picture's own seed."""
    return seed if number == 0 else (seed + 1) * 1_000_003 + number


def _rebuild(
    models: Models,
    path: Tensor,
    x_input: Tensor,
    pixels: Pixels,
    depth: int,
    route: Route,
    seed: int,
) -> Generator[Denoised, None, Reconstruction]:
    started = time.perf_counter()
    x, steps = path[depth][None], len(route.sampler.visited(depth)) - 1
    walk = rebuild_steps(models, x, x_input, [depth], [seed], route.guidance, route.sampler)
    for step in walk:
        x = step.x
        check_numbers(x)
        pictures = from_tensor(x[0]), from_tensor(step.x0_hat[0])
        yield Denoised(route, step.step, steps, int(step.depth[0]), *pictures)
    image = from_tensor(x[0]) if depth else pixels  # depth 0 returns the input bit for bit
    prediction = classify(models, to_tensor(image)[None].to(models.device))
    return Reconstruction(route, depth, image, prediction, time.perf_counter() - started, steps)


def _rebuild_entered(
    models: Models, entered: Entered, explained: Explained, pixels: Pixels, seed: int
) -> Generator[Denoised, None, Reconstruction]:
    """The end of DGA+, a step at a time; what choosing cost is part of its seconds."""
    started, depth, route = time.perf_counter(), entered.stop.t_star, explained.route
    image = pixels if entered.unchanged else explained.restored
    steps = len(route.visited(depth)) - 1
    for step, reached, x, x0_hat in _entered_steps(models, entered, seed, route):
        check_numbers(x)
        image = from_tensor(x[0])
        yield Denoised(route, step, steps, reached, image, from_tensor(x0_hat[0]))
    prediction = classify(models, to_tensor(image)[None].to(models.device))
    seconds = explained.seconds + time.perf_counter() - started
    return Reconstruction(route, depth, image, prediction, seconds, steps)


def _one_step_outcomes(
    models: Models, entered: Entered, explained: Explained, pixels: Pixels, depths: range
) -> Outcomes:
    """DGA+ in one step from each depth: one call of the network, whatever ends the method."""
    plus = explained.route.plus
    assert plus is not None
    images = [pixels if entered.unchanged else explained.restored]
    size = chunk_of(entered.states)
    for first in range(1, len(depths), size):
        part = depths[first : first + size]
        x = posterior_mean(models, entered.states[part.start : part.stop], part, plus)
        check_numbers(x)
        images += list(from_tensor(x))
    stacked = np.stack(images)
    said = read(models, to_tensor(stacked).to(models.device))
    return Outcomes(explained.route, stacked, said, entered.denoised)


def _entered_steps(
    models: Models, entered: Entered, seed: int, route: Route
) -> Iterator[tuple[int, int, Tensor, Tensor]]:
    """(step, depth reached, x, x0_hat): one for a posterior mean."""
    depth, guidance, sampler = entered.stop.t_star, route.guidance, route.sampler
    x, reference = entered.states[depth][None], entered.restored[None]
    if entered.denoised:
        assert route.plus is not None
        x = posterior_mean(models, x, [depth], route.plus)
        yield 1, 0, x, x
    elif depth:
        for step in rebuild_steps(models, x, reference, [depth], [seed], guidance, sampler):
            yield step.step, int(step.depth[0]), step.x, step.x0_hat


def rebuild_steps(
    models: Models,
    x: Tensor,
    x_input: Tensor,
    depths: Sequence[int],
    seeds: Sequence[int],
    guidance: GuidanceConfig | None,
    sampler: Sampler = ANCESTRAL,
) -> Iterator[ReverseStep]:
    """Reverse diffusion of a batch, ``x`` and ``x_input`` ``[B, 3, S, S]``, each from its depth."""
    guide = structural_guide(x_input, guidance) if guidance else None
    return reverse(models.schedule, models.denoiser, x, depths, seeds, guide, sampler)


def rebuild(
    models: Models,
    x: Tensor,
    x_input: Tensor,
    depths: Sequence[int],
    seeds: Sequence[int],
    guidance: GuidanceConfig | None,
    sampler: Sampler = ANCESTRAL,
) -> Tensor:
    """The end of :func:`rebuild_steps`: ``[B, 3, S, S]``, clipped to [-1, 1]."""
    result = x_input.clone()
    for step in rebuild_steps(models, x, x_input, depths, seeds, guidance, sampler):
        finished = (step.depth == 0).nonzero().squeeze(1)
        if len(finished):
            result[step.rows[finished].to(x.device)] = step.x[finished.to(x.device)]
    return result.clamp(-1, 1)


def rebuild_entered(
    models: Models, found: Sequence[Entered], seeds: Sequence[int], config: PlusConfig
) -> tuple[Tensor, list[float]]:
    """The end of DGA+: pictures, ``[B, 3, S, S]`` in 8-bit levels, and the seconds of each.

    Noisy ones by their posterior mean, others by a guided sample, in one batch each; those
    with t* = 0 are what the explanation left of them.
    """
    image, seconds = torch.stack([entered.restored for entered in found]), [0.0] * len(found)
    noisy = [i for i, entered in enumerate(found) if entered.denoised]
    erased = [i for i, e in enumerate(found) if e.stop.t_star and not e.denoised]
    for rows in (noisy, erased):
        if not rows:
            continue
        begun = time.perf_counter()
        depths = [found[i].stop.t_star for i in rows]
        states = torch.stack([found[i].states[k] for i, k in zip(rows, depths, strict=True)])
        if rows is noisy:
            rebuilt = posterior_mean(models, states, depths, config)
        else:
            own, sampler = [seeds[i] for i in rows], FewSteps(config.steps, config.eta)
            rebuilt = rebuild(models, states, image[rows], depths, own, config.guidance, sampler)
        image[rows] = to_levels(rebuilt)
        for i in rows:
            seconds[i] = (time.perf_counter() - begun) / len(rows)
    return image, seconds


def classify(models: Models, x: Tensor) -> Prediction:
    """Prediction for one picture, ``[1, 3, S, S]`` in [-1, 1]."""
    return predict(models.classifier, x, models.profile.classifier)[0]


def chunk_of(x: Tensor) -> int:
    """How many pictures like these, ``[..., H, W]``, a network is shown at once."""
    return chunk_size(x.shape[-2], x.shape[-1], x.device.type)


def read(models: Models, x: Tensor) -> list[Prediction]:
    """Predictions for pictures, ``[B, 3, S, S]`` in [-1, 1]."""
    return [
        p
        for part in x.split(chunk_of(x))
        for p in predict(models.classifier, part, models.profile.classifier)
    ]


def check_pixels(pixels: Pixels, profile: Profile) -> None:
    """Raise ``ValueError`` unless ``pixels`` is uint8 ``[S, S, 3]`` of the profile's size."""
    size = profile.image_size
    if pixels.dtype != np.uint8 or pixels.shape != (size, size, 3):
        raise ValueError(
            f"Profile {profile.name} needs pictures of shape ({size}, {size}, 3) in 8 bits, "
            f"not {pixels.shape} {pixels.dtype}."
        )
