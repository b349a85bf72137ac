"""What is wrong with a picture: which damage, how strong, how sure, and whether it can be undone.

With networks a picture is explained as for its repair
(:mod:`dga.explanation.search`), so that nothing is found that the discriminator objects
to. Without them it is measured alone, which is quick, and takes fine texture for damage more often.
Its constants were chosen by hand on the half of the photographs for choices (``tune``), where
sureness is calibrated without networks.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from dga.adaptation import classify
from dga.data.uploads import decode_picture
from dga.explanation.blur import POWER_LAW, measure_softness
from dga.explanation.degradation import NO_DEGRADATION, Degradation, Explanation
from dga.explanation.exposure import (
    DEVIATION_FLOOR,
    LEAST_LIGHT,
    LIFTED_SHARE,
    WHITE,
    Exposure,
    find_level,
    find_range,
)
from dga.explanation.jpeg_quality import find_quality
from dga.explanation.noise_level import find_impulses
from dga.explanation.rain import find_streaks
from dga.explanation.search import DamageSearch
from dga.explanation.spectrum import compute_power_spectrum, compute_radial_spectrum
from dga.images import HALF_RANGE, Pixels, check_pixels, cut_middle, to_pixels, to_square, to_tensor
from dga.io.numbers import format_share
from dga.mending import mend
from dga.networks.compute import isolate_numerics
from dga.networks.models import Models, load_default_models
from dga.photograph import (
    RepairedPhotograph,
    content_seed,
    explain_photograph,
    mirror_to_side,
    repair_photograph,
)
from dga.plain_frame import find_inside
from dga.profiles import PROFILES
from dga.steps import take_result


@dataclass(frozen=True)
class DamageKind:
    """A kind of damage: its title, how its strength is written, and what makes it sure.

    ``baseline``: the strength of a picture without it. A finding whose strength differs from that
    by ``even_odds`` is as likely wrong as right; one that differs more is the surer, the faster the
    larger ``steepness`` is: sureness = 1 / (1 + (even_odds / difference) ^ steepness).
    """

    title: str
    template: str
    baseline: float
    even_odds: float
    steepness: float

    @property
    def unit(self) -> str:
        """What the strength is measured in."""
        return self.template.replace("{:.3g}", "").strip()


DAMAGE_KINDS = {
    "noise": DamageKind("Noise", "noise level {:.3g}", 0.0, 0.06, 5.6),
    "impulses": DamageKind("Speckles", "{:.3g} of the values", 0.0, 0.01, 2.8),
    "blocks": DamageKind("Blocks", "{:.3g} px a block", 1.0, 0.5, 2.8),
    "blur": DamageKind("Blur", "{:.3g} px", 0.0, 1.5, 4.2),
    "motion": DamageKind("Motion blur", "{:.3g} px", 0.0, 3.0, 2.8),
    "zoom": DamageKind("Zoom blur", "{:.3g} times", 1.0, 0.05, 2.8),
    "glass": DamageKind("Rough glass", "{:.3g} px", 0.0, 2.5, 4.2),
    "ripples": DamageKind("Ripples", "{:.3g} px", 0.0, 0.3, 2.8),
    "rain": DamageKind("Rain", "{:.3g} of the pixels", 0.0, 0.01, 2.8),
    "warp": DamageKind("Warping", "waviness {:.3g}", 0.0, 0.04, 6.0),
    "soft": DamageKind("Little fine detail", "{:.3g} px", 0.0, 2.0, 5.6),
    "veil": DamageKind("Haze or low contrast", "gain {:.3g}", 1.0, 0.5, 1.4),
    "exposure": DamageKind("Wrong exposure", "gain {:.3g}", 1.0, 0.5, 1.4),
    "jpeg": DamageKind("JPEG", "quality {:.3g}", 100.0, 50.0, 11.2),
    "unexplained": DamageKind("Unexplained damage", "mean change {:.3g}", 0.0, 0.02, 2.0),
}
"""All kinds, by the words of ``--only``. These constants alone make a measurement a sureness, which
is calibrated without networks, where a quarter of the pictures is undamaged
(dga/folders/README.md)."""
BLURS = ("blocks", "blur", "motion", "zoom", "glass", "ripples")
"""Kinds that say why a picture has little fine detail; without them that itself is told."""
LIGHTS = ("veil", "exposure")
"""Kinds of wrong light; without them what is odd about its range is told."""
MARGIN_WEIGHT = 0.5
"""How much a logit by which the discriminator prefers the inverse adds to a finding's log odds."""
DARK_SHARE = 0.01
"""Share of the pixels whose darkest channel says whether anything is black."""
SHARP_SOFTNESS = 3.5
"""That of sharp photographs, in natural log power, which a finding of softness exceeds."""
COARSE = 0.015, 0.05
"""Cycles a pixel of coarse detail, of which none is lost."""
LOST_POWER = 2.5
"""Natural log power below the law of sharp photographs at which finer detail is lost."""
LENS_RADIANS = 2.83
"""Radians a radius at which a lens lets as little through: 2 J1(z) / z = exp(-2.5 / 2)."""
MOST_UNSURE = 0.49
"""Most sureness of light that is odd, and of no kind that is recognised: it may be meant so."""
SHADING_SIDE, SMOOTH_EVIDENCE = 6, 0.18
"""Samples a side of a picture's shading, and the gain that counts for each time by which shading
exceeds the rest."""
LEAST_SURE, SURE = 0.005, 0.5
"""Sureness from which a finding is told, and from which it counts as damage."""
MEASURED_SIDE, FILTERED_SIDE = 1024, 256
"""Pixels a side of the middle that is measured without networks, and searched for impulses."""
MENDED_SIDE, LEAST_QUIET_NOISE = 256, 0.01
"""Pixels a side of the middle that a denoiser is shown, and the noise level in the quietest part
from which on it is."""
JUDGED_NOISE = 2.0
"""Noise that networks recognised is as sure as so many times as much that was measured alone."""


