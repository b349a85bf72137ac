"""Drill: training and evaluation, killed with SIGKILL at random moments, end as if they never were.

``python tests/drills/killed.py [--seed 0] [--moments 20]``: some minutes on one core. Every round
kills a run of the real command at a moment drawn from its whole length, starts the same command
again and compares what it leaves with what an uninterrupted run left, byte for byte (in an
evaluation all but the measured seconds). Ends with status 1 if anything differs.
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
from pathlib import Path

os.environ["DGA_CHECKPOINT_SECONDS"] = "0"  # after every step: most moments then have a past
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import skimage.data
import torch
from PIL import Image

from dga import readers
from dga.commands import app
from dga.corruptions import corrupt
from dga.evaluation import run as evaluation
from dga.networks import models
from dga.training import run as training

LOADED = (evaluation, models, readers, training)  # before the fork, not in each run
METHODS = "source,memo:views=4,dga-guided:depth=2,tent:batch=4,dga-plus+tent:batch=4"
CASES = {
    "classifier": "train classifier --images 64 --batch 8 --seed 3",
    "diffusion": "train diffusion --images 24 --batch 4 --seed 3",
    "discriminator": "train discriminator --images 32 --batch 8 --seed 3",
    "evaluation": f"evaluate --methods {METHODS} --corruptions fog,shot_noise --per-class 4 "
    "--split all --batch 4",
}
RESUME = {"evaluation": ["--resume"]}  # trainings go on by themselves


def main() -> int:
    """Run the drill; returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--moments", type=int, default=20, help="of each command")
    options = parser.parse_args()
    torch.set_num_threads(1)  # of OpenMP's threads a fork would have none
    for severity in (1, 3):  # imports and compiling are not what is killed
        corrupt(skimage.data.chelsea(), "glass_blur", severity, seed=0)
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_pictures(root / "data")
        agreed = [drill(name, root, options.moments, rng) for name in CASES]
    return 0 if all(agreed) else 1


def write_pictures(folder: Path) -> None:
    """Crops of scikit-image's photographs, ``class/number.png``."""
    for name, photograph in (("cat", skimage.data.chelsea()), ("dish", skimage.data.coffee())):
        (folder / name).mkdir(parents=True)
        for i in range(8):
            left, upper, side = 8 * i, 4 * i, 200 + 10 * i
            part = Image.fromarray(photograph[upper : upper + side, left : left + side])
            part.resize((64, 64)).save(folder / name / f"{i}.png")


def drill(name: str, root: Path, moments: int, rng: random.Random) -> bool:
    """Kill and resume ``moments`` times; returns whether all ended as the uninterrupted run."""
    arguments = [*CASES[name].split(), "--data", str(root / "data"), "--device", "cpu"]
    begun = time.monotonic()
    finish(start(arguments, root / name))
    expected, length = facts(root / name), time.monotonic() - begun
    killed = same = 0
    while killed < moments:
        out, moment = root / "out", rng.uniform(0, length)
        process = start(arguments, out)
        process.join(moment)
        process.kill()
        process.join()
        if process.exitcode == -signal.SIGKILL:  # else it was faster than the first time
            killed += 1
            finish(start([*arguments, *RESUME.get(name, [])], out))
            same += facts(out) == expected
            print(f"{name} killed after {moment:.2f} s: {same} of {killed} the same", flush=True)
        shutil.rmtree(out)
    return same == killed


def start(arguments: list[str], out: Path) -> multiprocessing.Process:
    """The command in a process of its own, forked from this one."""

    def command() -> None:
        log = os.open(out.parent / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
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
    files = [*sorted(out.glob("model*")), out / "config.json"]
    return [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]


if __name__ == "__main__":
    sys.exit(main())
