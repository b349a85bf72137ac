"""How long a picture will take where there is no GPU: said before the wait, not after it."""

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from dga.explanation.search import most_calls
from dga.networks.fast_blocks import ResidualBlock
from dga.networks.models import Models
from dga.networks.unet import Denoiser, Discriminator, GuidedNetwork
from dga.pipeline import default_systems
from dga.profiles import End, ExplanationConfig, GuidanceConfig, Profile
from dga.sampling import sampler_of
from dga.speed.timing import best_seconds
from dga.systems import System, systems
from dga.weights.store import parameter_count

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    from guided_diffusion.unet import ResBlock

HEAVY = 100_000_000
"""Parameters of a diffusion model from which a processor's user is warned."""
WORKSPACE = 3 << 29
"""Bytes allowed for activations, and for what convolution libraries take on the side."""


def end_passes(end: End) -> int:
    """What a picture costs that ends so at its deepest, in passes of the denoiser.

    A gradient through the network is one more: parameters ask for none.
    """
    depth = end.depth
    if depth is None:
        depth = end.stopping.max_depth if end.stopping else 0
    steps = len(sampler_of(end).visited(depth)) - 1
    guidance = end.guidance
    through = isinstance(guidance, GuidanceConfig) and guidance.through_network
    return steps * (2 if through else 1)


def most_passes(profile: Profile, chosen: Collection[System], curve: int) -> tuple[int, int]:
    """Network passes of one picture by all systems together, at their deepest.

    ``curve``: noise paths of the paper's that are judged whatever the systems are. Returns
    (states that the discriminator judges, passes of the denoiser).
    """
    plain = [end for s in chosen if not s.explain for end in s.ends]
    paths = max([curve, *((end.stopping or profile.stopping).paths for end in plain)])
    judged, denoised = paths * (profile.schedule.steps + 1), 0
    deepest: dict[ExplanationConfig, int] = {}
    for system in chosen:
        if config := system.explain:
            rules = [end.stopping.deepest for end in system.ends if end.stopping]
            deepest[config] = max(deepest.get(config, 0), *rules)
    judged += sum(most_calls(config) + depth + 1 for config, depth in deepest.items())
    for system in chosen:
        denoised += max((end_passes(end) for end in system.ends), default=0)
    return judged, denoised


@dataclass(frozen=True)
class Pace:
    """Estimated seconds for one picture: of a denoiser's pass, and of judging one state."""

    denoise: float
    judge: float

    def longest(self, profile: Profile, chosen: Sequence[System] = (), curve: int = 0) -> float:
        """Seconds for a picture by all systems together, at their deepest.

        Without any: DGA, DGA + G, DDA and DGA+. ``curve`` as for :func:`most_passes`.
        """
        judged, passes = most_passes(profile, chosen or default_systems(profile), curve)
        return judged * self.judge + passes * self.denoise


@torch.no_grad()
def rate(network: nn.Module, side: int) -> float:
    """Operations a second in a network's first residual block, at ``side`` pixels.

    Most of a pass is spent in blocks of that size.
    """
    blocks = (m for m in network.modules() if isinstance(m, ResBlock | ResidualBlock))
    block = next(blocks)
    layer, embedded = block.in_layers[-1], block.emb_layers[-1].in_features
    x = torch.randn(1, layer.in_channels, side, side).to(layer.weight)
    time = torch.randn(1, embedded).to(x.device)
    if isinstance(network, GuidedNetwork):
        x = x.contiguous(memory_format=network.memory_format)
    work = 2 * 9 * layer.out_channels * (layer.in_channels + layer.out_channels) * side**2
    return work / best_seconds({"block": lambda: block(x, time)}, 2, x.device)["block"]


def pass_flops(profile: Profile) -> tuple[int, int]:
    """FLOPs of a pass of the denoiser, and of the discriminator; a multiply-add is two.

    Counted on the meta device: nothing is computed.
    """
    with torch.device("meta"):
        networks = Denoiser(profile.denoiser), Discriminator(profile.discriminator)
        x = torch.zeros(1, 3, profile.image_size, profile.image_size)
        time, counts = torch.zeros(1, dtype=torch.int64), list[int]()
        for network in networks:
            with torch.no_grad(), FlopCounterMode(display=False) as counter:
                network(x, time)
            counts.append(int(counter.get_total_flops()))
    step, judge = counts
    return step, judge


def slow_pace(models: Models, heavy: int = HEAVY) -> Pace | None:
    """The pace of a large model on a processor; None elsewhere, and for small models.

    Work of the networks over what this processor was just seen to do.
    """
    if models.device.type != "cpu" or parameter_count(models.denoiser) < heavy:
        return None
    profile = models.profile
    step, judge = pass_flops(profile)
    full = profile.image_size // profile.denoiser.fold
    seen = profile.image_size // profile.discriminator.fold
    return Pace(step / rate(models.denoiser, full), judge / rate(models.discriminator, seen))


def memory(models: Models) -> int:
    """Bytes that a picture needs on a processor, at most; a gradient through the network aside.

    Parameters are read in float32, then stand beside their half precision.
    """
    networks = {models.denoiser, models.discriminator, models.explainer, models.classifier}
    return 6 * sum(map(parameter_count, networks)) + WORKSPACE


def warning(models: Models, pace: Pace, chosen: Sequence[System] = (), curve: int = 0) -> str:
    """What somebody is told who is about to wait for systems, by default the usual four."""
    profile = models.profile
    chosen = chosen or default_systems(profile)
    *others, last = (system.title for system in chosen)
    names = f"{', '.join(others)} and {last}" if others else last
    text = (
        f"There is no GPU for {profile.name}: on this processor one step takes about "
        f"{duration(pace.denoise)}, and a picture by {names} up to "
        f"{duration(pace.longest(profile, chosen, curve))}"
    )
    room = f"{memory(models) / 1e9:.1f} GB of memory"
    if all(system.explain for system in chosen):
        return f"{text} and {room}."
    quick = duration(pace.longest(profile, [systems(profile)["dga-plus"]]))
    return f"{text}. DGA+ alone (--methods dga-plus) takes up to {quick} and {room}."


def judging_warning(profile: Profile, pace: Pace, depths: int, estimated: bool) -> str:
    """The same for judging alone; ``estimated``: the denoiser's estimates are judged."""
    seconds = depths * (pace.judge + (pace.denoise if estimated else 0))
    return (
        f"There is no GPU for {profile.name}: on this processor judging a picture at {depths} "
        f"depths takes about {duration(seconds)}."
    )


def duration(seconds: float) -> str:
    """``0.4 s``, ``35 s``, ``12 min`` or ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
