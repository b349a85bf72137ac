"""What a file has beside 8 bits of one picture comes back, or is said to be lost."""

import io
import itertools
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest
import tifffile
from PIL import Image, ImageSequence, PngImagePlugin

import dga
from dga.data import picture_files
from dga.data.formats import WRITTEN
from dga.data.picture_files import RemadeFile, StoredPicture, encode_result, list_losses
from dga.data.uploads import OWNER_LIMITS, UploadError, open_picture
from dga.images import Pixels, to_pixels
from tests.fixtures.odd_pictures import (
    FORMATS,
    as_rgb,
    grey,
    in_colour,
    swapped_profile,
    tags,
    tiff,
    truth,
)
from tests.fuzz.blocks import gif, saved

TIMES = [50, 100, 200]
ANIMATED = {"GIF": ".gif", "WEBP": ".webp", "PNG": ".png"}


def stored(data: bytes) -> StoredPicture:
    return StoredPicture(data, open_picture(data, OWNER_LIMITS))


def brighten(pixels: Pixels) -> Pixels:
    """A corner is changed, the rest not."""
    changed = pixels.copy()
    changed[:12, :12] = np.clip(changed[:12, :12].astype(int) + 40, 0, 255)
    return changed


def frames_of(content: bytes) -> list[Image.Image]:
    return ImageSequence.all_frames(open_picture(content, OWNER_LIMITS))


def animation(kind: str, loop: int | None = 2, **options: Any) -> bytes:
    """Three frames; the second is upside down."""
    images = [Image.fromarray(p) for p in (truth(), truth()[::-1], truth()[:, ::-1])]
    lossless = {"lossless": True} if kind == "WEBP" else {}
    loops = {} if loop is None else {"loop": loop}
    return saved(kind, images[0], save_all=True, append_images=images[1:], duration=TIMES,
                 **loops, **lossless, **options)  # fmt: skip


def pages(*images: np.ndarray, **options: Any) -> bytes:
    first, *rest = map(Image.fromarray, images)
    return saved("TIFF", first, save_all=True, append_images=rest, **options)


# Frames and pages


@pytest.mark.parametrize(("kind", "suffix"), itertools.product(ANIMATED, ANIMATED.values()))
def test_each_frame_of_an_animation_is_remade(kind, suffix):
    picture = stored(animation(kind))
    shown = [to_pixels(frame) for frame in frames_of(picture.data)]
    seen = list[Pixels]()

    def change(pixels: Pixels) -> Pixels:
        seen.append(pixels)
        return brighten(pixels)

    remade = picture.remake(suffix, change)
    frames = frames_of(remade.content)
    assert np.abs(np.subtract(seen, shown, dtype=int)).max() <= 1
    assert [frame.info["duration"] for frame in frames] == TIMES
    assert open_picture(remade.content).info["loop"] == 2
    for frame, pixels in zip(frames, shown, strict=True):
        error = np.abs(to_pixels(frame).astype(int) - brighten(pixels)).mean()
        assert error < (0.01 if suffix == ".png" else 6)
    assert any("256" in loss for loss in remade.losses) == (suffix == ".gif")


@pytest.mark.parametrize("kind", ANIMATED)
def test_what_is_not_changed_is_the_same_file(kind):
    picture = stored(animation(kind))
    assert picture.remake(ANIMATED[kind], np.copy) == RemadeFile(picture.data, [])
    assert picture.default_suffix == ANIMATED[kind]


@pytest.mark.parametrize("suffix", [".png", ".webp"])
def test_a_gif_that_is_shown_once_is_shown_once(suffix):
    remade = stored(animation("GIF", loop=None)).remake(suffix, brighten)
    assert open_picture(remade.content).info["loop"] == 1


@pytest.mark.parametrize("suffix", ANIMATED.values())
def test_a_frame_that_is_larger_than_the_first_is_whole(suffix):
    """A GIF may grow; what a smaller frame lacks is black."""

    def block(side: int) -> bytes:
        """A frame with colours of its own."""
        data = saved("GIF", Image.fromarray(truth()[:side, :side]))
        size, start = data[10] & 7, 13 + 6 * 2 ** (data[10] & 7)
        return (
            data[start : start + 9] + bytes((0x80 | size,)) + data[13:start] + data[start + 10 : -1]
        )

    picture = stored(gif(20, 20, block(20), block(32)))
    assert [frame.size for frame in frames_of(picture.data)] == [(20, 20), (32, 32)]
    remade = picture.remake(suffix, brighten)
    assert [frame.size for frame in frames_of(remade.content)] == [(32, 32)] * 2


