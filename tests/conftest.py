"""Tiny models and pictures, so that most tests take milliseconds."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import skimage.data
import torch
from app_fixtures import served, session  # noqa: F401  # fixtures, one of each for all modules
from PIL import Image

from dga.diffusion import Schedule
from dga.images import to_pixels, to_square
from dga.networks.classifier import build_classifier
from dga.networks.compute import Compute
from dga.networks.models import Models, load_models
from dga.networks.unet import Denoiser, Discriminator
from dga.profiles import EVERYDAY16, NetworkConfig, Profile, StoppingConfig

# Failed assertions in these say what was compared, as those in tests do.
pytest.register_assert_rewrite("browser_fixtures", "rights_fixtures")

TINY_NETWORK = NetworkConfig(
    image_size=32,
    fold=4,
    channels=32,
    channel_mult=(1, 1),
    res_blocks=1,
    attention=(2,),
    head_channels=32,
)


@pytest.fixture(scope="session")
def tiny_profile() -> Profile:
    return dataclasses.replace(
        EVERYDAY16,
        name="tiny",
        image_size=32,
        denoiser=TINY_NETWORK,
        discriminator=TINY_NETWORK,
        classifier=dataclasses.replace(
            EVERYDAY16.classifier,
            architecture="resnet10t",
            channels=(8, 8, 8, 8),
            stem_pool=True,
            input_size=32,
        ),
        stopping=StoppingConfig(tau=0.5, max_depth=12),
        dda_depth=5,
    )


def randomise(network: torch.nn.Module, seed: int) -> torch.nn.Module:
    """Fill every parameter, the zero-initialised ones too, so that outputs depend on inputs."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in network.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.data = parameter.data + 0.05 * noise
    return network.eval().requires_grad_(False)


@pytest.fixture(scope="session")
def tiny_models(tiny_profile: Profile) -> Models:
    torch.manual_seed(0)
    return Models(
        profile=tiny_profile,
        schedule=Schedule.from_config(tiny_profile.schedule),
        denoiser=randomise(Denoiser(tiny_profile.denoiser), 1),
        discriminator=randomise(Discriminator(tiny_profile.discriminator), 2),
        classifier=randomise(build_classifier(tiny_profile.classifier), 3),
        source_quantiles={"0.95": [0.0] * 101},
        compute=Compute(torch.device("cpu"), torch.float32),
    )


@pytest.fixture(scope="session")
def shipped_models() -> Models:
    return load_models("everyday16", compute=Compute.choose("cpu", "float32"))


@pytest.fixture(scope="session")
def cat() -> np.ndarray:
    """scikit-image's chelsea, 64 pixels a side."""
    return to_pixels(to_square(Image.fromarray(skimage.data.chelsea()), 64))


@pytest.fixture(scope="session")
def picture_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes of eight synthetic pictures, laid out as an image folder."""
    root = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for c, name in enumerate(("cat", "big_cat")):
        (root / name).mkdir()
        for i in range(8):
            base = rng.integers(0, 255, (6 + 4 * c, 6 + 4 * c, 3), dtype=np.uint8)
            Image.fromarray(base).resize((40, 36)).save(root / name / f"{name}_{i}.png")
    return root
