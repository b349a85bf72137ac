"""A photograph as plain values for the page's script; every sentence is made here."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from app.parts.html import rendered
from app.parts.marks import SIGNS, mark
from app.parts.pictures import encoded, uri
from app.runs.damage import NONE
from app.runs.photo import DEEPEST, LOOKS, Photo
from app.server.limits import PHOTO_PIXELS
from app.words import photo as words
from app.words.common import WHAT_DEPTH_IS
from dga.explanation.exposure import UNCHANGED
from dga.sentences import percent

ICONS = {
    "exposure": "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6"
    "M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1",
    "sharpness": "M8 2L14 13.5H2z",
    "single pixels": "M3 3h1v1H3zM11 5h1v1h-1zM6 11h1v1H6z",
    "noise": "M8 3.4a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2z",
}
MARKS = {"each": mark("dga-plus"), "one": mark("dda")}


def photo_value(photo: Photo) -> dict[str, Any]:
    """All that the page shows of a photograph."""
    height, width = photo.clean.shape[:2]
    return {
        "name": photo.name,
        "change": photo.change,
        "damage": dataclasses.asdict(photo.damage),
        "truth": photo.has_truth,
        "size": [width, height],
        "damaged": photo.address("damaged", photo.damaged),
        "clean": photo.address("clean", photo.clean) if photo.has_truth else "",
        "note": note(photo),
        "notice": _reduced(photo) + photo.notice,
        "before": photo.quality(photo.damaged),
        "recorded": photo.recorded,
        **progress_value(photo),
        **_result(photo),
        **singles_value(photo),
    }


def progress_value(photo: Photo) -> dict[str, Any]:
    """What changes while it is repaired."""
    told = {"key": photo.key, "phase": photo.phase, "progress": photo.progress}
    told["rows"] = uri(photo.rows, "jpeg") if photo.rows else ""
    return told | {"said": "<br>".join(lines(photo)), "error": photo.error}


def _result(photo: Photo) -> dict[str, Any]:
    """What a finished repair shows; nothing of one that is not."""
    result, places = photo.result, photo.places
    if result is None or places is None:
        return {}
    return {
        "repaired": photo.address("repaired", result.image),
        "unchanged": result.unchanged,
        "own": photo.quality(result.image),
        "seconds": round(result.seconds, 1),
        "left": photo.left,
        "found": rendered("photo/found", gauges=gauges(photo), icons=ICONS),
        "places": vars(places) | {"map": uri(places.map, "png")},
        "shares": np.bincount(result.depths.ravel(), minlength=DEEPEST + 1).tolist(),
    }


def singles_value(photo: Photo) -> dict[str, Any]:
    """What is known of one depth everywhere."""
    told: dict[str, Any] = {
        "key": photo.key,
        "singles": {f"{depth}": round(value, 2) for depth, value in sorted(photo.singles.items())},
        "best": None,
        "closeUps": "",
        "said": "<br>".join(lines(photo)),
    }
    if photo.best is not None and photo.surveyed:
        shown = {"parts": _close(photo), "marks": MARKS, "tick": SIGNS["ok"]}
        told |= {"best": photo.best[0], "closeUps": rendered("photo/close", **shown)}
    if photo.last is not None:
        depth, pixels = photo.last
        told["single"] = depth, uri(encoded(pixels, "WEBP", **LOOKS), "webp")
    return told


def _close(photo: Photo) -> list[tuple[str, str, str]]:
    """Of each close-up: whose, its address, and what is said of it."""
    assert photo.best
    told = []
    for kind, (single, image, own) in zip(("shallow", "deep"), photo.close_ups(), strict=False):
        for whose, pixels, said in ("one", single, kind), ("each", image, "own"):
            text = words.CLOSE_UPS[said].format(depth=photo.best[0], own=own)
            told.append((whose, uri(encoded(pixels, "JPEG", quality=90), "jpeg"), text))
    return told


def found(photo: Photo) -> dict[str, list[str]]:
    """What was found, by kind: in the heading, the gauge's name, what the gauge says."""
    if photo.result is None or photo.places is None:
        return {}
    result, places = photo.result, photo.places
    degradation = result.found.degradation
    if not places.count:
        noise = "little" if result.depths.any() and not result.unchanged else ""
    else:
        everywhere = "everywhere" if places.share > 0.9 else "places"
        noise = "grows" if places.direction else everywhere
    known = {
        "exposure": degradation.exposure != UNCHANGED,
        "blur": bool(degradation.blur),
        "impulses": degradation.impulses is not None,
        noise: bool(noise),
    }
    filled = {
        "count": words.COUNTED.get(places.count, words.MANY.format(n=places.count)),
        "towards": words.TOWARDS.get(places.direction),
    }
    kinds = [kind for kind, is_there in known.items() if is_there]
    return {kind: [text.format(**filled) for text in words.FOUND[kind]] for kind in kinds}


