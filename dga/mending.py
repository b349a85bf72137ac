"""What no measurement explains is mended by a denoiser that sees the damaged picture. Ours.

It has seen many chains of damage (:mod:`dga.lab.training.chains`), and estimates the undamaged
picture in one step, the posterior mean; its details may be invented. From there it can be noised
to a depth and denoised again, so that what is missing is drawn anew. Where glass, uneven or rough,
moved pixels, another one is asked, which was trained on for that alone. A result is used where it
changes more than an undamaged picture is changed, or lines are less wavy, and where the
discriminator does not object.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from dga.diffusion import ForwardPath, ReverseProcess, Schedule, choose_sampler, estimate_undamaged
from dga.discriminator import Scorer
from dga.explanation.degradation import NO_DEGRADATION, Degradation, Explanation, Verdict
from dga.explanation.drawings import is_page
from dga.explanation.grid import Grid
from dga.explanation.judges import Judges
from dga.explanation.noise_level import measure_even_change
from dga.explanation.warp import is_straightened
from dga.images import to_levels
from dga.networks.models import Models
from dga.profiles import Diffusion, MendingConfig, Repair

WHOLE_SIDE = 384
"""Pixels a side up to which a photograph is repaired in one piece; above, windows bound memory."""
OVERLAP = 48
"""Pixels that two of these windows share at least. Chosen by hand."""
LEAST_NOISE, MOST_SKEWNESS = 0.04, 1.0
"""From which root mean square on what was taken out of nearly every place was noise, and below
which skewness: streaks of rain have more. Of 140 undamaged photographs none passes, of 12 under
each kind of noise 8 to 12, of lens blur, shake, glass, JPEG and wrong light none, of frost one."""


@dataclass(frozen=True)
class MendingResult:
    """What a denoiser that sees a picture, ``[3, H, W]``, made of it.

    ``image``: its result at 8-bit levels or, where that is not used, the picture as it was;
    ``explanation``: without noise, warping and JPEG where that is not used: it was fine texture;
    with noise where nothing else was measured, and noise is what it took out.
    """

    image: Tensor
    explanation: Explanation
    is_used: bool


def mend(
    models: Models,
    x: Tensor,
    seed: int,
    repair: Repair,
    explanation: Explanation,
    judges: Judges | None = None,
) -> MendingResult | None:
    """Mend a picture as it came or, after a measured inverse, what that made of it.

    ``x``: ``[3, H, W]`` in [-1, 1], no side below the discriminator's windows; ``judges``: those
    that explained this very picture, by default new ones. None where the denoiser is not asked, and
    where nothing was measured and its result is not used.
    """
    if not is_mendable(models, repair, explanation):
        return None
    network, config = models.conditional, repair.mending
    assert network is not None
    assert config is not None
    damage = explanation.degradation
    dewarper = models.dewarper if damage.has_moved_pixels else None
    network = dewarper or network
    estimate = to_levels(_apply_by_windows(models.schedule, network, x))
    if dewarper:
        is_wanted = damage.glass is not None or is_straightened(x, estimate)
    else:
        is_wanted = _is_wanted(x, estimate, explanation, config)
    if is_wanted:
        judges = judges or make_judges(models, x, seed)
        is_wanted = judges.score(estimate.cpu()) - judges.score_as_it_came <= config.objection
    if is_wanted:
        drawn = _draw_anew(models, network, x, estimate, seed, config.diffusion)
        return MendingResult(drawn, _name_noise(explanation, x - drawn), is_used=True)
    if damage == NO_DEGRADATION:
        return None
    if not damage.has_measured_inverse:  # then it is texture
        undamaged = Verdict.UNDAMAGED
        explanation = replace(explanation, degradation=NO_DEGRADATION, entry=0, verdict=undamaged)
    return MendingResult(x, explanation, is_used=False)


def make_judges(models: Models, x: Tensor, seed: int) -> Judges:
    """The networks that may object to what is made of ``x``, ``[3, H, W]``; ``seed``: of noise."""
    scorer = Scorer(models.schedule, models.explainer, seed)
    return Judges(scorer, models.discriminator, models.window_size, x.cpu())


def is_mendable(models: Models, repair: Repair, explanation: Explanation) -> bool:
    """Whether there is a denoiser that sees the picture, and something left for it to mend."""
    needed = models.conditional, repair.mending, repair.explain
    return None not in needed and not _has_no_rest(explanation)


def _name_noise(explanation: Explanation, change: Tensor) -> Explanation:
    """The explanation of a mended picture: noise, where nothing was measured and ``change``,
    ``[3, H, W]``, is even and symmetric."""
    grey = change.mean(0)
    skewness = abs(float((grey**3).mean() / (grey**2).mean().clamp(min=1e-9) ** 1.5))
    level = measure_even_change(change)
    is_noise = level > LEAST_NOISE and skewness < MOST_SKEWNESS
    if explanation.degradation != NO_DEGRADATION or not is_noise:
        return explanation
    return replace(explanation, degradation=Degradation(noise=level), verdict=Verdict.SUSPECT)


def _has_no_rest(explanation: Explanation) -> bool:
    """Whether a repair leaves nothing to mend, or nothing that a denoiser has seen.

    Impulses leave no other trace unless JPEG has smeared them; on pages only what was measured
    leaves some, but for noise.
    """
    damage = explanation.degradation
    has_left_nothing = damage.impulses is not None and not damage.is_smeared
    is_measured = damage.has_measured_inverse or damage.jpeg_quality is not None
    is_mere_page = explanation.is_page and not is_measured
    return has_left_nothing or is_mere_page or explanation.is_unjudgeable


def _is_wanted(
    x: Tensor, estimate: Tensor, explanation: Explanation, config: MendingConfig
) -> bool:
    """Whether ``x`` is changed as only damage is; it is no page, unless saved as a poor JPEG.

    After a measured inverse, and of a poor JPEG, a small change will do. What came through a veil
    has few colours, as a page has: the picture decides that came.
    """
    damage = explanation.degradation
    if damage.jpeg_quality is not None:
        return True
    is_on_page = explanation.is_page if damage.veil else is_page(x)
    if is_on_page:
        return False
    change = float((estimate - x).abs().mean())
    texture = sum(float(x.diff(dim=dim).abs().mean()) for dim in (1, 2))
    is_small = change < max(config.least_change, config.least_share * texture)
    return damage.has_measured_inverse or not is_small


def draw_from_depths(
    models: Models, x: Tensor, seed: int, depths: Iterable[int]
) -> Iterator[tuple[int, Tensor]]:
    """What that denoiser makes of its estimate from several depths, in one step from each.

    ``x``: as :func:`mend` takes it. Yields each depth and the result, of the same shape at 8-bit
    levels; from depth 0 it is the estimate itself. Nothing without such a denoiser.
    """
    network = models.conditional
    if network is None:
        return
    estimate = to_levels(_apply_by_windows(models.schedule, network, x))
    for depth in depths:
        step = Diffusion(depth=depth, steps=1)
        yield depth, _draw_anew(models, network, x, estimate, seed, step)


def _apply_by_windows(schedule: Schedule, network: nn.Module, x: Tensor) -> Tensor:
    """The clean estimate, ``[3, H, W]``, in one piece or blended from windows."""
    depth = torch.zeros(1, dtype=torch.int64)
    if max(x.shape[1:]) <= WHOLE_SIDE:
        return estimate_undamaged(schedule, network, x[None], depth, x[None])[0]
    side = min(WHOLE_SIDE, *x.shape[1:])
    grid = Grid.over(x.shape[1:], side, min(OVERLAP, side // 2))
    windows = (grid.cut(x, [number]) for number in range(len(grid)))
    estimates = (estimate_undamaged(schedule, network, one, depth, one)[0] for one in windows)
    return grid.join(estimates, x)


def _draw_anew(
    models: Models,
    network: nn.Module,
    x: Tensor,
    estimate: Tensor,
    seed: int,
    diffusion: Diffusion,
) -> Tensor:
    """The estimate noised to a depth and denoised beside the picture that came, ``[3, H, W]``."""
    if not (depth := diffusion.depth):
        return estimate

    def predict_noise(x_k: Tensor, time: Tensor) -> Tensor:
        return network(torch.cat([x_k, x.expand_as(x_k)], 1), time)

    state = ForwardPath(models.schedule, estimate, seed).at(depth)
    reverse = ReverseProcess(models.schedule, predict_noise, choose_sampler(diffusion))
    for step in reverse.run(state[None], [depth], [seed]):
        state = step.x[0]
    return to_levels(state.clamp(-1, 1))
