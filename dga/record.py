"""One run as files, JSON and text, with the versions that it was made with."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from PIL import Image

from dga.images import Pixels
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation
from dga.request import Request


def save_pictures(run: Adaptation, folder: Path, clean: Pixels | None) -> dict[str, str]:
    """Write every picture as PNG, ``clean`` too where there is one; returns {name: path}."""
    pictures = {"input": run.input, "x_t_star": run.x_t_star}
    if clean is not None:
        pictures["clean"] = clean
    pictures |= {name: r.image for name, r in run.reconstructions.items()}
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.png" for name in pictures}
    for name, pixels in pictures.items():
        Image.fromarray(pixels).save(paths[name])
    return {name: str(path) for name, path in paths.items()}


def to_record(run: Adaptation) -> dict[str, Any]:
    """A run without its pictures, for programs: exact confidence, top 5 as pairs."""
    facts = _facts(run, lambda prediction: prediction.top(5), digits=3)
    facts["x_t_star"]["depth"] = run.t_star
    return {**facts, "confidence": run.confidence.tolist()}


def to_dict(run: Adaptation, request: Request, pictures: dict[str, str]) -> dict[str, Any]:
    """Everything the command prints, as JSON types: rounded, top 5 as objects."""
    return {
        **_facts(run, top5, digits=4),
        "corruption": request.corruption,
        "severity": request.severity if request.corruption else None,
        "rule": run.stopping.rule,
        "paths": run.stopping.paths,
        "confidence": [round(float(c), 6) for c in run.confidence],
        "pictures": pictures,
        "device": run.device,
        "precision": run.dtype,
    }


def _facts(run: Adaptation, top: Callable[[Prediction], Any], digits: int) -> dict[str, Any]:
    """What both have. ``top``: the likeliest labels as they are written; ``digits``: of seconds."""
    return {
        "profile": run.profile.name,
        "seed": run.seed,
        "tau": run.stopping.tau,
        "max_depth": run.stopping.max_depth,
        "horizon": run.stopping.horizon,
        "t_star": run.t_star,
        "crossed": run.stop.crossed,
        "curve_seconds": round(run.curve_seconds, digits),
        "input": {"top5": top(run.input_prediction)},
        "x_t_star": {"top5": top(run.x_t_star_prediction)},
        "methods": {
            name: {
                "depth": result.depth,
                "steps": result.steps,
                "seconds": round(result.seconds, digits),
                "top5": top(result.prediction),
            }
            for name, result in run.reconstructions.items()
        },
    }


def top5(prediction: Prediction) -> list[dict[str, Any]]:
    """Five likeliest labels with probabilities."""
    return [{"label": name, "probability": round(p, 6)} for name, p in prediction.top(5)]


def to_text(facts: dict[str, Any]) -> str:
    """The same facts for people."""
    stopped = f"t* = {facts['t_star']}"
    if not facts["crossed"] and facts["t_star"]:
        stopped += " (the maximum depth: confidence had not fallen below tau)"
    elif not facts["crossed"]:
        stopped += f" (left as it is: confidence stayed above tau to depth {facts['horizon']})"
    lines = [f"{stopped}, tau {facts['tau']}, curve in {facts['curve_seconds']:.2f} s"]
    shown = ", ".join(f"{k}: {facts['confidence'][k]:.3f}" for k in range(0, 101, 10)
                      if k < len(facts["confidence"]))  # fmt: skip
    lines.append(f"confidence by depth  {shown}")
    rows = {"input": facts["input"], **facts["methods"]}
    for name, row in rows.items():
        best = ", ".join(f"{t['label']} {t['probability']:.0%}" for t in row["top5"])
        cost = f"{row['steps']:3d} steps {row['seconds']:6.2f} s" if "steps" in row else " " * 19
        lines.append(f"{name:<12} {cost}  {best}")
    lines.append(f"pictures in {Path(next(iter(facts['pictures'].values()))).parent}")
    return "\n".join(lines)


PACKAGES = ("torch", "timm", "numpy", "imagecorruptions-imaug", "scikit-image")


def versions() -> dict[str, str]:
    """Python and the packages that results can depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