def test_frames_that_are_clear_in_places_stay_so():
    """No frame shines through the next one."""
    clear = np.dstack([truth(), np.full(truth().shape[:2], 255, np.uint8)])
    images = []
    for side in (10, 20):
        clear[:, :side, 3] = 0
        images.append(Image.fromarray(clear.copy()))
        clear[..., 3] = 255
    data = saved("PNG", images[1], save_all=True, append_images=images[:1], duration=90, loop=0)
    for suffix in ANIMATED.values():
        remade = stored(data).remake(suffix, brighten)
        shown = [np.asarray(frame.convert("RGBA"))[..., 3] for frame in frames_of(remade.content)]
        assert [int((one == 0).sum()) for one in shown] == [20 * 32, 10 * 32], suffix


def test_pages_of_any_size_are_pages_again():
    small, letters = truth()[:20, :30], np.asarray(Image.fromarray(grey()).convert("1"))
    data = pages(truth(), small, grey(), letters, dpi=(200, 200), tiffinfo=tags({}))
    remade = stored(data).remake(".tif", brighten)
    assert remade.losses == []
    for frame, page in zip(frames_of(remade.content), frames_of(data), strict=True):
        assert np.array_equal(to_pixels(frame), brighten(to_pixels(page)))
        assert frame.info["dpi"] == (200, 200)
    for suffix in (".png", ".jpg", ".gif"):
        made = stored(data).remake(suffix, brighten)
        assert "3 of its 4 pages" in made.losses
        assert len(frames_of(made.content)) == 1


def test_pages_of_16_bits_stand_beside_others_and_thumbnails_are_no_pages():
    deep, deep_grey = (values.astype(np.uint16) * 256 + 3 for values in (truth(), grey()))
    stream = io.BytesIO()
    with tifffile.TiffWriter(stream) as writer:
        writer.write(truth(), photometric="rgb", metadata=None)
        writer.write(truth()[::2, ::2], photometric="rgb", metadata=None, subfiletype=1)
        writer.write(deep, photometric="rgb", metadata=None)
        writer.write(deep_grey, metadata=None)
    remade = stored(stream.getvalue()).remake(".tif", brighten)
    with tifffile.TiffFile(io.BytesIO(remade.content)) as file:
        made = [page.asarray() for page in file.pages]
    assert [one.dtype.name for one in made] == ["uint8", "uint8", "uint16"]
    assert np.array_equal(made[0], brighten(truth()))
    assert np.array_equal(made[2][12:], deep_grey[12:])
    assert remade.losses == ["more than 8 bits a channel"]


def test_too_many_frames_are_refused_in_a_sentence(monkeypatch):
    for name, most in (("MOST_FRAMES", 2), ("MOST_FRAME_PIXELS", 3_000)):
        with monkeypatch.context() as patch:
            patch.setattr(picture_files, name, most)
            for data in (*map(animation, ANIMATED), pages(truth(), grey(), truth())):
                with pytest.raises(UploadError, match="holds too many frames: at most"):
                    stored(data).remake(".png", brighten)


