"""``python -m tests.load DRILL`` (``--help`` lists them); exits with 1 if a promise broke."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from tests.load import departures as leaving
from tests.load.cases import CASES, connect, digest, run_alone, write_pictures
from tests.load.memory import Strangers
from tests.load.server import ROOT, Server
from tests.load.visitors import Crowd

WARM = 50
"""Runs after which memory is expected to stay."""
GROWTH = 0.05
HELD = 1.5
"""Memory of a page that many have used, in that of an idle one after its first run."""
RATIO = 1.5
"""What a start may take, in bare imports of its two large packages."""
FIRST = 3.0
"""Seconds that a picture sent at once may take longer than the same one later."""
FIRST_PICTURE, WHOLE = 2.0, 4.0
"""Seconds to the picture of the method that is looked at, and to all, on two cores."""
IMPORTS = "import torch, gradio"
"""What no page could do without."""
DAMAGES = (("gaussian_noise", 3), ("impulse_noise", 2), ("defocus_blur", 4), ("contrast", 4))
"""Noise, sparse noise, and two that never cross: the full comparison then takes longest."""

app = typer.Typer(add_completion=False, help=__doc__, no_args_is_help=True)


@app.command()
def visitors(
    visitors: Annotated[int, typer.Option(help="Clients at once.")] = 50,
    minutes: Annotated[float, typer.Option(help="For how long.")] = 5.0,
    seed: Annotated[int, typer.Option(help="Of their habits.")] = 0,
) -> None:
    """Mixed runs, cancels, bad requests and bad files at once; results equal results alone."""
    folder = _folder()
    with Server() as server:
        alone = run_alone(server.url, folder)
        os.nice(10)  # visitors would not sit on the server's cores
        crowd = Crowd(server.url, folder, alone, seed)
        crowd.visit(visitors, minutes)
        after = run_alone(server.url, folder)
        print(f"{visitors} visitors for {minutes:g} minutes: {sum(crowd.outcomes.values())} visits")
        for outcome, count in crowd.outcomes.most_common():
            print(f"  {outcome:<10} {count}")
        median = statistics.median(seconds for seconds, _ in crowd.waits)
        longest = ", ".join(f"{s:.0f} s ({manner})" for s, manner in sorted(crowd.waits)[-3:])
        print(f"median wait {median:.1f} s, longest {longest}")
        print(f"results afterwards equal those before: {'yes' if after == alone else 'NO'}")
        faults = server.faults()
        print(f"stack traces in the server's log: {len(faults)} ({server.log})")
        print(*crowd.strange[:20], sep="\n")
    bad = crowd.outcomes["wrong"] + crowd.outcomes["unhandled"] + len(faults)
    raise typer.Exit(bool(bad or after != alone or not crowd.outcomes["right"]))


@app.command()
def repair() -> None:
    """Seconds to the first picture and to the last, the best of three, by damage and method."""
    from app.parts.examples import load_examples
    from app.runs.run_state import RunState
    from app.runs.run_value import run_value
    from app.runs.session import Session
    from app.runs.settings import check_settings
    from dga.pipeline import Reconstruction

    session, late = Session.load(), False
    session.warm_up()
    profile = session.profile
    (cat,) = (example for example in load_examples() if example.name == "cat")
    for corruption, severity in DAMAGES:
        tau, depth = profile.stopping.tau, profile.dda_depth
        settings = check_settings(profile, corruption, severity, tau, 0, depth)
        for name in ("dga-guided", "dga-plus"):
            first = whole = float("inf")
            for _ in range(3):
                begun = time.perf_counter()
                subject = session.subject(cat.path, settings)
                state = RunState(profile, settings, subject, cat, first=name)
                asked = subject.input, settings, None, state.extent, state.wanted()
                for event in session.events(*asked):
                    state.take(event)
                    if isinstance(event, Reconstruction) and event.system.name == name:
                        first = min(first, time.perf_counter() - begun)
                run_value(state)
                whole = min(whole, time.perf_counter() - begun)
            print(f"{corruption} {severity}, {name}: {first:.1f} s, all {whole:.1f} s", flush=True)
            late |= first > FIRST_PICTURE or whole > WHOLE
    raise typer.Exit(late)


@app.command()
def endurance(runs: Annotated[int, typer.Option(help="In a row.")] = 500) -> None:
    """Memory after the first 50 runs against memory at the end."""
    folder, memory, right = _folder(), [], 0
    with Server() as server:
        alone, client = run_alone(server.url, folder), connect(server.url)
        for number in tqdm(range(runs), unit="run"):
            case = CASES[number % len(CASES)]
            found = client.predict(**case.arguments(folder), api_name="/adapt")
            right += digest(found) == alone[case]
            memory.append(server.resident())
        faults = server.faults()
    first, last = memory[min(WARM, runs) - 1], max(memory[-10:])
    growth = last / first - 1
    print(f"{runs} runs, {right} right; {first / 2**20:.0f} MiB after {min(WARM, runs)} runs,")
    print(f"{last / 2**20:.0f} MiB at the end: {growth:+.1%}; stack traces: {len(faults)}")
    raise typer.Exit(bool(growth >= GROWTH or right < runs or faults))


@app.command()
def memory(
    runs: Annotated[int, typer.Option(help="Quick and full.")] = 1_000,
    sessions: Annotated[int, typer.Option(help="Open at once, idle.")] = 400,
    uploads: Annotated[int, typer.Option(help="At once.")] = 200,
    boards: Annotated[int, typer.Option(help="Of four own pictures.")] = 64,
    photos: Annotated[int, typer.Option(help="Of a megapixel, repaired.")] = 16,
) -> None:
    """Memory of an idle page after its first run against memory after a crowd of strangers."""
    folder = _folder()
    with Server() as server:
        strangers = Strangers(server.url, folder)
        strangers.run(1)
        time.sleep(5)
        first = most = server.resident()
        print(f"after the first run {first / 2**20:,.0f} MiB", flush=True)
        for count, what, leave in (
            (runs, "runs", strangers.run),
            (sessions, "idle sessions", strangers.stay),
            (uploads, "uploads at once", strangers.upload),
            (boards, "boards", strangers.board),
            (photos, "photographs", strangers.photo),
        ):
            leave(count)
            held = server.resident()
            most = max(most, held)
            print(f"{count:,} {what}: {held / 2**20:,.0f} MiB, {held / first:.2f}", flush=True)
        faults = server.faults()
    print(f"stack traces: {len(faults)}")
    raise typer.Exit(bool(most > HELD * first or faults))


@app.command()
def departures(times: Annotated[int, typer.Option(help="Visitors who vanish.")] = 10) -> None:
    """Visitors who leave in the middle; SIGTERM and SIGKILL in the middle, then a new start."""
    folder = _folder()
    with Server() as server:
        alone = run_alone(server.url, folder)
        waits = leaving.vanish(server, folder, times)
        faults = server.faults()
    most, median = max(waits), statistics.median(waits)
    print(f"after each of {times} who vanished in a run of about {leaving.LONG.dda_depth} steps,")
    print(f"the next was answered within {most:.1f} s (median {median:.1f} s)")
    found = leaving.stop_and_start(folder, alone)
    for name, what in found.items():
        print(f"{name}: {what}")
    raise typer.Exit(bool(faults))


@app.command()
def start(
    times: Annotated[int, typer.Option(help="Starts, each after a bare import.")] = 5,
) -> None:
    """Seconds to the page against a bare import, and from the page to the first picture."""
    folder, seen = _folder(), []
    for _ in tqdm(range(times), unit="start"):
        marks = [time.perf_counter()]
        subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, check=True)
        marks.append(time.perf_counter())
        with Server() as server:
            marks.append(time.perf_counter())
            client = connect(server.url)
            for _ in range(2):
                client.predict(**CASES[0].arguments(folder), api_name="/adapt")
                marks.append(time.perf_counter())
        seen.append([after - before for before, after in pairwise(marks)])
    bare, page, first, again = (statistics.median(column) for column in zip(*seen, strict=True))
    print(f"medians of {times}: python -c {IMPORTS!r} {bare:.2f} s, page {page:.2f} s;")
    print(f"first picture {first:.2f} s after it, the same again {again:.2f} s")
    print(f"page / bare import: {page / bare:.2f} (at most {RATIO})")
    print(f"the first picture waited {first - again:.2f} s for the models (at most {FIRST:g})")
    raise typer.Exit(bool(page > RATIO * bare or first - again > FIRST))


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="dga-load-"))
    write_pictures(folder)
    return folder


if __name__ == "__main__":
    app()
