"""The paper's own discriminator behind our signature ``net(x, time)``."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from guided_diffusion.unet import AttentionPool2d
from torch import Tensor, nn

from dga.diffusion import Schedule
from dga.networks.unet import GuidedNetwork, build_encoder
from dga.profiles import NetworkConfig, ScheduleConfig
from dga.profiles.configs import IMAGENET_MEAN, IMAGENET_STD

TRAINED_STEPS = 150
"""Steps of the respaced schedule on which it was trained; it takes the respaced index itself."""


class PublishedDiscriminator(GuidedNetwork):
    """Logit of "this state came from a corrupted image": ``[B, 3, H, W], [B] -> [B]``.

    The layout is its authors': ``model`` is guided-diffusion's classifier encoder without its own
    head (neither norm nor SiLU), ``atn`` an attention pool over the middle 7/8 of the picture (224
    of 256 pixels). It was trained on pictures that were normalised by ImageNet's mean and deviation
    and then noised. In this normalisation one of our states, in [-1, 1], has ``1 / (2 std)`` times
    as much noise for its signal. So the network sees it as the deeper state that has this ratio.
    """

    def __init__(self, config: NetworkConfig, schedule: ScheduleConfig) -> None:
        super().__init__()
        self.schedule = schedule
        self.crop = config.image_size * 7 // 8
        width = config.channels * config.channel_mult[-1]
        last = self.crop // 2 ** (len(config.channel_mult) - 1)
        self.model = build_encoder(config, "adaptive")
        self.model.out = nn.Identity()
        self.atn = AttentionPool2d(last, width, config.head_channels, 1)

    @property
    def inner(self) -> Any:
        return self.model

    @cached_property
    def _by_time(self) -> tuple[Tensor, ...]:
        """Tables over the timesteps 0...999, ``[1000]`` each: sqrt(alpha_bar), gain and index.

        The gain scales the normalised state to variance 1. The index is that of the network's
        schedule with the nearest ratio of noise to signal.
        """
        every = replace(self.schedule, steps=self.schedule.timesteps)
        trained = replace(self.schedule, steps=TRAINED_STEPS)
        abar = Schedule.from_config(every).alpha_bar[1:].numpy()  # [1000]
        abar_150 = Schedule.from_config(trained).alpha_bar[1:].numpy()  # [150]
        scale = np.mean([1 / (2 * std) for std in IMAGENET_STD])
        noise = scale**2 * (1 / abar - 1)  # variance of the noise for a signal of 1
        distance = np.abs(np.log(noise)[:, None] - np.log(1 / abar_150 - 1)[None])  # [1000, 150]
        gain = 1 / np.sqrt(abar * (1 + noise))
        tables = np.sqrt(abar), gain, distance.argmin(1)
        return tuple(torch.from_numpy(table).float() for table in tables)

    def translate(self, x: Tensor, time: Tensor) -> tuple[Tensor, Tensor]:
        """Translate states in [-1, 1] into the network's input, ``[B, 3, 7H/8, 7W/8]`` and index.

        ``time``: the original timestep in 0...999, ``[B]``.
        """
        timesteps = time.long().cpu()
        signal, gain, index = (table[timesteps].to(x.device) for table in self._by_time)
        edge = (x.shape[-1] - self.crop) // 2
        x = x[..., edge : edge + self.crop, edge : edge + self.crop]
        mean = torch.tensor(IMAGENET_MEAN, device=x.device).view(1, 3, 1, 1)
        std = torch.tensor(IMAGENET_STD, device=x.device).view(1, 3, 1, 1)
        signal, gain = signal.view(-1, 1, 1, 1), gain.view(-1, 1, 1, 1)
        # x = signal x_0 + noise, and the picture is (x_0 + 1) / 2
        normalised = ((x + signal) / 2 - signal * mean) / std
        return normalised * gain, index

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """The logit; the published network ends in a sigmoid of it."""
        state, index = self.translate(x, time)
        state = state.contiguous(memory_format=self.memory_format)
        return self.atn(self.model(state, index)).float().squeeze(1)