@dataclass(frozen=True)
class Finding:
    """One kind of damage in a picture.

    ``kind``: of :data:`DAMAGE_KINDS`; ``strength``: in its unit; ``description``: in words, with
    what a number does not say, such as an angle; ``sureness``: 0 to 1; ``is_undoable``: None where
    only a repair could tell.
    """

    kind: str
    strength: float
    description: str
    sureness: float
    is_undoable: bool | None

    @property
    def severity(self) -> float:
        """How far the strength is from that of no damage."""
        return abs(self.strength - DAMAGE_KINDS[self.kind].baseline)

    def facts(self) -> dict[str, Any]:
        """JSON types."""
        return {
            "kind": self.kind,
            "strength": round(self.strength, 4),
            "unit": DAMAGE_KINDS[self.kind].unit,
            "severity": round(self.severity, 4),
            "description": self.description,
            "sureness": min(0.999, round(self.sureness, 3)),  # nothing is certain
            "undoable": self.is_undoable,
        }


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with one picture.

    ``findings``: the surest first; ``format``: of the file, None for an array; ``is_photograph``:
    False where most is plain, and nothing is found (one colour, a drawing, a page, a cut-out);
    ``readings``: the classifier's label and its probability of the picture as it came and repaired,
    where they were asked for.
    """

    findings: tuple[Finding, ...]
    width: int
    height: int
    format: str | None
    is_photograph: bool
    readings: tuple[tuple[str, float], ...] = ()

    @property
    def is_damaged(self) -> bool:
        """Whether some damage is more likely than not."""
        return any(finding.sureness >= SURE for finding in self.findings)

    def facts(self) -> dict[str, Any]:
        """JSON types, without pictures."""
        facts: dict[str, Any] = {
            "width": self.width,
            "height": self.height,
            "format": self.format,
            "photograph": self.is_photograph,
            "damaged": self.is_damaged,
            "findings": [finding.facts() for finding in self.findings],
        }
        for name, (label, probability) in zip(("came", "repaired"), self.readings, strict=False):
            facts[f"reading_{name}"] = label
            facts[f"probability_{name}"] = round(probability, 5)
        return facts

    def __str__(self) -> str:
        """The sentence after *Found*."""
        if not self.is_photograph:
            return "mostly plain: one colour, a drawing, a page or a cut-out."
        words = {True: "can be undone", False: "cannot be undone", None: "perhaps to be mended"}
        parts = [
            f"{one.description} ({format_share(one.sureness)} sure, {words[one.is_undoable]})"
            for one in self.findings
            if one.sureness >= SURE
        ]
        return f"{'; '.join(parts) or 'no damage that is recognised'}."


@isolate_numerics
def diagnose(
    picture: Image.Image | Pixels,
    models: Models | None = None,
    is_fast: bool = False,
    has_readings: bool = False,
) -> Diagnosis:
    """Diagnose a picture of any size: a PIL image, or an array, uint8 ``[H, W, 3]``.

    ``models``: by default those of ``photo``; ``is_fast``: without any, by measurement alone;
    ``has_readings``: repair it, too, and read both. A JPEG's good quality is known only of an image
    as it was opened. Raises ``ValueError`` for what is no picture, or cannot be read, and for
    ``is_fast`` beside ``models`` or ``has_readings``; ``FloatingPointError`` if a network returns
    no numbers.
    """
    if is_fast and (models is not None or has_readings):
        raise ValueError("is_fast asks no network: leave models and has_readings out, or is_fast.")
    image = _to_image(picture)
    pixels = to_pixels(decode_picture(image))
    models = None if is_fast else models or load_default_models()
    examination = _examine(image, pixels, models, has_readings)
    findings = [one for one in _list_findings(examination) if one.sureness >= LEAST_SURE]
    has_damage = any(finding.sureness >= SURE for finding in findings)
    explanation, repaired = examination.explanation, examination.repaired
    return Diagnosis(
        tuple(sorted(findings, key=lambda finding: -finding.sureness)),
        width=pixels.shape[1],
        height=pixels.shape[0],
        format=image.format,
        is_photograph=not explanation.is_unjudgeable and (has_damage or not explanation.is_page),
        readings=_read_squares(models, pixels, repaired.image) if models and repaired else (),
    )


def _to_image(picture: Image.Image | Pixels) -> Image.Image:
    """An image, as it was opened, or of an array, uint8 ``[H, W, 3]``."""
    if isinstance(picture, Image.Image):
        return picture
    array = np.asarray(picture)
    check_pixels(array)
    return Image.fromarray(array)


@dataclass(frozen=True)
class _Examination:
    """A picture whose damage is explained, and not yet named."""

    image: Image.Image
    """As it was opened."""
    pixels: Pixels
    """uint8 ``[H, W, 3]``."""
    framed: Pixels
    """What lies in its frame."""
    middle: Tensor
    """The part that is measured of that, ``[3, h, w]`` in [-1, 1]."""
    explanation: Explanation
    """Of what lies in its frame; without networks, of ``middle``."""
    is_judged: bool
    """Whether networks were asked."""
    repaired: RepairedPhotograph | None
    """None where readings of it were not asked for."""


def _examine(
    image: Image.Image, pixels: Pixels, models: Models | None, has_readings: bool
) -> _Examination:
    """Explain a picture's damage: by measurement alone without models, else as for its repair."""
    framed, repaired = pixels[find_inside(pixels)], None
    continued = mirror_to_side(framed, PROFILES["photo"].discriminator.image_size)
    middle = cut_middle(to_tensor(continued), MEASURED_SIDE)
    if models is None:
        explanation = _measure(middle)
    elif has_readings:
        repaired = repair_photograph(models, pixels)
        explanation = repaired.explanation
    else:
        explanation = _explain(models, framed, content_seed(pixels))
    return _Examination(image, pixels, framed, middle, explanation, models is not None, repaired)


