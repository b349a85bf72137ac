"""A photograph as plain values for the page's script; every sentence is made here."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.parts.pictures import encoded, uri
from app.runs.photo import DEEPEST, QUALITY, Photo
from app.runs.places import deepest, map_uri
from app.server.limits import PHOTO_PIXELS
from app.words import photo as words
from dga.sentences import percent


def photo_value(photo: Photo) -> dict[str, Any]:
    """All that the page shows of a photograph, one depth everywhere apart."""
    height, width = photo.clean.shape[:2]
    return {
        "key": photo.key,
        "name": photo.name,
        "damage": photo.damage.value(),
        "truth": photo.has_truth,
        "phase": photo.phase,
        "size": [width, height],
        "damaged": photo.address("damaged", photo.damaged),
        "clean": photo.address("clean", photo.clean) if photo.has_truth else None,
        "note": note(photo),
        "notice": _notice(photo),
        "error": photo.error,
        "before": photo.quality(photo.damaged),
        "recorded": photo.recorded,
        "unchanged": photo.result is not None and photo.result.unchanged,
        **_result(photo),
        **singles_value(photo),
    }


def _result(photo: Photo) -> dict[str, Any]:
    """What a finished repair shows; nothing of one that is not."""
    found, places = photo.result, photo.places
    if found is None or places is None:
        return {
            "repaired": None,
            "own": None,
            "found": [],
            "places": None,
            "seconds": None,
            "left": None,
        }
    labels = [*places.places, *([places.untouched] if places.untouched else [])]
    return {
        "repaired": photo.address("repaired", found.image),
        "own": photo.quality(found.image),
        "seconds": round(photo.seconds, 1),
        "left": photo.left,
        "found": gauges(photo),
        "places": {
            "map": map_uri(places),
            "deepest": deepest(places),
            "outlines": [np.round(line, 4).tolist() for line in places.outlines],
            "labels": [[round(float(p.x), 3), round(float(p.y), 3), p.depth] for p in labels],
            "shares": np.bincount(found.depths.ravel(), minlength=DEEPEST + 1).tolist(),
        },
    }


def singles_value(photo: Photo) -> dict[str, Any]:
    """What is known of one depth everywhere."""
    known = {str(depth): round(value, 2) for depth, value in sorted(photo.singles.items())}
    told: dict[str, Any] = {"key": photo.key, "singles": known, "best": None, "closeUps": []}
    told |= {"single": None, "said": lines(photo), "progress": list(photo.progress)}
    if photo.best is not None and photo.surveyed:
        depth = photo.best[0]
        told["best"] = depth
        for kind, part in zip(("shallow", "deep"), photo.close_ups(), strict=False):
            pair = [uri(encoded(p, "JPEG", quality=90), "jpeg") for p in (part.single, part.image)]
            known_depths = {"depth": depth, "own": part.own}
            names = [words.CLOSE_UPS[name].format(**known_depths) for name in (kind, "own")]
            told["closeUps"].append([*zip(pair, names, strict=True)])
    if photo.last is not None:
        told["single"] = [
            photo.last[0],
            uri(encoded(photo.last[1], "WEBP", quality=QUALITY, method=2), "webp"),
        ]
    return told


def _decibels(value: float | None) -> str:
    return words.DB.format(value=f"{value:.1f}")


def noise_found(photo: Photo) -> tuple[str, dict[str, str]]:
    """How noise lies in a photograph: a key of ``words.NOISES``, and what is filled in."""
    places = photo.places
    if places is None or not places.places:
        return "none", {}
    if places.direction:
        return "grows", {"towards": words.TOWARDS[places.direction]}
    if float((places.depths > 0).mean()) > 0.9:
        return "everywhere", {}
    count = len(places.places)
    return "places", {"count": words.COUNTED.get(count, words.MANY.format(n=count))}


def _others(photo: Photo) -> list[str]:
    """What else was found: keys of ``words.FOUND``."""
    assert photo.result
    return [kind for kind in photo.result.found.degradation.kinds if kind != "noise"]


def gauges(photo: Photo) -> list[tuple[str, str, str, bool]]:
    """Of each kind of damage: its key, name, what was found of it, and whether any was."""
    others, (noise, filled) = _others(photo), noise_found(photo)
    told = []
    for name in ("exposure", "blur", "impulses"):
        is_there = name in others
        if is_there or name == "exposure":
            said = words.UNDONE[name] if is_there else words.AS_IS
            told.append((name, words.GAUGES[name], said, is_there))
    said = words.NOISES[noise].format(**filled)
    return [*told, ("noise", words.GAUGES["noise"], said, noise != "none")]


def lines(photo: Photo) -> list[list[str]]:
    """Three lines: what was found; depths and quality; the best single depth.

    Each is text, a quality in it, the text after that, and ``ok`` or ``bad`` for the quality.
    """
    said = words.HEADINGS
    if photo.phase not in ("done", "working"):
        first, (done, total) = said.get(photo.phase, said["empty"]), photo.progress
        if photo.phase == "cancelled" and total:
            first = said["cancelled_at"].format(done=done, total=total)
        return [[first], [said.get(f"{photo.phase}_second", said["empty_second"])]]
    if photo.result is None:
        done, total = photo.progress
        third = said["working_third"].format(done=done, total=total) if total else ""
        return [[said["working"]], [said["working_second"]], [third]]
    before, own = photo.quality(photo.damaged), photo.quality(photo.result.image)
    if photo.result.unchanged:
        first = said["nothing_found" if photo.has_truth else "nothing"]
        if own is None:
            return [[first], [said["returned"]]]
        returned = said["returned_quality"].format(own=_decibels(own))
        return [[first], [returned], *([_third(photo)] if photo.surveyed else [])]
    noise, filled = noise_found(photo)
    kinds = [words.FOUND[name] for name in _others(photo)]
    kinds += [words.FOUND[noise].format(**filled)] if noise != "none" else []
    first = " and ".join([kinds[0], *(kind[0].lower() + kind[1:] for kind in kinds[1:])])
    second = [_depths(photo, noise)]
    if own is not None and before is not None:
        better = "ok" if own > before else "bad"
        second = [f"{second[0]}: ", _decibels(own), ".", better]
    else:
        second[0] += "."
    return [[f"{first}."], second, _third(photo)]


def _depths(photo: Photo, noise: str) -> str:
    assert photo.result
    depths = photo.result.depths
    if noise == "none" or not depths.any():
        return words.HEADINGS["zero"]
    low, high = int(depths[depths > 0].min()), int(depths.max())
    name = "one" if low == high else "range"
    name += "" if (depths == 0).any() else "_all"
    return words.HEADINGS[name].format(low=low, high=high)


def _third(photo: Photo) -> list[str]:
    if photo.best is not None and photo.surveyed:
        best = f"{photo.singles[photo.best[0]]:.1f}"
        return [words.HEADINGS["best"].format(best=best)]
    left = photo.left
    if left < 0.005:
        return [words.HEADINGS["no_left"]]
    return [words.HEADINGS["left"].format(share=percent(left))]


def note(photo: Photo) -> str:
    """What depth is; with a result also what quality the damaged photograph has."""
    before = photo.quality(photo.damaged) if photo.result else None
    told = "" if before is None else f"{words.BEFORE.format(before=_decibels(before))} "
    return told + words.WHAT_DEPTH_IS


def _notice(photo: Photo) -> str:
    used = photo.clean.shape[0] * photo.clean.shape[1]
    if photo.came <= PHOTO_PIXELS:
        return ""
    return words.REDUCED.format(came=f"{photo.came / 1e6:.1f}", used=f"{used / 1e6:.1f}")
