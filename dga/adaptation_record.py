"""A run of one picture as files, JSON and text, for the command ``adapt`` and for programs.

The record holds what is needed to repeat the run: profile, settings and seed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dga.adaptation import Adaptation, Reconstruction
from dga.data.encoding import encode_picture
from dga.data.picture_files import write
from dga.explanation.degradation import NO_DEGRADATION
from dga.images import Pixels
from dga.io.files import find_unused_path, to_plain
from dga.networks.classifier import Prediction
from dga.sentences import describe_explanation, name_damage
from dga.systems import System


def choose_folder(out: Path | None, picture: Path, names: Sequence[str]) -> Path:
    """The folder for the run of a picture: ``out``, else an unused one named after the picture.

    ``names``: of the pictures that :func:`save_pictures` will write. Raises ``ValueError`` where
    ``out`` is a file, or holds pictures of these names.
    """
    if out is None:
        return find_unused_path(Path(f"{picture.stem}-adapted"))
    if out.is_file():
        raise ValueError(f"{out} is a file: name a folder with --out.")
    if any(_make_path(out, name).exists() for name in names):
        raise ValueError(f"{out} holds the pictures of a run: name another with --out.")
    return out


def _make_path(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(':', ',')}.png"


def list_names(systems: Sequence[System], has_clean: bool) -> list[str]:
    """The names of all pictures of a run, at most; ``has_clean``: of an undamaged one, too."""
    return ["input", "x_t_star", *["clean"] * has_clean, *(system.name for system in systems)]


def save_pictures(run: Adaptation, folder: Path, clean: Pixels | None) -> dict[str, str]:
    """Write every picture as PNG, ``clean`` too where there is one; returns {name: path}."""
    pictures = {"input": run.input}
    if run.x_t_star is not None:
        pictures["x_t_star"] = run.x_t_star
    if clean is not None:
        pictures["clean"] = clean
    pictures |= {name: r.image for name, r in run.reconstructions.items()}
    for name, pixels in pictures.items():
        write(_make_path(folder, name), encode_picture(Image.fromarray(pixels), "PNG"))
    return {name: str(_make_path(folder, name)) for name in pictures}


def to_facts(run: Adaptation) -> dict[str, Any]:
    """A run without its pictures, as JSON types."""
    return {
        "profile": run.profile.name,
        "seed": run.seed,
        "tau": run.stopping.tau,
        "max_depth": run.stopping.max_depth,
        "horizon": run.stopping.horizon,
        **_stop_facts(run),
        "input": {"top5": _list_likeliest(run.input_prediction)},
        "methods": {
            name: {
                "depth": result.depth,
                "steps": result.forward.steps,
                "seconds": round(_seconds(result), 4),
                "top5": _list_likeliest(result.prediction),
            }
            for name, result in run.reconstructions.items()
        },
        "explained": _explanation_facts(run, run.plus) if run.plus else None,
        "confidence": [round(c, 6) for c in run.confidence.tolist()],
        "device": run.device,
        "precision": run.precision,
    }


def _stop_facts(run: Adaptation) -> dict[str, Any]:
    """Where the path of the picture as it came stops; empty values where nobody needed it."""
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


def _seconds(result: Reconstruction) -> float:
    """Seconds of rebuilding, and of finding t* where no other system shares that path."""
    return result.seconds + (result.forward.seconds if result.forward.repair.explain else 0.0)


def _explanation_facts(run: Adaptation, plus: Reconstruction) -> dict[str, Any]:
    """What DGA+ found, as JSON types: in a sentence, as text and in numbers.

    ``entry``: the depth at which the picture entered by its own noise; ``t_star`` and ``crossed``:
    where that path halted; ``flat``: whether it is too plain to be judged, such as a drawing;
    ``candidates``: with their scores.
    """
    forward, explanation = plus.forward, plus.forward.explanation
    is_unchanged = np.array_equal(plus.image, run.input)
    undone = NO_DEGRADATION if is_unchanged else explanation.degradation
    return {
        "sentence": describe_explanation(forward, is_unchanged),
        "degradation": name_damage(str(undone), is_unchanged),
        "parameters": to_plain(undone),
        "measured_noise": explanation.measured_noise,
        "flat": explanation.is_unjudgeable,
        "unchanged": is_unchanged,
        "entry": explanation.entry,
        "t_star": forward.stop.t_star,
        "crossed": forward.stop.is_crossed,
        "confidence": forward.confidence.tolist(),
        "candidates": [
            {"stage": s.stage, "degradation": str(s.degradation), "score": s.score}
            for s in explanation.candidate_scores
        ],
        "seconds": round(forward.seconds, 4),
    }


def _list_likeliest(prediction: Prediction) -> list[dict[str, Any]]:
    """The five likeliest labels with their probabilities."""
    return [{"label": name, "probability": round(p, 6)} for name, p in prediction.top(5)]


def to_text(facts: dict[str, Any]) -> str:
    """The command's facts as text: what DGA+ did, the path to t*, and a line for each method."""
    lines = [facts["explained"]["sentence"]] if facts["explained"] else []
    if facts["t_star"] is not None:  # DGA+ alone goes its own way
        lines += _path_text(facts)
    rows = {"input": facts["input"], **facts["methods"]}
    for name, row in rows.items():
        best = ", ".join(f"{t['label']} {t['probability']:.0%}" for t in row["top5"])
        cost = f"{row['steps']:3d} steps {row['seconds']:6.2f} s" if "steps" in row else " " * 19
        lines.append(f"{name:<12} {cost}  {best}")
    lines.append(f"pictures in {Path(next(iter(facts['pictures'].values()))).parent}")
    return "\n".join(lines)


def _path_text(facts: dict[str, Any]) -> list[str]:
    ending = f"t* = {facts['t_star']}"
    if facts["given_up"]:
        ending += f" (left alone: confidence stayed above tau to depth {facts['horizon']})"
    elif not facts["crossed"]:
        ending += " (the deepest allowed: confidence had not fallen below tau)"
    first = f"{ending}, tau {facts['tau']}, chosen in {facts['curve_seconds']:.2f} s"
    depths = range(0, len(facts["confidence"]), 10)
    samples = ", ".join(f"{k}: {facts['confidence'][k]:.3f}" for k in depths)
    return [first, f"confidence of damage by depth  {samples}"]