def _explain(models: Models, framed: Pixels, seed: int) -> Explanation:
    """Explain what lies in a frame as for its repair, with the noise of its middle that only a
    denoiser recognises."""
    photograph = take_result(explain_photograph(models, framed, seed))
    explanation, middle = photograph.explanation, cut_middle(photograph.process.x, MENDED_SIDE)
    has_noise = explanation.quiet_noise > LEAST_QUIET_NOISE
    if explanation.degradation == NO_DEGRADATION and has_noise:
        mended = mend(models, middle, seed, photograph.repair, explanation)
        explanation = mended.explanation if mended else explanation
    return explanation


def _measure(x: Tensor) -> Explanation:
    """The explanation of ``[3, H, W]`` to which nobody objects."""
    config = PROFILES["photo"].plus.explain
    assert config is not None
    return take_result(DamageSearch(x, config, filtered_side=FILTERED_SIDE).run())


def _read_squares(models: Models, *pictures: Pixels) -> tuple[tuple[str, float], ...]:
    """The classifier's label for the middle square of each picture, and its probability."""
    size = models.profile.image_size
    squares = (to_pixels(to_square(Image.fromarray(picture), size)) for picture in pictures)
    readings = (classify(models, to_tensor(one)[None].to(models.device))[0] for one in squares)
    return tuple((reading.label, reading.probability) for reading in readings)


