"""A run of one picture as files, JSON and text, for the command ``adapt`` and for programs.

The record has what decided on the results (profile, weights, seed, the settings of each method) and
what each method made of the picture.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dga.adaptation import Adaptation, Reconstruction
from dga.data.encoding import encode_picture
from dga.data.picture_files import write_picture_file
from dga.explanation.degradation import NO_DEGRADATION
from dga.images import Pixels
from dga.io.files import find_unused_path, to_plain
from dga.io.settings import read_settings
from dga.networks.classifier import Prediction
from dga.sentences import describe_explanation, name_damage
from dga.systems import System


def choose_folder(out: Path | None, picture: Path, systems: Sequence[System]) -> Path:
    """Choose the folder for the run of a picture: ``out``, else an unused one named after it.

    Raises ``ValueError`` where ``out`` is a file, or has a picture that :func:`save_pictures` may
    write.
    """
    if out is None:
        return find_unused_path(Path(f"{picture.stem}-adapted"))
    if out.is_file():
        raise ValueError(f"{out} is a file: name a folder with --out.")
    names = ["input", "x_t_star", "clean", *(system.name for system in systems)]
    if any(_make_path(out, name).exists() for name in names):
        raise ValueError(f"{out} holds the pictures of a run: name another with --out.")
    return out


def _make_path(folder: Path, name: str) -> Path:
    """The path of a picture; a file's name may not have a colon everywhere."""
    return folder / f"{name.replace(':', ',')}.png"


def save_pictures(run: Adaptation, folder: Path, clean: Pixels | None) -> dict[str, str]:
    """Write every picture as PNG, and return the paths by name.

    ``clean``: the undamaged picture, uint8 ``[S, S, 3]``, if there is one.
    """
    pictures = {"input": run.input}
    if run.x_t_star is not None:
        pictures["x_t_star"] = run.x_t_star
    if clean is not None:
        pictures["clean"] = clean
    pictures |= {name: result.image for name, result in run.reconstructions.items()}
    for name, pixels in pictures.items():
        write_picture_file(_make_path(folder, name), encode_picture(Image.fromarray(pixels), "PNG"))
    return {name: str(_make_path(folder, name)) for name in pictures}


def make_record(run: Adaptation) -> dict[str, Any]:
    """Make the record of a run: all but its pictures, as JSON types."""
    return {
        "profile": run.profile.name,
        "seed": run.seed,
        "tau": run.stopping.tau,
        "max_depth": run.stopping.max_depth,
        "horizon": run.stopping.horizon,
        **_record_stop(run),
        "input": {"top5": _list_likeliest(run.input_prediction)},
        "methods": {
            name: {
                "settings": read_settings(result.system),
                "depth": result.depth,
                "steps": result.start.steps,
                "seconds": round(_count_seconds(result), 4),
                "top5": _list_likeliest(result.prediction),
            }
            for name, result in run.reconstructions.items()
        },
        "explained": _record_explanation(run, run.plus) if run.plus else None,
        "confidence": [round(c, 6) for c in run.confidence.tolist()],
        "weights": dict(run.weights),
        "device": run.device,
        "precision": run.precision,
    }


def _record_stop(run: Adaptation) -> dict[str, Any]:
    """Record where the picture as it came stops; all None where there is no forward process."""
    forward, prediction = run.forward, run.x_t_star_prediction
    if forward is None or prediction is None:
        return dict.fromkeys(("t_star", "crossed", "given_up", "curve_seconds", "x_t_star"))
    return {
        "t_star": forward.stop.t_star,
        "crossed": forward.stop.is_crossed,
        "given_up": forward.stop.has_given_up,
        "curve_seconds": round(forward.seconds, 4),
        "x_t_star": {"top5": _list_likeliest(prediction)},
    }


def _count_seconds(result: Reconstruction) -> float:
    """The seconds of a result, with those of finding t* where no other system shares that path."""
    start = result.start
    return result.seconds + (start.seconds if start.repair.explain else 0.0)


def _record_explanation(run: Adaptation, plus: Reconstruction) -> dict[str, Any]:
    """Record what DGA+ found: in a sentence, as text and in numbers.

    ``entry`` is the depth whose noise matches the picture's own, and at which it entered.
    ``t_star`` and ``crossed`` say where its forward process stopped. ``flat`` is True for a picture
    that is too plain to be judged, such as a drawing.
    """
    start, explanation = plus.start, plus.start.explanation
    is_unchanged = np.array_equal(plus.image, run.input)
    undone = NO_DEGRADATION if is_unchanged else explanation.degradation
    return {
        "sentence": describe_explanation(start, is_unchanged),
        "degradation": name_damage(str(explanation.degradation), is_unchanged),
        "parameters": to_plain(undone),
        "measured_noise": explanation.measured_noise,
        "flat": explanation.is_unjudgeable,
        "unchanged": is_unchanged,
        "entry": explanation.entry,
        "t_star": start.stop.t_star,
        "crossed": start.stop.is_crossed,
        "confidence": start.confidence.tolist(),
        "seconds": round(start.seconds, 4),
    }


def _list_likeliest(prediction: Prediction) -> list[dict[str, Any]]:
    """List the five likeliest labels with their probabilities."""
    return [{"label": name, "probability": round(p, 6)} for name, p in prediction.top(5)]


def format_record(record: dict[str, Any]) -> str:
    """Format the record of ``adapt`` as text: what DGA+ did, the path to t*, a line a method."""
    lines = [record["explained"]["sentence"]] if record["explained"] else []
    if record["t_star"] is not None:  # None where DGA+ is the only method
        lines += _format_path(record)
    rows = {"input": record["input"], **record["methods"]}
    for name, row in rows.items():
        best = ", ".join(f"{t['label']} {t['probability']:.0%}" for t in row["top5"])
        cost = f"{row['steps']:3d} steps {row['seconds']:6.2f} s" if "steps" in row else " " * 19
        lines.append(f"{name:<12} {cost}  {best}")
    lines.append(f"pictures in {Path(next(iter(record['pictures'].values()))).parent}")
    return "\n".join(lines)


def _format_path(record: dict[str, Any]) -> list[str]:
    """Where the forward process stopped and why, and the confidence at every tenth depth."""
    ending = f"t* = {record['t_star']}"
    if record["given_up"]:
        ending += f" (left alone: confidence stayed above tau to depth {record['horizon']})"
    elif not record["crossed"]:
        ending += " (the deepest allowed: confidence had not fallen below tau)"
    seconds = f"chosen in {record['curve_seconds']:.2f} s"
    depths = range(0, len(record["confidence"]), 10)
    samples = ", ".join(f"{k}: {record['confidence'][k]:.3f}" for k in depths)
    return [
        f"{ending}, tau {record['tau']}, {seconds}",
        f"confidence of damage by depth  {samples}",
    ]
