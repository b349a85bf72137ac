"""``python -m app.presets`` looks for what pages open with (``--search``) and records it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from app.parts.examples import load_examples
from app.presets import boards, photo
from app.presets.cases import CASES, Case
from app.presets.search import told
from app.presets.store import record
from app.runs.session import Session
from dga.corruptions import CORRUPTIONS, SEVERITIES
from dga.weights.checkpoints import WeightsError
from dga.weights.sources import Sources

KINDS = ("runs", "boards", "photo")


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry of ``python -m app.presets``."""
    parser = argparse.ArgumentParser(
        description="Record the runs, boards and photograph that pages open with."
    )
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--out", type=Path, metavar="FOLDER", help="folder to write them to")
    asked.add_argument(
        "--search", type=int, metavar="SEEDS",
        help="run every example with every damage and so many seeds instead, and tell who reads "
        "which runs right",
    )  # fmt: skip
    parser.add_argument("--profile", default="everyday16")
    parser.add_argument("--weights", type=Path, help="folder that holds PROFILE/diffusion, ...")
    parser.add_argument("--only", choices=KINDS, help="default: all of them")
    options = parser.parse_args(arguments)
    wanted = (options.only,) if options.only else KINDS
    examples = {example.name: example for example in load_examples()}
    try:
        session = Session.load(options.profile, Sources(options.weights))
        session.budget_seconds = math.inf  # nobody waits for these
        if options.search:
            damages = product(CORRUPTIONS, SEVERITIES, range(options.search))
            for (name, example), damage in product(examples.items(), damages):
                print(told(session, Case("", name, *damage), example), flush=True)
            return
        for case in CASES if "runs" in wanted else ():
            record(session, case, examples[case.picture], options.out / case.name)
            print(f"{case.name}: written", flush=True)
        for name, severity in product(boards.EXAMPLES, SEVERITIES if "boards" in wanted else ()):
            boards.record(session, examples[name], severity, options.out / boards.FOLDER)
            print(f"{name}-{severity}: written", flush=True)
        if "photo" in wanted:
            photo.record(session, options.out / photo.FOLDER)
            print("photo: written", flush=True)
    except (WeightsError, ValueError, OSError) as error:
        raise SystemExit(f"presets: {error}") from None


if __name__ == "__main__":
    main()
