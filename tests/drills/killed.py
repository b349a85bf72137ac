"""Drill: training and evaluation, killed with SIGKILL at random moments, end as if they never were.

``python tests/drills/killed.py [--seed 0] [--moments 20] [--only training]``: some minutes on one
core. Every round kills a run of the real command at a moment drawn from its whole length, starts
the same command again and compares what it leaves with what an uninterrupted run left, byte for
byte (in a bench all but the measured seconds). Ends with status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

os.environ["DGA_CHECKPOINT_SECONDS"] = "0"  # after every step: most moments then have a past
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import skimage.data
import torch
from PIL import Image

from dga import readers
from dga.commands import app
from dga.corruptions import corrupt
from dga.evaluation import judging
from dga.evaluation import run as evaluation
from dga.networks import models
from dga.training import run as training

LOADED = (evaluation, judging, models, readers, training)  # before the fork, not in each run
CLASSES = {"cat": skimage.data.chelsea, "dish": skimage.data.coffee}
EACH = 8
OPTIONS = {
    "classifier": "--images 64 --batch 8",
    "diffusion": "--images 24 --batch 4",
    "discriminator": "--images 32 --batch 8",
}
METHODS = "source,memo:views=4,dga-guided:depth=2,tent:batch=4,dga-plus+tent:batch=4"


class Case(NamedTuple):
    """A command that writes to ``--out``. ``again``: what is added to go on."""

    name: str
    arguments: tuple[str, ...]
    again: tuple[str, ...] = ()


def main() -> int:
    """Run the drill; returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--only", choices=["training", "evaluation"])
    options = parser.parse_args()
    torch.set_num_threads(1)  # of OpenMP's threads a fork would have none
    for severity in (1, 3):  # imports and compiling are not what is killed
        corrupt(skimage.data.chelsea(), "glass_blur", severity, seed=0)
    rng, wrong = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        data = make_data(root / "data")
        for kind, cases in (("training", trainers(data)), ("evaluation", benches(data))):
            if options.only in (None, kind):
                wrong += drill(kind, cases, root, options.moments, rng)
    return 1 if wrong else 0


def make_data(folder: Path) -> Path:
    """Crops of scikit-image's photographs, ``class/number.png``."""
    for name, photograph in CLASSES.items():
        picture = Image.fromarray(photograph())
        (folder / name).mkdir(parents=True)
        for i in range(EACH):
            side = 200 + 10 * i
            picture.crop((8 * i, 4 * i, 8 * i + side, 4 * i + side)).resize((64, 64)).save(
                folder / name / f"{i}.png"
            )
    return folder


def trainers(data: Path) -> list[Case]:
    """One short run of each of the three."""
    shared = ("--data", str(data), "--device", "cpu", "--seed", "3")
    return [Case(name, ("train", name, *shared, *more.split())) for name, more in OPTIONS.items()]


def benches(data: Path) -> list[Case]:
    """A bench with methods of every kind."""
    asked = f"--methods {METHODS} --corruptions fog,shot_noise --per-class 4 --split all --batch 4"
    arguments = ("evaluate", "--data", str(data), "--device", "cpu", *asked.split())
    return [Case("bench", arguments, ("--resume",))]


def drill(kind: str, cases: Sequence[Case], root: Path, moments: int, rng: random.Random) -> int:
    """Kill and resume ``moments`` times, the cases in turn; returns how many ended otherwise."""
    expected, length = {}, {}
    for case in cases:
        out = root / f"{case.name}-whole"
        begun = time.monotonic()
        finish(start(case.arguments, out))
        expected[case.name], length[case.name] = facts(out), time.monotonic() - begun
    killed = same = 0
    while killed < moments:
        case, out = cases[killed % len(cases)], root / "out"
        moment = rng.uniform(0, length[case.name])
        process = start(case.arguments, out)
        process.join(moment)
        process.kill()
        process.join()
        if process.exitcode != -signal.SIGKILL:
            shutil.rmtree(out)  # faster than the first time: it had ended
            continue
        killed += 1
        left = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
        finish(start((*case.arguments, *case.again), out))
        agrees = facts(out) == expected[case.name]
        same += agrees
        said = "same" if agrees else "ANOTHER RESULT"
        print(f"{kind} {killed}: {case.name} killed after {moment:.2f} s, left {left}: {said}")
        shutil.rmtree(out)
    print(f"{kind}: killed {killed} times, {same} resumed to the identical result", flush=True)
    return killed - same


def start(arguments: Sequence[str], out: Path) -> multiprocessing.Process:
    """The command in a process of its own, forked from this one."""

    def command() -> None:
        quiet = os.open(out.parent / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        app([*arguments, "--out", str(out)], standalone_mode=False)

    process = multiprocessing.get_context("fork").Process(target=command)
    process.start()
    return process


def finish(process: multiprocessing.Process) -> None:
    """Wait for its end. Raises ``RuntimeError`` if that is not a good one."""
    process.join()
    if process.exitcode:
        raise RuntimeError(f"The command ended with status {process.exitcode}.")


def facts(out: Path) -> list[str]:
    """What a run leaves: sums of weights and config, or every line without its seconds."""
    if (out / "lines.jsonl").exists():
        lines = [json.loads(line) for line in (out / "lines.jsonl").read_text().splitlines()]
        return sorted(json.dumps({**line, "seconds": 0}, sort_keys=True) for line in lines)
    files = [*out.glob("model*"), out / "config.json"]
    sums = [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    return sorted(" ".join(pair) for pair in sums)


if __name__ == "__main__":
    sys.exit(main())
