"""A tiny profile of the full size's architecture, and checkpoints for it as others write them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import pytest
import timm
import torch
from conftest import randomise
from guided_diffusion.script_util import create_model
from guided_diffusion.unet import AttentionPool2d, EncoderUNetModel
from safetensors.torch import save_file
from torch import Tensor, nn

from dga.profiles import IMAGENET, NetworkConfig, Profile, StoppingConfig

SIZE = 32
NETWORK = NetworkConfig(
    image_size=SIZE,
    fold=1,
    channels=32,
    channel_mult=(1, 1),
    res_blocks=1,
    attention=(2,),
    head_channels=16,
)
CHANNELS = (8, 8, 8, 8)


@pytest.fixture(scope="session")
def small_imagenet() -> Profile:
    """The full-size profile at 32 px, its classifier seeing the middle 28 of them."""
    return dataclasses.replace(
        IMAGENET,
        name="small-imagenet",
        image_size=SIZE,
        denoiser=NETWORK,
        discriminator=NETWORK,
        classifier=dataclasses.replace(
            IMAGENET.classifier,
            architecture="resnet10t",
            channels=CHANNELS,
            input_size=28,
            resize=SIZE,
        ),
        stopping=StoppingConfig(tau=0.5, max_depth=6),
        dda_depth=3,
    )


def openai_denoiser() -> nn.Module:
    """The package's own network, with OpenAI's flags for the public checkpoint."""
    network = create_model(
        SIZE,
        num_channels=32,
        num_res_blocks=1,
        channel_mult="1,1",
        learn_sigma=True,
        attention_resolutions="16",
        num_head_channels=16,
        use_scale_shift_norm=True,
        resblock_updown=True,
    )
    return randomise(network, 11)


class AuthorsDiscriminator(nn.Module):
    """What a checkpoint in the paper's layout was saved from: encoder, pool, sigmoid."""

    def __init__(self) -> None:
        super().__init__()
        self.model = EncoderUNetModel(
            SIZE, 3, 32, 1000, 1, (2,), channel_mult=(1, 1), num_head_channels=16,
            use_scale_shift_norm=True, resblock_updown=True, pool="attention",
        )  # fmt: skip
        self.model.out = nn.Identity()
        self.atn = AttentionPool2d(14, 32, 16, 1)

    def forward(self, x: Tensor, index: Tensor) -> Tensor:
        return self.atn(self.model(x, index)).sigmoid()


@dataclass(frozen=True)
class Checkpoints:
    """Files as others write them, and the networks they were saved from."""

    diffusion: Path
    discriminator: Path
    classifier: Path
    networks: dict[str, nn.Module]

    @property
    def named(self) -> dict[str, Path]:
        names = ("diffusion", "discriminator", "classifier")
        return {name: getattr(self, name) for name in names}


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Checkpoints:
    folder = tmp_path_factory.mktemp("checkpoints")
    torch.manual_seed(0)
    networks = {
        "diffusion": openai_denoiser(),
        "discriminator": randomise(AuthorsDiscriminator(), 12),
        "classifier": randomise(timm.create_model("resnet10t", channels=CHANNELS), 13),
    }
    for name in ("diffusion", "discriminator"):
        torch.save(networks[name].state_dict(), folder / f"{name}.pt")
    save_file(networks["classifier"].state_dict(), folder / "classifier.safetensors")
    return Checkpoints(
        folder / "diffusion.pt",
        folder / "discriminator.pt",
        folder / "classifier.safetensors",
        networks,
    )
