"""The bench: methods on labelled, corrupted pictures; one JSON line an image and method."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from dga.classifier import predict
from dga.corruptions import CORRUPTIONS, FAMILIES, check_corruption, corrupt
from dga.data import ImageSet, per_class, read_images, split_validation
from dga.diffusion import forward_path
from dga.discriminator import curve
from dga.images import from_tensor, to_tensor
from dga.models import Models
from dga.pipeline import default_routes, path_seed, rebuild
from dga.stopping import Stop, choose_depth
from dga.weights import to_plain, write_json

METHODS = ("source", "dga", "dga-guided", "dda")
CLEAN = "clean"
LINES = "lines.jsonl"
CONFIG = "config.json"
Line = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is measured. ``split``: tune, report or all of the data."""

    data: tuple[str, ...]
    methods: tuple[str, ...]
    corruptions: tuple[str, ...]
    severity: int
    per_class: int
    split: str
    seed: int

    def __post_init__(self) -> None:
        if self.per_class < 1:
            raise ValueError("At least one picture of each class is needed.")
        for name in self.corruptions:
            if name != CLEAN:
                check_corruption(name, self.severity)


def parse_methods(text: str) -> tuple[str, ...]:
    """Comma-separated method names. Raises ``ValueError`` naming those there are."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        raise ValueError(f"Unknown method {(unknown or [''])[0]!r}. Known: {', '.join(METHODS)}.")
    return names


def parse_corruptions(text: str) -> tuple[str, ...]:
    """``all`` (the fifteen), ``clean`` or comma-separated names, checked by :class:`Plan`."""
    if text.strip() == "all":
        return CORRUPTIONS
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    return names


def parse_settings(text: str) -> dict[str, str]:
    """``"tau=0.5,scale=3"`` to a dictionary. Raises ``ValueError`` for anything else."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not sign for _, sign, _ in pairs):
        raise ValueError(f"Settings look like max_depth=40,scale=3, not {text!r}.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def with_settings(models: Models, settings: dict[str, str]) -> Models:
    """The same networks with some settings of the profile changed.

    Known: tau, max_depth, rule, quantile, run, paths, scale, squared, dda_depth,
    dda_scale. Raises ``ValueError`` for others.
    """
    profile = models.profile
    stopping, guidance = dict[str, Any](), dict[str, Any]()
    dda, depth = dict[str, Any](), profile.dda_depth
    for name, value in settings.items():
        if name in ("tau", "quantile"):
            stopping[name] = float(value)
        elif name in ("max_depth", "run", "paths"):
            stopping[name] = int(value)
        elif name == "rule" and value in ("threshold", "quantile"):
            stopping[name] = value
        elif name == "scale":
            guidance[name] = float(value)
        elif name == "squared" and value in ("true", "false"):
            guidance[name] = value == "true"
        elif name == "dda_depth":
            depth = int(value)
        elif name == "dda_scale":
            dda["scale"] = float(value)
        else:
            raise ValueError(f"Unknown setting {name}={value}. {with_settings.__doc__}")
    changed = dataclasses.replace(
        profile,
        stopping=dataclasses.replace(profile.stopping, **stopping),
        guidance=dataclasses.replace(profile.guidance, **guidance),
        dda_guidance=dataclasses.replace(profile.dda_guidance, **dda),
        dda_depth=depth,
    )
    return dataclasses.replace(models, profile=changed)


def evaluate(models: Models, plan: Plan, out: Path, batch: int = 16) -> list[Line]:
    """Run what is not done yet and return every line, the old ones too.

    Lines are appended a batch at a time; a half-written last line is dropped. Raises
    ``ValueError`` for an output folder with results of another plan or profile.
    """
    if batch < 1:
        raise ValueError("A batch holds at least one picture.")
    images = _choose_images(plan, models)
    _claim_folder(out, plan, models)
    lines = _read_lines(out / LINES)
    done = {(row["corruption"], row["path"], row["method"]) for row in lines}
    jobs = [
        (name, [i for i in range(len(images))
                if any((name, images.names[i], m) not in done for m in plan.methods)])
        for name in plan.corruptions
    ]  # fmt: skip
    total = sum(len(rows) for _, rows in jobs)
    with (out / LINES).open("a") as file, tqdm(total=total, unit="image", mininterval=1.0) as bar:
        for name, rows in jobs:
            for start in range(0, len(rows), batch):
                part = images.take(rows[start : start + batch])
                bar.set_postfix(corruption=name, refresh=False)
                for line in _measure(models, plan, part, name):
                    if (line["corruption"], line["path"], line["method"]) not in done:
                        lines.append(line)
                        file.write(json.dumps(line) + "\n")
                file.flush()
                bar.update(len(part))
    return lines


def _choose_images(plan: Plan, models: Models) -> ImageSet:
    profile = models.profile
    images = read_images(plan.data, profile.image_size, profile.classifier.classes or None)
    tune, report = split_validation(images)
    splits = {"tune": tune, "report": report, "all": images}
    if plan.split not in splits:
        raise ValueError(f"Unknown split {plan.split!r}. Choose one of: {', '.join(splits)}.")
    chosen = per_class(splits[plan.split], plan.per_class)
    if not len(chosen):
        raise ValueError(f"The data has no pictures left for the split {plan.split!r}.")
    return chosen


def _claim_folder(out: Path, plan: Plan, models: Models) -> None:
    out.mkdir(parents=True, exist_ok=True)
    config = {
        "plan": to_plain(plan),
        "profile": to_plain(models.profile),
        "precision": str(models.compute.dtype),
        "weights": models.weights,
        "torch": torch.__version__,
    }
    path = out / CONFIG
    if path.exists():
        old = json.loads(path.read_text())
        differs = [
            key
            for key in ("plan", "profile", "precision", "weights")
            if old.get(key) != config[key]
        ]
        if differs:
            raise ValueError(f"{out} holds results of another {differs[0]}. Choose another folder.")
    write_json(path, config)


def _read_lines(path: Path) -> list[Line]:
    """Complete lines of an earlier run; the file is cut after the last of them."""
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return [json.loads(row) for row in whole.splitlines()]


def image_seed(base: int, path: str, corruption: str) -> int:
    """A picture's own seed, from its name and corruption."""
    key = hashlib.blake2b(f"{base}/{path}/{corruption}".encode(), digest_size=4).digest()
    return int.from_bytes(key, "little")


def _measure(models: Models, plan: Plan, part: ImageSet, corruption: str) -> Iterator[Line]:
    """Every method on one batch of pictures under one corruption."""
    seeds = [image_seed(plan.seed, name, corruption) for name in part.names]
    pixels = part.pixels
    if corruption != CLEAN:
        pixels = np.stack(
            [corrupt(p, corruption, plan.severity, s) for p, s in zip(pixels, seeds, strict=True)]
        )
    x = to_tensor(pixels).to(models.device)  # [B, 3, S, S]
    state = _Batch(models, x, seeds)
    for method in plan.methods:
        started = time.perf_counter()
        image, depths, crossed = state.adapt(method)
        predictions = predict(models.classifier, image, models.profile.classifier)
        seconds = (time.perf_counter() - started) / len(part)
        for i, prediction in enumerate(predictions):
            label = part.classes[int(part.labels[i])]
            yield {
                "path": part.names[i],
                "class": label,
                "corruption": corruption,
                "severity": plan.severity if corruption != CLEAN else 0,
                "seed": seeds[i],
                "method": method,
                "depth": depths[i],
                "crossed": crossed[i],
                "prediction": prediction.label,
                "correct": prediction.label == label,
                "probability": round(prediction.probability, 5),
                "seconds": round(seconds, 4),
            }


class _Batch:
    """Pictures of one batch, with their paths and curves computed at most once."""

    def __init__(self, models: Models, x: Tensor, seeds: Sequence[int]) -> None:
        self.models, self.x, self.seeds = models, x, seeds
        self._paths: list[Tensor] | None = None
        self._stops: list[Stop] | None = None

    def adapt(self, method: str) -> tuple[Tensor, list[int], list[bool]]:
        """Rebuilt pictures ``[B, 3, S, S]`` in 8-bit levels, their depths, whether they crossed."""
        if method == "source":
            return self.x, [0] * len(self.x), [True] * len(self.x)
        route = default_routes(self.models.profile)[method]
        if route.depth is None:
            stops = self.stops()
            depths, crossed = [s.t_star for s in stops], [s.crossed for s in stops]
        else:
            depths, crossed = [route.depth] * len(self.x), [True] * len(self.x)
        start = torch.stack([path[d] for path, d in zip(self.paths(), depths, strict=True)])
        image = rebuild(self.models, start, self.x, depths, self.seeds, route.guidance)
        return to_tensor(from_tensor(image)).to(self.x.device), depths, crossed

    def paths(self) -> list[Tensor]:
        """Forward paths, ``[T + 1, 3, S, S]`` each."""
        if self._paths is None:
            schedule = self.models.schedule
            self._paths = [
                forward_path(schedule, x, s) for x, s in zip(self.x, self.seeds, strict=True)
            ]
        return self._paths

    def stops(self) -> list[Stop]:
        """Where each picture halts."""
        if self._stops is None:
            self._stops = [
                self._stop(path, x, seed)
                for path, x, seed in zip(self.paths(), self.x, self.seeds, strict=True)
            ]
        return self._stops

    def _stop(self, path: Tensor, x: Tensor, seed: int) -> Stop:
        models, config = self.models, self.models.profile.stopping
        bound = models.source_bound(config.quantile)
        deepest = min(config.max_depth + config.run, models.schedule.steps + 1)
        rows = [
            curve(models.schedule, models.discriminator, states[:deepest]).numpy()
            for states in (
                path if n == 0 else forward_path(models.schedule, x, path_seed(seed, n))
                for n in range(max(1, config.paths))
            )
        ]
        return choose_depth(np.stack(rows), config, bound[:deepest] if bound else None)


def accuracy(lines: Iterable[Line]) -> dict[tuple[str, str], float]:
    """Top-1 accuracy in [0, 1] by (corruption, method)."""
    hits: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for line in lines:
        hits[line["corruption"], line["method"]].append(line["correct"])
    return {key: float(np.mean(values)) for key, values in hits.items()}


def summarise(lines: Sequence[Line]) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method; median t*."""
    table = accuracy(lines)
    methods = list(dict.fromkeys(line["method"] for line in lines))
    names = list(dict.fromkeys(line["corruption"] for line in lines))
    adaptive = next((m for m in ("dga-guided", "dga") if m in methods), None)
    head = "| corruption | " + " | ".join(methods) + " | median t* | t* <= 4 | not crossed |"
    rows = [head, "|" + "---|" * (len(methods) + 4)]

    def row(title: str, group: Sequence[str]) -> str:
        cells = [f"{100 * float(np.mean([table[n, m] for n in group])):.1f}" for m in methods]
        mine = [r for r in lines if r["corruption"] in group and r["method"] == adaptive]
        if mine:
            depths = np.array([r["depth"] for r in mine])
            late = np.mean([not r["crossed"] for r in mine])
            cells += [f"{np.median(depths):.0f}", f"{np.mean(depths <= 4):.0%}", f"{late:.0%}"]
        else:
            cells += ["", "", ""]
        return f"| {title} | " + " | ".join(cells) + " |"

    rows += [row(name, [name]) for name in names]
    for family, members in FAMILIES.items():
        if set(members) <= set(names):
            rows.append(row(f"**{family}**", list(members)))
    if set(CORRUPTIONS) <= set(names):
        rows.append(row("**mean of 15**", list(CORRUPTIONS)))
    return "\n".join(rows)
