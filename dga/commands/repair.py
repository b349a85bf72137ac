"""``python -m dga repair``: a photograph at its own size, or a folder of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dga.commands.common import ModelOptions, command, say_skipped

if TYPE_CHECKING:
    from dga.networks.models import Models

_LOSSY = {"quality": 95}
KINDS: dict[str, dict[str, Any]] = {
    ".png": {}, ".jpg": _LOSSY, ".jpeg": _LOSSY, ".webp": _LOSSY, ".tif": {}, ".tiff": {},
}  # fmt: skip
"""Options by which pictures are written, by suffix."""


@command
def repair(
    photo: Annotated[Path, typer.Argument(help="A picture, or a folder of them.")],
    out: Annotated[
        Path | None, typer.Option(help="File, or folder for a folder. Default: PHOTO-repaired.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    models: ModelOptions = ModelOptions(),
) -> None:
    """Repair a photograph at its own size, each place from a depth of its own.

    Of a folder: every picture; run it again to go on.
    """
    if photo.is_dir():
        if as_json:
            raise ValueError("--json is for one picture.")
        _repair_folder(photo.resolve(), out, models)
        return
    target = out or Path(f"{photo.stem}-repaired.png")
    kind = target.suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"A picture is written as {', '.join(KINDS)}, not as {kind!r}.")
    facts = _repair_file(models.load(), photo, target)
    typer.echo(json.dumps(facts) if as_json else _sentence(facts))


def _repair_file(models: Models, photo: Path, target: Path) -> dict[str, Any]:
    """Write one repaired picture, whole or not at all; returns what is told of it."""
    from PIL import Image

    from dga.data.uploads import MAX_SIDE, open_upload
    from dga.images import to_pixels
    from dga.io.files import atomic
    from dga.photograph import repair_photograph

    done = repair_photograph(models, to_pixels(open_upload(photo, kept=MAX_SIDE)))
    image = Image.fromarray(done.image)
    kind = Image.registered_extensions()[target.suffix.lower()]
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic(target) as unfinished:
        image.save(unfinished, format=kind, **KINDS[target.suffix.lower()])
    return done.facts() | {"file": str(target)}


def _sentence(facts: dict[str, Any]) -> str:
    if facts["unchanged"]:
        return f"Nothing to repair; it is left as it is. {facts['file']}"
    depths, noise = facts["depths"], facts["noise"]["largest"]
    found = [] if facts["found"] == "none" else [f"{facts['found']} in all of it"]
    found += [f"noise up to {noise:.2f}"] if noise else []
    return (
        f"Found: {', '.join(found) or 'none'}. Depth {depths['least']} to {depths['largest']}, "
        f"above 0 in {depths['share']:.0%} of the places; {facts['seconds']:.1f} s. {facts['file']}"
    )


def _repair_folder(folder: Path, out: Path | None, models: ModelOptions) -> None:
    """Pictures that are there already are not made again."""
    from tqdm import tqdm

    from dga.data.uploads import UploadError
    from dga.evaluation.folder import find_pictures
    from dga.io.files import exclusive

    out = out or folder.with_name(f"{folder.name}-repaired")
    pictures = find_pictures(folder, out)
    targets = {path: out / path.parent / f"{path.name}.png" for path in pictures}
    with exclusive(out):
        open_ones = {path: target for path, target in targets.items() if not target.exists()}
        loaded = models.load() if open_ones else None
        unreadable, unchanged = [], 0
        for path, target in tqdm(open_ones.items(), unit="image", mininterval=1.0):
            assert loaded is not None
            try:
                unchanged += _repair_file(loaded, folder / path, target)["unchanged"]
            except (UploadError, OSError) as error:
                unreadable.append(f"{folder / path}: {error}")
    repaired = len(open_ones) - len(unreadable) - unchanged
    typer.echo(
        f"{len(targets)} pictures: {repaired} repaired, {unchanged} left as they were, "
        f"{len(targets) - len(open_ones)} there already. {out}"
    )
    say_skipped(unreadable)
