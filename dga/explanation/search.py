"""Which damage a picture has: it is measured, and networks may object to its inverse. Ours.

Damage (blocks, noise, blur, veils, impulses, darkness, JPEG) is measured in the pixels. The
discriminator is shown a thumbnail and some windows of the picture before and after the inverse
(:mod:`dga.explanation.judges`). A picture that holds noise has entered the forward process already,
at the depth k0 that its noise matches (:mod:`dga.explanation.noise_level`).
"""

import functools
import math
from collections.abc import Generator
from dataclasses import dataclass, replace

from torch import Tensor

from dga.explanation.blocks import measure_blocks
from dga.explanation.blur import BlurFits
from dga.explanation.degradation import NO_DEGRADATION, Degradation, Explanation, Verdict
from dga.explanation.drawings import is_one_colour_or_drawing, is_page
from dga.explanation.exposure import measure_brightness, measure_darkness
from dga.explanation.haze import Haze
from dga.explanation.jpeg_quality import POOR, measure_quality
from dga.explanation.judges import Judges
from dga.explanation.noise_level import (
    FAR,
    NOISE_FLOOR,
    SMEARED,
    find_matched_depth,
    has_impulses,
    has_smeared_impulses,
    measure_distance,
    measure_noise,
    measure_quiet_noise,
)
from dga.explanation.operators import Operator
from dga.explanation.rain import measure_rain
from dga.explanation.ripples import find_ripples
from dga.explanation.veil import Veil, list_veils
from dga.explanation.warp import measure_warp
from dga.images import cut_middle, from_tensor
from dga.profiles import ExplanationConfig

LONGEST_COUNTED = 1024
"""Pixels a side up to which every pixel is counted; of larger pictures every n-th, or a middle."""
STRONG_VEIL = 8.0
"""Gain of a veil from which its inverse needs less consent; undamaged pictures seldom have it."""
SURE_CONTRAST = 12.0
"""Gain of lost contrast that is believed without consent: no undamaged picture lacks so much, and
the networks do not know what is so flat."""
PAGE_VEIL = 10.0
"""Gain of a veil beyond which it is removed from pages, too."""
NOISE_RELIEF = 0.5
"""By how much noise that was measured has to lower the score, to be believed."""
UNDAMAGED_SCORE = 1.0
"""Score below which a picture without noise counts as undamaged, where nothing is measured."""
OBJECTION = 0.5
"""By how much the inverse of a measured blur may raise the score, times its kind's own share."""
CLEAR_DAMAGE = 1.4
"""Mean logit below which a blur's inverse has to lower it."""
DAMAGED_THUMBNAIL = 0.5
"""Mean logit from which a thumbnail looks damaged. Of 654 undamaged photographs 27 measure as
veiled, and three are taken for it."""
SUSPECT_THUMBNAIL = 0.1
"""Mean logit from which it does where nothing is dark. So 43 of 75 hazy photographs are cleared,
with the usual 15; one of 154 undamaged pictures is changed."""
LEAST_RELIEF = 0.5
"""By how much a veil's inverse has to lower the thumbnail's mean logit."""
LEAST_HAZE_RELIEF = 0.3
"""By how much the inverse of haze has to, whatever the thumbnail looked like before. Of 94
photographs under haze 5 and 3 all but six pass."""
LEAST_CONTRAST_RELIEF = 1.2
"""By how much the inverse of lost contrast has to. Of 40 photographs 36 to 38 pass at every
strength; of 45 plain pieces of undamaged photographs, which are flat, two."""