def test_a_frame_that_cannot_be_read_is_told():
    """The others are remade."""
    whole = pages(truth(), truth(), truth())
    image = open_picture(whole, OWNER_LIMITS)
    image.seek(1)
    at = image.tag_v2.get(273)[0]
    position = whole.index(at.to_bytes(4, "little"), image.tag_v2._offset)
    broken = whole[:position] + (2**31).to_bytes(4, "little") + whole[position + 4 :]
    remade = stored(broken).remake(".tif", brighten)
    assert len(frames_of(remade.content)) == 2
    assert "1 of its 3 pages, which cannot be read" in remade.losses
    gif = animation("GIF")
    remade = stored(gif[: len(gif) * 2 // 3]).remake(".gif", brighten)
    assert len(frames_of(remade.content)) < 3
    assert any("cannot be read" in loss for loss in remade.losses)


# Opacity


def with_opacity(kind: str, mode: str = "RGBA", **options: Any) -> tuple[bytes, np.ndarray]:
    opacity = np.full(grey().shape, 255, np.uint8)
    opacity[:16] = np.linspace(0, 255, opacity.shape[1])
    colours = truth() if mode == "RGBA" else as_rgb(grey())
    image = Image.fromarray(np.dstack([colours, opacity])).convert(mode)
    return saved(kind, image, **options), np.asarray(image.convert("RGBA"))


@pytest.mark.parametrize(
    ("kind", "mode", "options"),
    [("PNG", "RGBA", {}), ("PNG", "LA", {}), ("TIFF", "RGBA", {}),
     ("WEBP", "RGBA", FORMATS["WEBP"]), ("PNG", "RGBA", {"icc_profile": swapped_profile()})],
)  # fmt: skip
def test_opacity_is_laid_back(kind, mode, options):
    """Laid on white, the result is what was made of it; elsewhere its values are as they were."""
    data, values = with_opacity(kind, mode, **options)
    picture = stored(data)
    wanted = brighten(picture.pixels)
    for suffix in (".png", ".tif"):
        remade = picture.remake(suffix, brighten)
        assert remade.losses == []
        made = open_picture(remade.content)
        shown = np.asarray(made.convert("RGBA"))
        assert np.array_equal(shown[..., 3], values[..., 3])
        assert np.array_equal(shown[12:], values[12:])
        assert np.array_equal(shown[:, 12:], values[:, 12:])
        is_seen = values[..., 3] > 60
        error = np.abs(to_pixels(made).astype(int) - wanted)[is_seen]
        assert error.max() <= (6 if "icc_profile" in options else 2)
    assert picture.remake(".jpg", brighten).losses == ["its transparency"]


def test_opacity_under_another_light_is_laid_back():
    """A PNG with an exponent of light of its own, which no result has."""
    data, values = with_opacity("PNG")
    gamma = b"\0\0\0\4gAMA\0\1\x86\xa0\x31\xe8\x96\x5f"
    data = data[:33] + gamma + data[33:]
    picture = stored(data)
    made = open_picture(picture.remake(".png", brighten).content)
    assert np.array_equal(np.asarray(made)[..., 3], values[..., 3])
    is_seen = values[..., 3] > 60
    assert np.abs(to_pixels(made).astype(int) - brighten(picture.pixels))[is_seen].max() <= 3


# 16 bits


@pytest.mark.parametrize("made_as", [".png", ".tif"])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_16_bits_of_grey_are_kept(kind, made_as):
    """Every bit of what was not changed, and the finer steps of what was."""
    fine = np.random.default_rng(0).integers(0, 257, grey().shape)
    values = (grey() * 257.0 + fine - 100).clip(0, 65_535).astype(np.uint16)
    picture = stored(saved(kind, values))
    wanted = brighten(picture.pixels)
    remade = picture.remake(made_as, brighten)
    assert remade.losses == []
    made = open_picture(remade.content)
    shown = np.asarray(made)
    assert shown.dtype == np.uint16
    assert np.array_equal(shown[12:], values[12:])
    assert np.abs(to_pixels(made).astype(int) - wanted).max() <= 2
    for suffix in (".jpg", ".webp"):
        assert "more than 8 bits a channel" in picture.remake(suffix, brighten).losses


def deep_colours(suffix: str, values: Pixels, **options: Any) -> bytes:
    """Colours of 16 bits, as other programs write them."""
    deep = values.astype(np.uint16) * 257
    if suffix == ".png":
        return bytes(cv2.imencode(".png", deep[..., [2, 1, 0, 3][: values.shape[2]]])[1])
    return tiff(deep, **options)


@pytest.mark.parametrize("made_as", [".png", ".tif", ".webp"])
@pytest.mark.parametrize("stored_as", [".png", ".tif"])
@pytest.mark.parametrize("channels", [3, 4])
def test_16_bits_of_colour_are_said_to_be_lost(channels, stored_as, made_as):
    """The picture itself, and its opacity, are there; what is not changed keeps its file."""
    clear = np.dstack([truth(), np.full(grey().shape, 200, np.uint8)])
    picture = stored(deep_colours(stored_as, clear[..., :channels]))
    remade = picture.remake(made_as, brighten)
    assert remade.losses == ["more than 8 bits a channel"]
    made = open_picture(remade.content)
    assert made.has_transparency_data == (channels == 4)
    error = np.abs(to_pixels(made).astype(int) - brighten(picture.pixels))
    assert error.max() <= 2 if made_as != ".webp" else error.mean() < 6
    assert picture.remake(stored_as, np.copy) == RemadeFile(picture.data, [])


# What stands beside the pixels


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".tif"])
@pytest.mark.parametrize("profile", ["none", "srgb", "swapped", "broken"])
@pytest.mark.parametrize("kind", FORMATS)
def test_profile_exif_and_resolution_survive(kind, profile, suffix):
    """What is unchanged keeps its very bytes in its own format, and its colours in others."""
    picture, made_as = stored(in_colour(kind, 6, profile)[0]), WRITTEN[suffix].name
    same = encode_result(picture.data, picture.pixels.copy(), suffix)
    assert (same == picture.data) == (made_as == kind)
    changed = brighten(picture.pixels)
    results = {same: picture.pixels, encode_result(picture.data, changed, suffix): changed}
    for content, expected in results.items():
        image = open_picture(content, OWNER_LIMITS)
        if profile != "broken":
            assert image.info.get("icc_profile") == picture.image.info.get("icc_profile")
        assert image.getexif().get(0x010F) == "Maker"
        if "WEBP" not in (kind, made_as):
            assert np.allclose(image.info["dpi"], 300, atol=1)
        error = np.abs(to_pixels(image).astype(int) - expected).mean()
        assert error <= (0.2 if made_as in ("PNG", "TIFF") else 8)


