"""What the models draw: samples from pure noise, and all fifteen corruptions undone."""

import torch
from tqdm import tqdm

from dga.corruptions import CORRUPTIONS, corrupt
from dga.diffusion import reverse, step_noise
from dga.images import Pixels, from_tensor
from dga.networks.models import Models
from dga.pipeline import adapt, default_systems


def samples(models: Models, count: int, seed: int = 0) -> list[Pixels]:
    """Unconditional samples of the diffusion model, uint8 ``[S, S, 3]`` each."""
    steps, size = models.schedule.steps, models.profile.image_size
    seeds = list(range(seed, seed + count))
    x = torch.stack([step_noise(s, "forward", steps, (3, size, size)) for s in seeds])
    walk = reverse(models.schedule, models.denoiser, x.to(models.device), [steps] * count, seeds)
    for step in tqdm(walk, total=steps, desc="samples"):
        x = step.x
    return list(from_tensor(x))


def before_after(
    models: Models, pixels: Pixels, severity: int, seed: int = 0
) -> tuple[list[Pixels], list[str]]:
    """The picture under each corruption, then DGA and DGA + G; with captions naming t*."""
    own_depth = default_systems(models.profile)[:2]
    pictures, captions = [], []
    for name in tqdm(CORRUPTIONS, desc="corruptions"):
        damaged = corrupt(pixels, name, severity, seed)
        run = adapt(models, damaged, seed, own_depth)
        best = run.input_prediction
        stopped = f"t* {run.t_star}" + ("" if run.stop.crossed or run.stop.gave_up else " max")
        pictures.append(damaged)
        captions.append(f"{name.replace('_', ' ')}\n{best.label} {best.probability:.0%}")
        for result in run.reconstructions.values():
            prediction = result.prediction
            pictures.append(result.image)
            captions.append(
                f"{result.system.title}, {stopped}\n{prediction.label} {prediction.probability:.0%}"
            )
    return pictures, captions
