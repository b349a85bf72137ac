"""The first page: one photo, its damage, its repair; below it, what happens inside."""

from typing import Any

from app.pages.results_numbers import Results
from app.pages.shell import (
    CLASSIFIER,
    DESCRIPTIONS,
    SHORT_NAMES,
    TITLES,
    Page,
    render,
)
from app.recorded.store import FOLDER, list_recorded, read_record, read_weights
from app.runs.models import Networks
from app.runs.photos import GONE
from app.runs.pictures import SMALL, to_data_url
from app.runs.samples import SAMPLES
from app.runs.sentences import DAMAGE_NAMES, EVERYDAY_NAMES, PLAIN_NAMES
from app.runs.settings import FIRST_DAMAGES, NONE, RELEASE_QUALITY, Settings
from app.runs.strokes import KINDS, MOST_LETTERS, TOO_LONG
from app.runs.subject import UNSURE
from app.runs.watch import find_chart_depth
from dga.corruptions import CLEAN
from dga.data.uploads import MAX_BYTES
from dga.io.shipped import find_shipped_folder
from dga.lab.analysis.names import MEAN, PLUS, SOURCE
from dga.weights.sources import CONDITIONAL

OPENING, FALLING = Settings(), Settings(damage="pixelate")
"""What the page opens with; a recorded run in which noise hides the damage from the detector."""
RESULTS = find_shipped_folder("assets/results") / "photo" / "results.json"


def repair_page(networks: Networks) -> Page:
    """The page; with what is recorded only where the networks are those that made it."""
    profile = networks.profile
    is_recorded = networks.weights == read_weights()
    opening = read_record(OPENING) if is_recorded else None
    falling = FALLING if opening else None
    first_parts = {name: opening[name] for name in FIRST_PARTS} if opening else None
    order = (NONE, *FIRST_DAMAGES, *(name for name in PLAIN_NAMES if name not in FIRST_DAMAGES))
    damages = [
        {"key": key, "name": PLAIN_NAMES.get(key, "None"), "title": DESCRIPTIONS.get(key, ""),
         "is_first": n <= len(FIRST_DAMAGES)}
        for n, key in enumerate(order)
    ]  # fmt: skip
    samples = [
        {"key": name, "damage": DAMAGE_NAMES[sample.damage].lower(),
         "image": to_data_url(sample.pixels(profile), SMALL, 80)}
        for name, sample in SAMPLES.items()
    ]  # fmt: skip
    data: dict[str, Any] = {
        "opening": OPENING.model_dump(),
        "record": first_parts,
        "falling": falling and falling.model_dump(),
        "recorded": list_recorded() if is_recorded else [],
        "thumbnails": list_recorded(FOLDER.parent / "thumbnails"),
        "samples": {name: sample.damage for name, sample in SAMPLES.items()},
        "quality": RELEASE_QUALITY,
        "sides": {"repaired": "Repaired"} | SHORT_NAMES,
        "goneSentence": GONE,
        "perhaps": f"perhaps: less than {UNSURE:.0%} sure",
        "mostBytes": MAX_BYTES,
        "brush": {"kinds": KINDS, "mostLetters": MOST_LETTERS, "full": TOO_LONG},
        "tau": profile.stopping.tau,
        "deepest": find_chart_depth(profile),
        "cap": profile.stopping.max_depth,
        "horizon": profile.stopping.horizon,
        "side": profile.image_size,
        "rates": read_rates(Results.read(RESULTS)) if is_recorded else {},
    }
    main = render(
        "repair.html", damages=damages, everyday=EVERYDAY_NAMES, samples=samples,
        record=first_parts, methods=TITLES, names=SHORT_NAMES, brushes=KINDS,
        opening=OPENING, is_recorded=is_recorded,
        classifier=CLASSIFIER if is_recorded else profile.classifier.architecture,
        rule=profile.stopping, has_explainer=networks.has_explainer,
        falling=falling, damage_names=DAMAGE_NAMES,
        has_mender=CONDITIONAL in networks.weights, unsure=UNSURE,
        kinds=f"{len(profile.classifier.classes):,}",
    )  # fmt: skip
    return Page(
        "",
        "DGA+: damaged pictures fool AI. See them repaired.",
        "Damage fools an image classifier. Find what was done, undo it, and the same classifier "
        "sees it again: on real photographs, live in the browser.",
        main,
        data,
    )


FIRST_PARTS = (
    "original", "damaged", "repaired", "paper", "fixed", "stop", "found", "headline", "truth",
    "is_damaged",
)  # fmt: skip


def read_rates(results: Results) -> dict[str, dict[str, Any]]:
    """Share of pictures read right, before and after, by damage (at full strength) or none.

    ``fog-saved`` is fog, saved as JPEG; ``mean`` is every kind of damage.
    """
    saved = f"saved-{RELEASE_QUALITY}-severity-5"
    figures = [("undamaged", CLEAN, NONE)]
    figures += [("severity-5", name, name) for name in PLAIN_NAMES]
    figures += [(saved, name, f"{name}-saved") for name in (*PLAIN_NAMES, MEAN)]
    figures += [("everyday-severity-5", name, name) for name in EVERYDAY_NAMES]
    rates: dict[str, dict[str, Any]] = {}
    for key, group, damage in figures:
        if row := results.find(key, PLUS, SOURCE, group):
            rates[damage] = {
                "before": row["other_right"] / 100,
                "after": row["right"] / 100,
                "pictures": row["pictures"],
                "place": "harm" if damage == NONE else f"of-{key}",
            }
    return rates
