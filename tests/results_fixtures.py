"""Small synthetic results with known answers, laid out as the commands write them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dga.corruptions import CORRUPTIONS, FAMILIES

WEIGHTS = {"diffusion": "d1", "discriminator": "j1", "classifier": "c1"}
Line = dict[str, Any]


def path_of(photograph: int) -> str:
    return f"cat/n{photograph:03d}.jpeg"


def line(
    photograph: int, corruption: str, method: str, correct: bool, depth: int = 0, **rest: Any
) -> Line:
    return {
        "path": path_of(photograph),
        "class": "cat",
        "corruption": corruption,
        "severity": 0 if corruption == "clean" else 5,
        "seed": photograph,
        "method": method,
        "depth": depth,
        "crossed": depth < 20,
        "prediction": "cat" if correct else "dog",
        "correct": bool(correct),
        "probability": 0.5,
        "seconds": 0.25,
        **rest,
    }


def lines_of(
    method: str,
    right: Callable[[int, str], bool],
    photographs: int,
    corruptions: Sequence[str] = CORRUPTIONS,
    depth: Callable[[int, str], int] = lambda p, c: 0,
) -> list[Line]:
    """A line an image: ``right`` and ``depth`` of (photograph, corruption)."""
    return [
        line(p, c, method, right(p, c), depth(p, c))
        for c in corruptions
        for p in range(photographs)
    ]


def frame(*groups: Iterable[Line]) -> pd.DataFrame:
    return pd.DataFrame([row for group in groups for row in group])


def stopping(tau: float = 0.5, rule: str = "threshold") -> dict[str, Any]:
    return {"stopping": {"rule": rule, "tau": tau, "max_depth": 20, "run": 1, "paths": 1}}


def write_run(folder: Path, lines: Sequence[Line], zipped: bool = False, **config: Any) -> Path:
    """A folder as ``python -m dga evaluate`` leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    methods = {row["method"]: {} for row in lines}
    settings = {name: stopping() if name.startswith("dga") else {} for name in methods}
    base = {
        "data": ["val.zip"],
        "corrupted": None,
        "severity": 5,
        "split": "report",
        "seed": 0,
        "profile": "everyday16",
        "precision": "float32",
        "weights": WEIGHTS,
        "methods": settings,
        "command": f"python -m dga evaluate --out {folder.name}",
    }
    (folder / "config.json").write_text(json.dumps(base | config))
    text = "".join(json.dumps(row) + "\n" for row in lines)
    if zipped:
        (folder / "lines.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        (folder / "lines.jsonl").write_text(text)
    return folder


def write_judge(
    folder: Path, logits: np.ndarray, depths: Sequence[int], features: bool = False, **config: Any
) -> Path:
    """A folder as ``python -m dga judge`` leaves it; ``logits`` ``[16, N, K]``, clean first."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ["clean", *CORRUPTIONS][: len(logits)]
    base = {
        "kind": "judge",
        "study": folder.name,
        "input": "x_t",
        "source": "images",
        "trained_on": list(CORRUPTIONS),
        "severity": 5,
        "split": "report",
        "profile": "everyday16",
        "weights": {"discriminator": "j1"},
        "command": f"python -m dga judge --out {folder.name}",
    }
    (folder / "config.json").write_text(json.dumps(base | config))
    paths = np.array([path_of(p) for p in range(logits.shape[1])])
    np.savez_compressed(
        folder / "curves.npz",
        paths=paths,
        corruptions=np.array(names),
        depths=np.array(depths),
        logits=logits.astype(np.float32),
        source_bound=np.quantile(logits[0], 0.95, axis=0).astype(np.float32),
    )
    if features:
        rng = np.random.default_rng(0)
        values = rng.normal(size=(*logits.shape[:2], 6)).astype(np.float16)
        labels = np.zeros(logits.shape[1], int)
        np.savez(folder / "features.npz", features=values, labels=labels, classes=np.array(["cat"]))
    return folder


def falling_logits(photographs: int, depths: Sequence[int], seed: int = 0) -> np.ndarray:
    """Corrupted curves that fall below 0 with depth, families at their own pace; clean below 0."""
    rng = np.random.default_rng(seed)
    paces = [
        pace for names, pace in zip(FAMILIES.values(), (14, 10, 6, 3), strict=True) for _ in names
    ]
    depth = np.asarray(depths, float)
    curves = [2 - 3 * depth / pace for pace in paces]
    noise = rng.normal(0, 0.6, (16, photographs, len(depth)))
    return np.stack([np.full(len(depth), -1.5), *curves])[:, None] + noise


def needed(photograph: int, corruption: str) -> int:
    """The one depth, 4 or 8, at which an image is right in :func:`depth_matters`."""
    return 4 if (photograph + CORRUPTIONS.index(corruption)) % 2 else 8


def depth_matters(photographs: int = 12, base: str = "dga-guided") -> list[Line]:
    """Source always wrong; each image right at its own depth only, which t* names."""
    rows = lines_of("source", lambda p, c: False, photographs)
    for k in (4, 8):
        rows += lines_of(
            f"{base}:depth={k}", lambda p, c, k=k: needed(p, c) == k, photographs,
            depth=lambda p, c, k=k: k,
        )  # fmt: skip
    return rows + lines_of(base, lambda p, c: True, photographs, depth=needed)


def whole_results(root: Path, photographs: int = 12) -> Path:
    """Everything but MEMO: methods, clean pictures, taus, fixed depths, three judge runs."""
    rng = np.random.default_rng(0)
    rates = {
        "source": 0.3, "tent": 0.45, "diffpure-published": 0.2, "diffpure": 0.35,
        "dda-published": 0.3, "dda": 0.4, "dda-ensemble": 0.45, "dga": 0.5,
        "dga-guided": 0.6, "dga-quantile": 0.45, "dga-guided-quantile": 0.55,
    }  # fmt: skip
    skill = rng.random((photographs, len(CORRUPTIONS)))

    def rows(method: str, rate: float, names: Sequence[str] = CORRUPTIONS) -> list[Line]:
        return [
            line(p, c, method, skill[p, names.index(c)] < rate, int(rng.integers(0, 21)))
            for c in names
            for p in range(photographs)
        ]

    settings = {name: stopping() for name in rates if name.startswith("dga")}
    settings |= {"dga-guided-quantile": stopping(rule="quantile")}
    main = [row for name, rate in rates.items() for row in rows(name, rate)]
    write_run(root / "severity-5", main, zipped=True, methods=settings)
    write_run(root / "clean", rows("source", 0.8, ["clean"]) + rows("dga-guided", 0.8, ["clean"]))
    taus = [row for t in (0.1, 0.3, 0.7) for row in rows(f"dga:tau={t}", 0.4)]
    write_run(root / "tau", taus)
    sweep = [row for k in (4, 8, 16) for row in rows(f"dga-guided:depth={k}", 0.3 + k / 100)]
    write_run(root / "sweep", sweep)
    depths = range(0, 41, 2)
    write_judge(root / "images", falling_logits(8, depths), depths, features=True)
    noise = {"trained_on": list(FAMILIES["noise"]), "weights": {"discriminator": "j2"}}
    write_judge(root / "noise-only", falling_logits(8, depths, 1), depths, **noise)
    write_judge(root / "x0-hat", falling_logits(8, depths, 2), depths, input="x0_hat")
    return root