def test_a_program_has_its_picture_back_with_its_profile(choosy_models):
    image = Image.open(io.BytesIO(in_colour("PNG", 6, "swapped")[0]))
    read = dga.to_pixels(image)
    assert read.shape == truth().shape
    done, expected = dga.repair(image, choosy_models), dga.repair(read, choosy_models)
    assert np.abs(to_pixels(done).astype(int) - expected).max() <= 2
    assert done.info["icc_profile"] == swapped_profile()


def test_a_program_has_an_unchanged_picture_back_upright(choosy_models):
    plain = Image.new("RGB", (48, 32), "teal")
    plain.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "Maker"  # stored a quarter turned
    image = Image.open(io.BytesIO(saved("PNG", plain, exif=exif)))
    done = dga.repair(image, choosy_models)
    assert np.array_equal(to_pixels(done), np.rot90(plain, -1))
    assert done.getexif().get(0x010F) == "Maker"


# What is said


def with_gain_map(note: bytes = b"http://ns.adobe.com/hdr-gain-map/1.0/") -> bytes:
    """Two JPEGs, of which the second says what it is, in the layout of several pictures (MPF)."""
    first, second = (saved("JPEG", p, quality=95) for p in (truth(), grey()))
    stream = io.BytesIO()
    Image.open(io.BytesIO(first)).save(
        stream, "MPO", save_all=True, append_images=[Image.open(io.BytesIO(second))]
    )
    segment = b"\xff\xe1" + (len(note) + 2).to_bytes(2) + note
    return stream.getvalue()[:-2] + segment * bool(note) + b"\xff\xd9"


LOSSES: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "a gain map": (with_gain_map, ".jpg", "its gain map (HDR)"),
    "another picture": (lambda: with_gain_map(b""), ".jpg", "1 further picture"),
    "frames": (lambda: animation("WEBP"), ".jpg", "2 of its 3 frames"),
    "opacity": (lambda: with_opacity("PNG")[0], ".jpg", "its transparency"),
    "half opacity": (lambda: with_opacity("PNG")[0], ".gif", "its half transparency"),
    "16 bits": (lambda: saved("PNG", grey().astype(np.uint16) * 257), ".webp", "8 bits"),
    "16 bits of colour": (lambda: deep_colours(".png", truth()), ".png", "8 bits"),
    "floats": (lambda: saved("TIFF", grey().astype(np.float32)), ".tif", "16 bits"),
    "a printer's colours": (
        lambda: saved("JPEG", Image.fromarray(truth()).convert("CMYK")), ".png", "CMYK"
    ),
    "notes": (lambda: saved("JPEG", truth(), xmp=b"<x:xmpmeta/>"), ".png", "XMP"),
    "layers": (
        lambda: tiff(truth(), extratags=[(37_724, 7, 4, b"abcd", True)]), ".tif", "layer"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_what_is_not_kept_is_said(name):
    make, suffix, words = LOSSES[name]
    picture = stored(make())
    assert any(words in loss for loss in picture.remake(suffix, brighten).losses)
    losses = list_losses(picture.data, suffix, is_plain=False)
    assert any(words in loss for loss in losses) == (name != "frames")
    assert any("first frame" in loss for loss in losses) == (name == "frames")
    assert stored(saved("PNG", truth())).remake(suffix, brighten).losses in (
        [], ["more than 256 colours a frame"]
    )  # fmt: skip


@pytest.mark.parametrize("name", ["opacity", "16 bits"])
def test_what_a_smaller_picture_loses_is_said(name):
    assert list_losses(LOSSES[name][0](), ".png", is_plain=False) == []
    assert list_losses(LOSSES[name][0](), ".png", is_plain=True)


@pytest.mark.parametrize(("alpha", "words"), [(255, []), (0, []), (99, ["its transparency"])])
def test_opacity_that_says_nothing_is_no_loss(alpha, words):
    image = Image.fromarray(np.dstack([truth(), np.full(truth().shape[:2], alpha, np.uint8)]))
    assert list_losses(saved("PNG", image), ".png", is_plain=True) == words


@pytest.mark.parametrize("suffix", [".png", ".tif", ".gif"])
@pytest.mark.parametrize("text", ["300", "short"])
@pytest.mark.parametrize("key", ["dpi", "duration", "loop"])
def test_texts_of_a_png_are_no_numbers(key, text, suffix):
    notes = PngImagePlugin.PngInfo()
    notes.add_text(key, text)
    picture = stored(saved("PNG", truth(), pnginfo=notes))
    assert picture.remake(suffix, brighten).content
    assert encode_result(picture.data, truth()[:20, :20], suffix)
    assert list_losses(picture.data, ".png", is_plain=False) == []
    moving = saved("PNG", truth(), pnginfo=notes, save_all=True,
                   append_images=[Image.fromarray(grey())])  # fmt: skip
    assert stored(moving).remake(suffix, brighten).content
