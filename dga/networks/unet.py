"""guided-diffusion's networks on pixel-unshuffled pictures, as ``network(x, time)``."""

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from guided_diffusion.unet import EncoderUNetModel, UNetModel
from torch import Tensor, nn

from dga.discriminator import cut_judged_windows
from dga.networks.fast_blocks import replace_blocks
from dga.profiles import NetworkConfig


class GuidedNetwork(nn.Module):
    """A network of the guided-diffusion package, whose precision and kernels can be changed."""

    net: Any
    """The package's own network."""

    def __init__(self) -> None:
        super().__init__()
        self.memory_format = torch.contiguous_format

    @property
    def dtype(self) -> torch.dtype:
        """The precision of its convolutions."""
        return self.net.dtype

    def use_fast_blocks(self) -> None:
        """Use faster blocks, with channels last; results equal the package's up to rounding."""
        replace_blocks(self.net)
        self.memory_format = torch.channels_last
        self.to(memory_format=self.memory_format)

    def convert_torso(self, dtype: torch.dtype) -> None:
        """Run convolutions and attention in ``dtype``; norms, embeddings and heads stay float32."""
        self.net.dtype = dtype
        for name in ("input_blocks", "middle_block", "output_blocks"):
            for module in getattr(self.net, name, nn.Module()).modules():
                if isinstance(module, nn.Conv1d | nn.Conv2d):
                    module.to(dtype)


class Denoiser(GuidedNetwork):
    """Prediction of noise and variance: ``[B, 3, H, W], [B] -> [B, 6, H, W]``.

    Channels 0-2 of the output are the noise. Channels 3-5 are the variance's position between its
    bounds, -1 to 1 (Nichol and Dhariwal, 2021, Eq. 15). ``time`` is in 0...999. Sides that cannot
    be halved often enough are extended by their mirror image, which is cut off the result.
    """

    inputs, outputs = 3, 6
    """Channels of the input and of the output."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.fold = config.fold
        self.multiple = config.fold * 2 ** (len(config.channel_mult) - 1)
        layout = _layout(config) | {"in_channels": self.inputs * config.fold**2}
        self.net = UNetModel(out_channels=self.outputs * config.fold**2, **layout)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        height, width = x.shape[-2:]
        below, right = -height % self.multiple, -width % self.multiple
        if below or right:
            x = F.pad(x, (0, right, 0, below), "reflect")
        h = F.pixel_unshuffle(x, self.fold)  # [B, 3 f^2, H/f, W/f]
        h = h.contiguous(memory_format=self.memory_format)
        output = F.pixel_shuffle(self.net(h, time), self.fold).float()
        return output[..., :height, :width]


class ConditionalDenoiser(Denoiser):
    """Prediction of noise with the damaged picture in sight: ``[B, 6, H, W], [B] -> [B, 3, H, W]``.

    Channels 0-2 of the input are the state x_k, 3-5 the picture as it came, or as an inverse left
    it. At depth 0 both are the same, and the prediction is the damage itself
    (:func:`dga.diffusion.estimate_undamaged`). This way to condition is that of Saharia et al.,
    "Palette", 2022.
    """

    inputs, outputs = 6, 3

    def widen(self, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Make weights for this network from those of a :class:`Denoiser` of the same shape.

        The channels of the damaged picture get weights of 0, so that it has no influence. The
        channels of the variance are left out.
        """
        expected, widened = self.state_dict(), dict(state)
        first, last = "net.input_blocks.0.0.weight", "net.out.2."
        missing = expected[first].shape[1] - state[first].shape[1]
        widened[first] = F.pad(state[first], (0, 0, 0, 0, 0, missing))
        for name in (last + "weight", last + "bias"):
            widened[name] = state[name][: len(expected[name])]
        return widened


class Discriminator(GuidedNetwork):
    """Logit of "this state came from a corrupted image": ``[B, 3, H, W], [B] -> [B]``.

    ``time`` is the original timestep in 0...999; a picture that was not noised is judged with time
    0. The logit of a picture that is larger than the network's own size is the mean over the
    windows of :func:`~dga.discriminator.cut_judged_windows`.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.fold, self.side = config.fold, config.image_size
        self.net = EncoderUNetModel(out_channels=1, pool="attention", **_layout(config))

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        windows = cut_judged_windows(x, self.side)
        h = F.pixel_unshuffle(torch.cat(windows), self.fold)  # [n B, 3 f^2, S/f, S/f]
        h = h.contiguous(memory_format=self.memory_format)
        logits = self.net(h, time.repeat(len(windows))).float().view(len(windows), -1)  # [n, B]
        return logits.T.mean(1)


def _layout(config: NetworkConfig) -> dict[str, Any]:
    """The shape of a network as arguments of the guided-diffusion package."""
    return {
        "image_size": config.image_size // config.fold,
        "in_channels": 3 * config.fold**2,
        "model_channels": config.channels,
        "num_res_blocks": config.res_blocks,
        "attention_resolutions": config.attention,
        "channel_mult": config.channel_mult,
        "num_head_channels": config.head_channels,
        "use_scale_shift_norm": True,
        "resblock_updown": True,
    }
