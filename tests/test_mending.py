"""What no measurement explains is mended, and undamaged pictures stay bit for bit."""

import dataclasses

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter
from skimage.metrics import peak_signal_noise_ratio as psnr

from dga.corruptions import corrupt
from dga.explanation.blur import BlurFits
from dga.explanation.operators import Disk, MotionBlur
from dga.images import Pixels, from_tensor, recompress_jpeg, to_tensor
from dga.mending import draw_from_depths, mend
from dga.photograph import repair_photograph
from dga.pipeline import NO_EXPLANATION
from dga.profiles import Diffusion, MendingConfig
from tests.fixtures.pictures import open_sample, photograph
from tests.fixtures.runs import counted


@pytest.mark.parametrize(
    ("kind", "size"),
    [("sensor_noise", (400, 448)), ("blue_noise", (224, 224)), ("enlarged_noise", (224, 224))],
)
def test_noise_that_is_not_white_is_mended_and_called_noise(photo_models, kind, size):
    """A large photograph by windows."""
    clear = np.ascontiguousarray(skimage.data.coffee()[: size[0], : size[1]])
    damaged = corrupt(clear, kind, 5, seed=1)
    result = repair_photograph(photo_models, damaged)
    assert result.is_mended
    assert result.facts()["mended"]
    assert result.facts()["found"].startswith("noise")
    assert psnr(clear, result.image) > psnr(clear, damaged) + 3


def test_a_noisy_picture_is_judged_as_it_came_as_noisy_and_mended_once_each(photo_models, coffee):
    """By a thumbnail and four windows of it, each at three depths."""
    models = counted(photo_models)
    damaged = corrupt(coffee, "blue_noise", 5, seed=1)
    assert repair_photograph(models, damaged).is_mended
    assert models.explainer.shown == 3 * 5 * 3


@pytest.mark.parametrize("kind", ["motion_blur", "contrast", "pixelate"])
def test_what_saving_left_is_mended_after_the_inverse(photo_models, coffee, kind):
    damaged = np.asarray(recompress_jpeg(corrupt(coffee, kind, 5, seed=1), 85))
    result = repair_photograph(photo_models, damaged)
    undone = repair_photograph(dataclasses.replace(photo_models, conditional=None), damaged)
    assert result.is_mended
    assert result.facts()["undone"]
    assert psnr(coffee, result.image) > psnr(coffee, undone.image)


def test_a_picture_that_is_too_dark_is_brightened(photo_models, coffee):
    damaged = corrupt(coffee, "underexposed", 5, seed=1)
    result = repair_photograph(photo_models, damaged)
    assert "dark" in result.facts()["found"]
    assert psnr(coffee, result.image) > psnr(coffee, damaged) + 6


def test_a_dark_scene_that_lost_contrast_is_not_taken_for_too_dark(photo_models):
    dark = (photograph("chelsea") * 0.8).astype(np.uint8)
    damaged = corrupt(dark, "contrast", 5, seed=1)
    result = repair_photograph(photo_models, damaged)
    assert result.explanation.degradation.veil is not None


@pytest.mark.parametrize("kind", ["camera_shake", "lens_blur", "enlarged"])
def test_what_is_soft_has_no_veil(photo_models, coffee, kind):
    result = repair_photograph(photo_models, corrupt(coffee, kind, 5, seed=1))
    assert result.explanation.degradation.veil is None


@pytest.mark.parametrize("name", ["moose", "panda", "windmill"])
def test_a_photograph_that_was_sharpened_too_much_has_no_speckles(photo_models, name):
    clear = open_sample(name)
    fine = clear - gaussian_filter(clear.astype(float), (1, 1, 0))
    sharpened = (clear + 3 * fine).round().clip(0, 255).astype(np.uint8)
    result = repair_photograph(photo_models, np.asarray(recompress_jpeg(sharpened, 90)))
    assert result.explanation.degradation.impulses is None


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("share", [0.02, 0.08])
def test_salt_and_pepper_is_removed_also_when_it_is_grey(photo_models, coffee, share, channels):
    rng = np.random.default_rng(0)
    is_wrong = rng.random((224, 224, channels)) < share
    levels = 255 * (rng.random(is_wrong.shape) < 0.5)
    damaged = np.where(is_wrong, levels, coffee).astype(np.uint8)
    result = repair_photograph(photo_models, damaged)
    assert psnr(coffee, result.image) > psnr(coffee, damaged) + 10