# Findings


def _list_findings(examination: _Examination) -> list[Finding]:
    """Everything that is wrong, however unsure; nothing of one colour or a drawing."""
    explanation, repaired = examination.explanation, examination.repaired
    if explanation.is_unjudgeable:
        return []
    is_mended = repaired.is_mended if repaired else None
    findings = _list_judged(examination) if examination.is_judged else _list_measured(examination)
    if not explanation.is_page and not any(one.kind in BLURS for one in findings):
        findings += _find_softness(examination.middle, is_mended)
    traced = None if explanation.is_page else examination.framed
    if quality := find_quality(examination.image, traced):
        findings.append(
            _make_finding("jpeg", quality, f"JPEG of quality {quality}", is_undoable=is_mended)
        )
    if repaired and is_mended and not any(one.sureness >= SURE for one in findings):
        change = np.abs(repaired.image - examination.pixels.astype(float)).mean() / HALF_RANGE
        text = "signs of damage that nothing explains"
        findings.append(_make_finding("unexplained", float(change), text, is_undoable=True))
    return findings


def _list_measured(examination: _Examination) -> list[Finding]:
    """Findings of measurement alone."""
    explanation = examination.explanation
    level, quiet = explanation.measured_noise, explanation.quiet_noise
    noise = _make_finding("noise", level, f"noise {level:.2f}", evidence=quiet)
    damage, x = explanation.degradation, examination.middle
    findings = [*_list_parts(damage, x), *_find_moved(damage, None), noise]
    has_light = any(one.kind in LIGHTS and one.sureness >= SURE for one in findings)
    return findings if explanation.is_page or has_light else [*findings, *_find_odd_light(x)]


def _list_judged(examination: _Examination) -> list[Finding]:
    """Findings that the discriminator had its say in, and a blur that it refused to have undone."""
    explanation, repaired = examination.explanation, examination.repaired
    x, margin = to_tensor(examination.framed), explanation.blur_margin
    is_undoable = not (repaired and repaired.is_unchanged)
    findings = list(_list_parts(explanation.degradation, x, is_undoable, margin))
    if explanation.refused_blur:
        findings += _list_parts(explanation.refused_blur, x, is_undoable=False, margin=margin)
    can_mend = is_undoable if repaired else None  # a denoiser may take it for texture
    findings += _find_moved(explanation.degradation, can_mend)
    if level := explanation.degradation.noise:
        text, evidence = f"noise {level:.2f}", JUDGED_NOISE * level
        findings.append(_make_finding("noise", level, text, evidence, is_undoable=can_mend))
    return findings


def _make_finding(
    kind: str,
    strength: float,
    description: str,
    evidence: float | None = None,
    margin: float = 0.0,
    is_undoable: bool | None = None,
) -> Finding:
    """A finding. ``evidence``: the strength that its sureness follows, if another; ``margin``: by
    how many logits the discriminator prefers the inverse."""
    known = DAMAGE_KINDS[kind]
    difference = max(abs((strength if evidence is None else evidence) - known.baseline), 1e-6)
    log_odds = known.steepness * math.log(difference / known.even_odds) + MARGIN_WEIGHT * margin
    sureness = 1 / (1 + math.exp(-max(-50.0, min(50.0, log_odds))))
    return Finding(kind, strength, description, sureness, is_undoable)


