"""What became of a photo, in plain words that are true for every run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.runs.settings import NONE, PAINT, Settings
from dga.explanation.degradation import Degradation
from dga.explanation.haze import Haze
from dga.explanation.veil import Veil
from dga.io.numbers import format_share as percent

Reading = Mapping[str, Any]

PLAIN_NAMES = {
    "gaussian_noise": "Noise", "shot_noise": "Grain", "impulse_noise": "Speckles",
    "defocus_blur": "Bad focus", "glass_blur": "Rough glass", "motion_blur": "Motion blur",
    "zoom_blur": "Zoom blur", "snow": "Snow", "frost": "Frost", "fog": "Fog",
    "brightness": "Brightness", "contrast": "Low contrast", "elastic_transform": "Warping",
    "pixelate": "Blocks", "jpeg_compression": "JPEG",
}  # fmt: skip
"""Of each corruption, for whoever never heard of ImageNet-C; each begins a sentence, too."""
EVERYDAY_NAMES = {
    "sensor_noise": "High ISO", "enlarged_noise": "Enlarged noise", "film_grain": "Film grain",
    "blue_noise": "Fine noise", "noise_in_frame": "Framed noise", "lens_blur": "Lens blur",
    "camera_shake": "Camera shake", "moved_part": "Movement", "enlarged": "Enlargement",
    "jpeg_twice": "Double JPEG", "underexposed": "Underexposure", "white_balance": "Colour cast",
    "rain": "Rain", "haze": "Haze", "ripples": "Ripples",
}  # fmt: skip
"""Likewise of each kind of everyday damage."""
DAMAGE_NAMES = PLAIN_NAMES | EVERYDAY_NAMES
STROKES = "Brush strokes"
OPERATORS = {
    "blur": ("bad focus", "sharpened"),
    "motion": ("motion blur", "sharpened"),
    "zoom": ("zoom blur", "sharpened"),
    "blocks": ("blocks", "interpolated between blocks"),
    "ripples": ("ripples", "pixels put back"),
}
"""What each kind is called, and what is done about it."""
SURE = 0.5
"""Share from which AI is called sure after a repair."""
NO_IDEA = 0.01
"""Share of its best guess below which a classifier has none that is worth a name."""


def _list_parts(degradation: Degradation) -> Iterator[tuple[str, str]]:
    """What each part of the damage is called, and what is done about it, empty for a network."""
    operator, veil, exposure = degradation.operator, degradation.veil, degradation.exposure
    if operator:
        yield OPERATORS[operator.kind]
    if degradation.rain is not None:
        yield "rain", "streaks filled in from beside them"
    if isinstance(veil, Veil) and veil.streaks is not None:
        yield "falling streaks", "streaks thinned"
    if isinstance(veil, Haze) or (veil and veil.smooth):
        yield "haze", "added light subtracted"
    elif veil:
        is_flat = veil.gain > 1.5
        yield ("low contrast", "contrast stretched") if is_flat else ("glare", "picture darkened")
    elif exposure:
        yield "wrong exposure", "exposure corrected"
    if degradation.impulses is not None:
        yield "speckles", "wrong pixels replaced"
    if degradation.noise:
        yield "noise", "noise taken out"
    if degradation.glass is not None:
        yield "rough glass", ""
    if degradation.warp is not None:
        yield "warping", ""
    if degradation.jpeg_quality is not None:
        yield "poor JPEG", ""


def describe_damage(degradation: Degradation) -> str:
    """What was found, as "motion blur and noise"; nothing where nothing was."""
    return join_words([name for name, _ in _list_parts(degradation)])


ABOUT_AS_SURE = 0.03
"""By how much a share may change before it counts as another."""


def describe_finding(
    damage: Degradation, *, is_unchanged: bool = False, is_fine: bool = False,
    is_unjudgeable: bool = False, added: str = "none", objected: str = "",
    is_mended: bool = False,
) -> str:  # fmt: skip
    """The sentence after *Found*.

    ``added``: the damage that was done to the photo here, which is said where it is not what was
    found; ``objected``: what was measured and is not undone, mostly because the network that judges
    repairs objected; ``is_mended``: whether a network that sees the photo repaired it, after what
    was measured had been undone.
    """
    name, diagnosis = begin_small(DAMAGE_NAMES.get(added, STROKES)), describe_damage(damage)
    remark = "" if added in (NONE, PAINT) or name in diagnosis else f" (added: {name})"
    remedies = dict.fromkeys(done for _, done in _list_parts(damage) if done)
    remedy = join_words([*remedies]).capitalize()
    if is_mended:
        start = (diagnosis or "signs of damage that no measurement explains") + remark
        start += f". {remedy}, and the rest mended" if damage.has_measured_inverse else ". Mended"
        return f"{start} by a network: details may be invented."
    if is_unchanged:
        return f"{explain_why_unchanged(is_fine, is_unjudgeable, objected)}{remark}. Left alone."
    remedy = remedy or "A little noise was added, and taken out again"
    return f"{diagnosis or 'traces of damage'}{remark}. {remedy}."


def begin_small(name: str) -> str:
    """A name as within a sentence."""
    return name if name[1].isupper() else name[0].lower() + name[1:]


def explain_why_unchanged(is_fine: bool, is_unjudgeable: bool, objected: str) -> str:
    """Why nothing was undone."""
    if is_unjudgeable:
        return "one colour or a drawing, too plain to judge"
    if objected:
        return f"signs of {objected}, but undoing it would likely do harm"
    return "no damage that we recognise" if is_fine else "nothing sure enough to undo"


def write_headline(
    damage: str, truth: str | None, damaged: Reading, repaired: Reading | None, *,
    is_unchanged: bool = False, is_fine: bool = False, is_unjudgeable: bool = False,
    diagnosis: str = "", has_label: bool = True,
) -> str:  # fmt: skip
    """At most two facts: what the damage did, and what the repair did.

    ``damage``: a key of :data:`DAMAGE_NAMES`, paint or none; ``truth``: the class that counts as
    right, None where the photo came as it is; ``repaired``: None until there is one; ``is_fine``:
    whether the discriminator takes the photo as it came for an undamaged one; ``is_unjudgeable``:
    whether it is too plain for that; ``has_label``: whether somebody said that the photo shows
    ``truth``, else that is how it was read undamaged.
    """
    alone = "We found nothing sure enough to undo and left it alone."
    if is_fine or is_unjudgeable:
        reason = "It is too plain to judge: we" if is_unjudgeable else "We recognised no damage and"
        alone = f"{reason} left it alone."
    after = ""
    if repaired:
        sight = _describe_result(damaged, repaired)
        after = alone if is_unchanged else f"After the repair AI {sight}."
    if damage == NONE:
        if repaired is None or is_unchanged:
            return f"AI {describe_sight(damaged)}. {after}".rstrip()
        change = f"AI saw {_name_guess(damaged)}; now it {sight}."
        if repaired["label"] == damaged["label"] and repaired["share"] >= NO_IDEA:
            is_sure = repaired["share"] >= SURE
            verb = "sees" if is_sure else f"is {_name_doubt(damaged)}, perhaps"
            was, now = percent(damaged["share"]), percent(repaired["share"])
            change = f"AI {verb} “{repaired['label']}”: now {now}, before {was}."
        ending = after if has_label else change
        return f"We found {diagnosis or 'traces of damage'} and tried to undo that. {ending}"
    subject = DAMAGE_NAMES.get(damage, STROKES)
    if truth is None:  # the classifier was not sure of the original either
        return f"Added: {begin_small(subject)}. {after}".rstrip()
    if not has_label:
        return _compare(truth, damaged, repaired, subject, after if is_unchanged else "")
    thing = f"the {truth}"
    was_right = damaged["label"] == truth
    not_hidden = "did not hide" if damaged["is_sure"] else "did not quite hide"
    start = f"{subject} {not_hidden} {thing}" if was_right else f"{subject} hid {thing} from AI"
    if damage == PAINT and is_unchanged and not was_right:
        return f"{start}, and the repair did not dare to touch it."
    if repaired is None or is_unchanged:
        return f"{start}. {after}".rstrip()
    is_right = repaired["label"] == truth
    if was_right and is_right:
        return f"{start}: AI is {percent(damaged['share'])} sure. {_again(damaged, repaired)}."
    if is_right:
        share = percent(repaired["share"])
        if repaired["share"] < SURE:
            return f"{start}. After repair, AI is right, but {_name_doubt(damaged)}: {share}."
        return f"{start}. After repair, AI is {share} sure."
    if was_right:
        return f"{start}, but our repair did."
    verb = "sees" if repaired["share"] >= SURE else "guesses"
    guess = _name_guess(repaired).removeprefix("perhaps ")
    return f"{start}. The repair did not bring it back: AI {verb} {guess}."


def _compare(
    truth: str, damaged: Reading, repaired: Reading | None, subject: str, alone: str
) -> str:
    """What is read, beside what was read of the undamaged photo: nobody said what it shows.

    ``alone``: why the damaged one was left alone, empty where it was not.
    """
    is_same = damaged["label"] == truth
    start = f"{subject}: no longer read as “{truth}”"
    if is_same:
        start = (
            f"{subject}: still read as “{truth}”{'' if damaged['is_sure'] else ', but unsurely'}"
        )
    if repaired is None or alone:
        return f"{start}. {alone}".rstrip()
    if repaired["label"] != truth:
        after = "After our repair it is not" if is_same else "Our repair does not bring that back"
        return f"{start}. {after}: {_name_guess(repaired)}."
    if is_same:
        return f"{start}: AI is {percent(damaged['share'])} sure. {_again(damaged, repaired)}."
    doubt = "" if repaired["share"] >= SURE else f", but AI is {_name_doubt(damaged)}"
    return f"{start}. After repair, it is again{doubt}: {percent(repaired['share'])}."


def name_touched(share: float) -> str:
    """A share of a photo that something touches; none is 0 % that is more."""
    return percent(share) if share >= 0.005 or not share else f"less than {percent(0.01)}"


def describe_link(settings: Settings, thing: str | None) -> tuple[str, str]:
    """Title and description of a link before anything is computed.

    ``thing``: what the photo shows, None if nobody said.
    """
    what = f"the {thing}" if thing else "what this photo shows"
    if settings.damage == PAINT and not settings.strokes:
        return f"Can you hide {what} from AI?", (
            "Paint on a photograph, and watch what AI sees. Then a repair strikes back."
        )
    name = DAMAGE_NAMES.get(settings.damage, STROKES)
    done = f"Added: {begin_small(name)}, strength {settings.strength} of 5"
    done += f", saved as JPEG {settings.saved}" if settings.saved else ""
    whole = {PAINT: "The photograph was brushed over", NONE: "Nothing was added"}
    done = whole.get(settings.damage, done)
    return f"Does AI see {what}?", f"{done}. What AI sees, before and after a repair."


def _again(damaged: Reading, repaired: Reading) -> str:
    """How sure AI is of the same thing after the repair."""
    change = ""
    if repaired["share"] < damaged["share"] - ABOUT_AS_SURE:
        change = ", AI is less sure"
    elif repaired["share"] < SURE:
        change = f", AI is {_name_doubt(damaged)}"
    elif repaired["share"] <= damaged["share"] + ABOUT_AS_SURE:
        change = ", AI is about as sure"
    return f"After repair{change}: {percent(repaired['share'])}"


def _describe_result(damaged: Reading, repaired: Reading) -> str:
    """What AI sees after a repair or, of what it is not sure."""
    if NO_IDEA <= repaired["share"] < SURE:
        return f"is {_name_doubt(damaged)}: {_name_guess(repaired)}"
    return describe_sight(repaired)


def _name_doubt(damaged: Reading) -> str:
    return "not sure" if damaged["is_sure"] else "still not sure"


def describe_sight(reading: Reading) -> str:
    """``sees “espresso” (93 %)``, or that it is not sure, and its best guess."""
    if reading["share"] < NO_IDEA:
        return "has no idea what this is"
    guess = _name_guess(reading)
    return f"sees {guess}" if reading["is_sure"] else f"is not sure: {guess}"


def _name_guess(reading: Reading) -> str:
    """``“espresso” (93 %)``, or ``perhaps “espresso” (12 %)``."""
    guess = f"“{reading['label']}” ({percent(reading['share'])})"
    return guess if reading["is_sure"] else f"perhaps {guess}"


def join_words(words: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