def test_fine_texture_is_no_noise(photo_models):
    """Of which a window alone looks noisy, and the picture comes back."""
    grass = np.repeat(skimage.data.grass()[:224, :224, None], 3, 2)
    assert repair_photograph(photo_models, np.ascontiguousarray(grass)).is_unchanged


def test_an_estimate_may_be_drawn_anew_from_a_depth(photo_models, coffee):
    x, plus = to_tensor(corrupt(coffee, "sensor_noise", 5, seed=1)), photo_models.profile.plus
    deep = MendingConfig(diffusion=Diffusion(depth=6, steps=2))
    anew = dataclasses.replace(plus, mending=deep)
    mended, again, plain = (
        mend(photo_models, x, 0, repair, NO_EXPLANATION).image for repair in (anew, anew, plus)
    )
    assert mended.equal(again)
    assert not mended.equal(plain)


@pytest.mark.parametrize("saved", [None, 85])
def test_a_poor_jpeg_is_measured_and_mended(photo_models, coffee, saved):
    """Also one that was saved again; a good JPEG is left alone."""
    poor = np.asarray(recompress_jpeg(coffee, 10))
    damaged = np.asarray(recompress_jpeg(poor, saved)) if saved else poor
    result = repair_photograph(photo_models, damaged)
    assert result.explanation.degradation.jpeg_quality == 10
    assert result.is_mended
    assert psnr(coffee, result.image) > psnr(coffee, damaged)
    good = np.asarray(recompress_jpeg(coffee, 75))
    assert repair_photograph(photo_models, good).is_unchanged


@pytest.mark.parametrize(
    ("kind", "operator"), [("defocus_blur", Disk), ("motion_blur", MotionBlur)]
)
def test_blur_that_saving_hid_is_undone_where_the_discriminator_prefers_it(
    photo_models, kind, operator
):
    """Nothing certain is measured in it, and what is likely is its own kind."""
    panda = open_sample("panda")
    damaged = np.asarray(recompress_jpeg(corrupt(panda, kind, 5, seed=0), 85))
    assert BlurFits(to_tensor(damaged)).find_certain() is None
    result = repair_photograph(photo_models, damaged)
    assert isinstance(result.explanation.degradation.operator, operator)
    assert psnr(panda, result.image) > psnr(panda, damaged) + 4


def print_page(margin: int) -> Pixels:
    """Lines of black text on white."""
    sheet = Image.new("RGB", (224, 224), "white")
    pen = ImageDraw.Draw(sheet)
    for line in range(margin, 224 - margin, 14):
        pen.text((margin, line), "Of a page little is grey. " * 2, fill="black")
    pen.rectangle((224 - margin, 0, 224, 224), fill="white")
    return np.asarray(sheet)


@pytest.mark.parametrize("saved", [None, 95, 85, 50])
@pytest.mark.parametrize("margin", [0, 12])
def test_print_is_left_alone_also_saved_as_jpeg(photo_models, saved, margin):
    """Also where it fills the picture; a page's margin is no frame."""
    page = print_page(margin)
    printed = np.asarray(recompress_jpeg(page, saved)) if saved else page
    assert repair_photograph(photo_models, printed).is_unchanged


def test_a_page_saved_as_a_poor_jpeg_keeps_its_light(photo_models):
    page = print_page(margin=12)
    poor = np.asarray(recompress_jpeg(page, 10))
    result = repair_photograph(photo_models, poor)
    assert psnr(page, result.image) > psnr(page, poor) - 0.5


def test_an_estimate_is_drawn_from_several_depths(photo_models, coffee):
    """As Inside shows it; nothing where no denoiser sees the picture."""
    damaged = corrupt(coffee, "sensor_noise", 5, seed=1)
    drawn = dict(draw_from_depths(photo_models, to_tensor(damaged), 0, (0, 12)))
    assert from_tensor(drawn[0]).tolist() == repair_photograph(photo_models, damaged).image.tolist()
    assert psnr(coffee, from_tensor(drawn[12])) > psnr(coffee, damaged)
    unaided = dataclasses.replace(photo_models, conditional=None)
    assert not dict(draw_from_depths(unaided, to_tensor(damaged), 0, (0, 12)))