def _list_parts(
    degradation: Degradation, x: Tensor, is_undoable: bool | None = None, margin: float = 0.0
) -> Iterator[Finding]:
    """A finding for each part of a degradation but noise, glass and warping.

    ``x``: the picture, ``[3, H, W]``; ``is_undoable``: None without networks; ``margin``: of a
    blur, as in :func:`_make_finding`.
    """
    operator, veil, exposure = degradation.operator, degradation.veil, degradation.exposure
    found = functools.partial(_make_finding, is_undoable=is_undoable)
    if operator is not None:
        strength = operator.measure_strength(*x.shape[1:])
        yield found(operator.kind, strength, str(operator), margin=margin)
    if degradation.rain is not None:
        share = float(find_streaks(x, degradation.rain).mean())
        yield found("rain", share, f"rain over {format_share(share)} of the pixels")
    if veil is not None:
        # Not where nobody judged: light pictures without a veil are measured as glare, too.
        change = abs(veil.gain - 1) if is_undoable is None else veil.change
        yield found("veil", veil.gain, str(veil), 1 + change)
    if exposure is not None:
        yield found("exposure", exposure.stretch, str(exposure))
    if degradation.impulses is not None:
        middle = cut_middle(x, FILTERED_SIDE if is_undoable is None else MEASURED_SIDE)
        share = float(
            find_impulses(middle, degradation.impulses, degradation.is_smeared).float().mean()
        )
        yield found("impulses", share, f"{format_share(share)} of the values wrong")


def _find_moved(degradation: Degradation, is_undoable: bool | None) -> Iterator[Finding]:
    """A finding of pixels that glass moved: rough glass that spreads them, or bent lines."""
    if (spread := degradation.glass) is not None:
        text = f"behind glass that spreads {spread:.1f} px"
        yield _make_finding("glass", spread, text, is_undoable=is_undoable)
    if degradation.warp is not None:
        yield _make_finding("warp", degradation.warp, "bent lines", is_undoable=is_undoable)


def _find_odd_light(x: Tensor) -> Iterator[Finding]:
    """What is odd about the light of ``[3, H, W]``: nothing is white, black or dark, or shading
    outdoes detail. It ranks pictures, and is never more likely than not."""
    dark, light = ((level + 1) / 2 for level in find_range(x.amax(0)))
    darkest = (find_level(x.amin(0).flatten(), DARK_SHARE) + 1) / 2
    exposures = Exposure(WHITE / max(light, LEAST_LIGHT)), Exposure(black=LIFTED_SHARE * dark)
    grey = x.mean(0, keepdim=True)
    coarse = F.interpolate(grey[None], (SHADING_SIDE, SHADING_SIDE), mode="area")
    shading = F.interpolate(coarse, grey.shape[-2:], mode="bicubic")[0]
    excess = float(shading.std()) / max(float((grey - shading).std()), DEVIATION_FLOOR) - 1
    veil = max(1 / max(1 - darkest, DEVIATION_FLOOR), 1 + SMOOTH_EVIDENCE * excess)
    for kind, strength in (("exposure", max(one.stretch for one in exposures)), ("veil", veil)):
        evidence = 1 + 2 * (strength - 1) ** 2  # so that what is common counts for little
        finding = _make_finding(kind, strength, "odd light", evidence)
        yield replace(finding, sureness=min(MOST_UNSURE, finding.sureness))


def _find_softness(x: Tensor, is_undoable: bool | None) -> Iterator[Finding]:
    """A lack of fine detail in ``[3, H, W]``, unless it is sharp; its strength is the radius in
    pixels of the lens that would lose as much."""
    radial, frequency = compute_radial_spectrum(compute_power_spectrum(x))
    lost = measure_softness(radial, frequency) - SHARP_SOFTNESS
    if lost <= 0:
        return
    below_law = radial + POWER_LAW * np.log(frequency)
    below_law = np.convolve(np.pad(below_law, 1, "edge"), np.ones(3) / 3, "valid")
    is_coarse = (frequency > COARSE[0]) & (frequency < COARSE[1])
    is_lost = (below_law < below_law[is_coarse].mean() - LOST_POWER) & (frequency > COARSE[1])
    end = frequency[is_lost.argmax()] if is_lost.any() else frequency[-1]
    radius = LENS_RADIANS / (2 * math.pi * float(end))
    text = f"little fine detail, as behind a lens of {radius:.1f} px"
    yield _make_finding("soft", radius, text, evidence=lost, is_undoable=is_undoable)
