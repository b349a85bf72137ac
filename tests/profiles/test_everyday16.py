"""The shipped everyday16 models on real photographs that come with scikit-image."""

from dga.adaptation import judge_curve
from dga.corruptions import corrupt
from dga.images import Pixels, to_tensor
from dga.pipeline import ForwardProcess
from dga.steps import take_result
from tests.fixtures.pictures import photograph

NAMES = "chelsea", "coffee", "astronaut", "rocket", "retina"


def test_clean_photographs_stop_early_and_noisy_ones_late(shipped_models):
    """Of the clean ones, which are downsized from high resolution, 4 of 5 by depth 4."""

    def t_star(pixels: Pixels, seed: int) -> int:
        process = ForwardProcess(shipped_models, to_tensor(pixels), seed)
        forward = take_result(judge_curve(process, shipped_models.profile.stopping, 0))
        return forward.stop.t_star

    photographs = [photograph(name, 64) for name in NAMES]
    clean = [t_star(pixels, seed) for seed, pixels in enumerate(photographs)]
    assert sum(depth <= 4 for depth in clean) >= 4, clean
    for seed, pixels in enumerate(photographs):
        assert t_star(corrupt(pixels, "gaussian_noise", 5, seed), seed) >= 10, seed