@dataclass(frozen=True)
class DamageSearch:
    """The search in one picture.

    ``x``: ``[3, H, W]`` in [-1, 1] at 8-bit levels; ``judges``: without any, what is certain is
    believed, and what is only likely is not; ``filtered_side``: pixels a side of the middle in
    which impulses are looked for.
    """

    x: Tensor
    config: ExplanationConfig
    judges: Judges | None = None
    filtered_side: int = LONGEST_COUNTED

    @functools.cached_property
    def veils(self) -> list[Veil | Haze]:
        """The veils that are measured, which a picture that is dark has not: there much is black,
        behind a veil nothing."""
        return list_veils(self.x)

    def run(self) -> Generator[None, None, Explanation]:
        """Blocks, too little light or rain; else impulses or noise; else blur, rough glass or
        ripples; else a veil; else JPEG; else warping.

        First comes what passes for the next: blocks and rain measure as noise, noise hides blur,
        and what is soft is pale, too. Yields between judgements, so that others may have their
        turn. A drawing, which repeats its rows as blocks do, is left alone.
        On pages and screens, which are light without a veil, only noise, lost contrast, poor JPEG
        and blocks whose rows repeat are looked for.
        """
        x, judges = self.x, self.judges
        found = Explanation(NO_DEGRADATION, entry=0, measured_noise=0.0, is_page=is_page(x))
        stride = -(-max(x.shape[1:]) // LONGEST_COUNTED)
        is_drawing = is_one_colour_or_drawing(x[:, ::stride, ::stride])
        blocks = None if is_drawing else measure_blocks(x, found.is_page)
        if blocks:
            damage = Degradation(operator=blocks)
            if self.config.blocks:
                return replace(found, degradation=damage)
            return replace(found, refused_blur=damage)
        exposure = None if found.is_page else measure_darkness(x)
        if (
            exposure
            and not self.veils
            and (judges is None or judges.prefer_light(exposure.apply(x)))
        ):
            return replace(found, degradation=Degradation(exposure=exposure))
        slant = None if found.is_page or is_drawing else measure_rain(x)
        if slant is not None:
            return replace(found, degradation=Degradation(rain=slant))
        noise_level = measure_noise(x)
        impulses = None if found.is_page else self._measure_impulses(noise_level)
        if impulses:
            return replace(found, degradation=impulses)
        quiet_noise = measure_quiet_noise(x)
        found = replace(found, measured_noise=noise_level, quiet_noise=quiet_noise)
        if is_drawing:
            return replace(found, verdict=Verdict.UNJUDGEABLE)
        found = yield from self._judge_noise(found)
        if found.degradation.noise:
            return found
        if not found.is_page:
            found = yield from self._undo_blur(found)
        if found.degradation != NO_DEGRADATION:
            return found
        light = self._measure_added_light(found)
        if light:
            return replace(found, degradation=light)
        quality = measure_quality(from_tensor(x))
        if quality is not None and quality <= POOR:
            return replace(found, degradation=Degradation(jpeg_quality=quality))
        waviness = None if found.is_page else measure_warp(x)
        if waviness is not None:
            return replace(found, degradation=Degradation(warp=waviness))
        is_undamaged = (
            judges is not None
            and not _has_noise(found)
            and judges.score_as_it_came < UNDAMAGED_SCORE
        )
        return replace(found, verdict=Verdict.UNDAMAGED) if is_undamaged else found

    def _measure_impulses(self, noise_level: float) -> Degradation | None:
        """Wrong values, as they were drawn or as JPEG has smeared them."""
        x = cut_middle(self.x, self.filtered_side)
        distance = measure_distance(x)
        if has_impulses(x, distance, noise_level):
            return Degradation(impulses=FAR)
        if self.config.smeared_impulses and has_smeared_impulses(x, distance, noise_level):
            return Degradation(impulses=SMEARED, is_smeared=True)
        return None

    def _judge_noise(self, found: Explanation) -> Generator[None, None, Explanation]:
        """Noise that is everywhere: texture, too, measures as noise in places.

        The discriminator judges whether the picture looks like source data rather as a noisy one,
        at the depth that its noise matches.
        """
        noise_level, judges = found.measured_noise, self.judges
        if not _has_noise(found):
            return found
        noisy = replace(found, degradation=Degradation(noise=noise_level))
        if judges is None:
            return noisy
        before = judges.score_as_it_came
        yield
        after = judges.score(self.x, noise_level)
        yield
        if after >= before - NOISE_RELIEF:
            return found
        return replace(noisy, entry=find_matched_depth(judges.scorer.schedule, noise_level))

    def _undo_blur(self, found: Explanation) -> Generator[None, None, Explanation]:
        """The explanation by a blur, undone; where none is certain, by rough glass or ripples.
        Where the discriminator objects to what is certain, and does not clearly prefer what is
        likely, what was found before."""
        fits, judges = BlurFits(self.x), self.judges
        certain = fits.find_certain()
        moved = NO_DEGRADATION
        if certain is None:
            glass = fits.measure_glass()
            ripples = find_ripples(self.x) if glass is None else None
            moved = Degradation(glass=glass, operator=ripples)
        if moved != NO_DEGRADATION:
            return replace(found, degradation=moved)
        if judges is None:
            return replace(found, degradation=Degradation(operator=certain))
        yield
        if certain is not None:
            undone = self._undo(certain, found, judges)
            yield
            most = 0.0 if judges.score_as_it_came < CLEAR_DAMAGE else math.inf
            if _has_consent(certain, undone, most):
                return undone
            margin = undone.blur_margin
            found = replace(found, refused_blur=undone.degradation, blur_margin=margin)
        rest = [operator for operator in fits.list_likely() if operator != certain]
        tries = [(self._undo(operator, found, judges), operator) for operator in rest]
        if not tries:
            return found
        undone, operator = max(tries, key=lambda one: one[0].blur_margin)
        return undone if _has_consent(operator, undone, -operator.least_relief) else found

    def _undo(self, operator: Operator, found: Explanation, judges: Judges) -> Explanation:
        """Undo a blur, and judge the result."""
        blur = Degradation(operator=operator)
        x_0 = blur.invert(self.x)
        margin = judges.score_as_it_came - judges.score(x_0)
        return replace(found, degradation=blur, x_0=x_0, refused_blur=None, blur_margin=margin)

    def _measure_added_light(self, found: Explanation) -> Degradation | None:
        """A veil, else too much brightness. None where there is neither, or the judges object."""
        veils, exposure = self.veils, None
        if found.is_page:
            veils = [veil for veil in veils if veil.gain > PAGE_VEIL]
        else:
            exposure = measure_brightness(self.x)
        for veil in veils:
            if self._is_veil_believed(veil, is_bright=exposure is not None):
                return Degradation(veil=veil)
        is_veiled = any(isinstance(veil, Veil) for veil in veils)  # refused haze may be brightness
        if is_veiled or exposure is None:
            return None
        cleared = exposure.apply(self.x)
        is_believed = self.judges is None or self.judges.prefer_clear(
            cleared, SUSPECT_THUMBNAIL, LEAST_RELIEF
        )
        return Degradation(exposure=exposure) if is_believed else None

    def _is_veil_believed(self, veil: Veil | Haze, is_bright: bool) -> bool:
        """Whether the judges consent to a veil's inverse, or are not asked.

        ``is_bright``: whether nothing is dark, as is seldom so in undamaged photographs: then less
        is asked of them.
        """
        if self.judges is None:
            return True
        least, relief = DAMAGED_THUMBNAIL, LEAST_RELIEF
        if isinstance(veil, Haze):
            least, relief = -math.inf, LEAST_HAZE_RELIEF
        elif veil.is_lost_contrast:
            if veil.gain >= SURE_CONTRAST:
                return True
            least, relief = -math.inf, LEAST_CONTRAST_RELIEF
        elif veil.gain >= STRONG_VEIL:
            least = 0.0
        elif is_bright:
            least = SUSPECT_THUMBNAIL
        return self.judges.prefer_clear(veil.remove(self.x), least, relief)


def _has_noise(found: Explanation) -> bool:
    """Whether noise was measured, also in the quietest part."""
    return min(found.measured_noise, found.quiet_noise) > NOISE_FLOOR


def _has_consent(operator: Operator, undone: Explanation, most: float) -> bool:
    """Whether undoing a blur raises the score by no more than ``most``, nor by more than its kind
    may."""
    return -undone.blur_margin <= min(most, OBJECTION * operator.most_objection)
