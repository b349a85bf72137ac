"""Rebuilding the published way: the guided_diffusion package's own step, DDA's guidance."""

import torch
from guided_diffusion.script_util import create_gaussian_diffusion
from torch import Tensor

from dga.guidance import low_pass
from dga.networks.models import Models
from dga.networks.unet import Denoiser
from dga.profiles import GuidanceConfig


class PublishedSampler:
    """The package's sampler around the package's network, as the published code uses them.

    In float32: parameters ask for gradients, attention is an einsum, noise comes from the
    global generator, and the guidance takes one norm over the whole batch.
    """

    def __init__(self, models: Models) -> None:
        config, schedule = models.profile.denoiser, models.profile.schedule
        self.network = Denoiser(config).to(models.device).eval()
        self.network.load_state_dict(models.denoiser.state_dict())
        self.diffusion = create_gaussian_diffusion(
            steps=schedule.timesteps,
            learn_sigma=True,
            noise_schedule="linear",
            timestep_respacing=str(schedule.steps),
        )

    def rebuild(
        self, x: Tensor, steps: int, reference: Tensor, guidance: GuidanceConfig | None
    ) -> Tensor:
        """``steps`` steps from depth ``steps`` to 0, ``[B, 3, S, S]``, guided or not."""
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=True):  # as torch comes
            for index in range(steps - 1, -1, -1):
                time = torch.full((len(x),), index, device=x.device)
                if guidance is None:
                    with torch.no_grad():
                        x = self.diffusion.p_sample(self.network, x, time)["sample"]
                else:
                    x = self._take_guided_step(x, time, reference, guidance)
        return x

    def _take_guided_step(
        self, x: Tensor, time: Tensor, reference: Tensor, guidance: GuidanceConfig
    ) -> Tensor:
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            out = self.diffusion.p_sample(self.network, x, time)
            coarse = (low_pass(y, guidance.factor) for y in (reference, out["pred_xstart"]))
            (gradient,) = torch.autograd.grad(torch.linalg.norm(torch.sub(*coarse)), x)
        return (out["sample"] - guidance.scale * gradient).detach()