def gauges(photo: Photo) -> list[tuple[str, str, bool]]:
    """Name and text of each gauge, and whether anything was found; exposure and noise always."""
    told = {"exposure": (words.AS_IS, False), "noise": (words.NO_NOISE, False)}
    told |= {name: (text, True) for _, name, text in found(photo).values()}
    return [(name, *said) for name, said in told.items()]


def lines(photo: Photo) -> list[str]:
    """Up to three, in HTML: what was found; depths and quality; the best single depth."""
    said, (done, total), result = words.HEADINGS, photo.progress, photo.result
    if photo.phase != "done" or result is None:
        name = f"{photo.phase}_at" if done and f"{photo.phase}_at" in said else photo.phase
        return [text.format(done=done, total=total) for text in said[name]]
    before, own = photo.quality(photo.damaged), photo.quality(result.image)
    if result.unchanged:
        is_whole = photo.damage.kind != NONE and not photo.has_truth
        nothing = said["nothing" if is_whole else "not_found"]
        returned = said["returned" if own is None else "returned_quality"]
        third = said["damage_it"] if photo.damage.kind == NONE else ()
        third = (_third(photo),) if photo.surveyed else third
        return [nothing[0], returned[0].format(own=decibels(own)), *third]
    first, *more = [phrase for phrase, *_ in found(photo).values()]
    second = _depths(photo)
    if own is not None and before is not None:
        second += f': <b class="{"ok" if own > before else "bad"}">{decibels(own)}</b>'
    more = [f"{phrase[0].lower()}{phrase[1:]}" for phrase in more]
    return [" and ".join([first, *more]) + ".", f"{second}.", _third(photo)]


def decibels(value: float | None) -> str:
    """``31.4 dB``; empty where it is not known."""
    return "" if value is None else words.DB.format(value=f"{value:.1f}")


def _depths(photo: Photo) -> str:
    assert photo.result
    depths = photo.result.depths
    if not depths.any():
        return words.DEPTHS["zero"]
    low, high = int(depths[depths > 0].min()), int(depths.max())
    name = "one" if low == high else "range"
    name += "" if (depths == 0).any() else "_all"
    return words.DEPTHS[name].format(low=low, high=high)


def _third(photo: Photo) -> str:
    if photo.best is not None and photo.surveyed:
        return words.THIRD["best"].format(best=f"{photo.singles[photo.best[0]]:.1f}")
    kind = "left" if photo.left >= 0.005 else "no_left"
    return words.THIRD[kind].format(share=percent(photo.left))


def note(photo: Photo) -> str:
    """What depth is; with a result also what quality the damaged photograph has."""
    before = photo.quality(photo.damaged) if photo.result else None
    told = "" if before is None else words.BEFORE.format(before=decibels(before))
    return told + WHAT_DEPTH_IS


def _reduced(photo: Photo) -> str:
    used = photo.clean.shape[0] * photo.clean.shape[1]
    if photo.came <= PHOTO_PIXELS:
        return ""
    return words.REDUCED.format(came=f"{photo.came / 1e6:.1f}", used=f"{used / 1e6:.1f}")
