"""What is timed: work on pictures in the public domain, ours and the published way's."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import skimage.data
import torch
from PIL import Image
from torch import Tensor

from dga.corruptions import CORRUPTIONS, corrupt
from dga.diffusion import Schedule, forward_path
from dga.discriminator import curve
from dga.images import to_pixels, to_square, to_tensor
from dga.networks.classifier import build_classifier, predict_proba
from dga.networks.compute import Compute
from dga.networks.models import Models
from dga.networks.unet import Denoiser, Discriminator
from dga.pipeline import NOTHING, Job, denoise
from dga.profiles import End, GuidanceConfig, Profile
from dga.readers import Predictor, answer
from dga.speed.reference import PublishedSampler
from dga.speed.timing import Work
from dga.systems import parse

SEVERITY = 5
JUDGED = 4
"""Pictures whose curves are timed: they are judged one by one, so that each costs the same."""


@dataclass(frozen=True)
class Workload:
    """``count`` damaged pictures, the models that rebuild them, and the work to be timed."""

    models: Models
    count: int
    _noised: dict[int, Tensor] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def x(self) -> Tensor:
        """scikit-image's cat and coffee under one corruption after the other, ``[B, 3, S, S]``."""
        size = self.models.profile.image_size
        photographs = [
            to_pixels(to_square(Image.fromarray(picture), size))
            for picture in (skimage.data.chelsea(), skimage.data.coffee())
        ]
        kinds = len(CORRUPTIONS)
        damaged = [
            corrupt(photographs[i // kinds % 2], CORRUPTIONS[i % kinds], SEVERITY, i)
            for i in range(self.count)
        ]
        return torch.stack([to_tensor(pixels) for pixels in damaged]).to(self.models.device)

    def paths(self) -> Iterator[Tensor]:
        """Each picture's forward path, ``[T + 1, 3, S, S]``."""
        for seed, x in enumerate(self.x):
            yield forward_path(self.models.schedule, x, seed)

    def noised(self, depth: int) -> Tensor:
        """All of them at a depth, ``[B, 3, S, S]``."""
        if depth not in self._noised:
            self._noised[depth] = torch.stack([path[depth] for path in self.paths()])
        return self._noised[depth]

    def judging(self) -> Work:
        """The discriminator at every depth 0...T of the first pictures."""
        models, paths = self.models, list(islice(self.paths(), JUDGED))
        return lambda: [curve(models.schedule, models.discriminator, path) for path in paths]

    def rebuilding(
        self, depth: int, guidance: GuidanceConfig | None, steps: int | None = None
    ) -> Work:
        """Reverse diffusion of the whole batch, by default with every depth in turn."""
        end = End(depth=depth, guidance=guidance, steps=steps)
        jobs = [
            Job(i, i, (depth,), end, state[None], x, x, NOTHING, [])
            for i, (state, x) in enumerate(zip(self.noised(depth), self.x, strict=True))
        ]
        return lambda: [None for _ in denoise(self.models, jobs)]

    def passing(self, steps: int, guided: bool) -> Work:
        """The denoiser alone, as often as ``steps`` steps ask it."""
        time = self.models.schedule.time[[steps] * self.count].to(self.models.device)
        start = self.noised(steps)

        def work() -> None:
            for _ in range(steps):
                with torch.set_grad_enabled(guided):
                    x = start.detach().requires_grad_(guided)
                    output = self.models.denoiser(x, time)
                if guided:
                    torch.autograd.grad(output[:, :3].sum(), x)

        return work

    def ends(self, published: PublishedSampler | None = None) -> Work:
        """What a fixed depth costs besides its steps: noising and reading the result."""
        profile = self.models.profile

        def work() -> None:
            if published:
                published.noised(self.x, profile.dda_depth)
            else:
                for _ in self.paths():
                    pass
            predict_proba(self.models.classifier, self.x, profile.classifier).cpu()

        return work

    def adapting(self, spec: str) -> Work:
        """A method of the evaluation from the picture to the label, nothing known beforehand."""
        predictors = {spec: Predictor(self.models, parse(self.models.profile, spec))}
        return lambda: answer(predictors, self.x, range(self.count))


def random_models(profile: Profile, compute: Compute) -> Models:
    """Networks of a profile's shape with random weights: as slow as the real ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        networks = (
            Denoiser(profile.denoiser),
            Discriminator(profile.discriminator),
            build_classifier(profile.classifier),
        )
    denoiser, discriminator, classifier = (
        compute.prepare(network.eval().requires_grad_(False)) for network in networks
    )
    schedule = Schedule.from_config(profile.schedule)
    return Models(profile, schedule, denoiser, discriminator, discriminator, classifier, compute)
