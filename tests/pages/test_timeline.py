"""What the timeline is told: curves of all noise paths, the film, progress in words."""

import base64
import dataclasses
import io
import itertools
import json
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

from app.pages.adapt.screen import SCRIPTS
from app.parts.html import script, static
from app.runs.run_state import Progress, RunState
from app.runs.run_value import run_value
from app.runs.session import Picture, Session
from app.runs.sprites import COLUMNS, MAX_SIDE, forward_sprites, reduced, sprite_sheet
from app.runs.watch import Step
from app.words.try_it import CANCELLED
from dga.diffusion import Schedule, forward_path
from dga.discriminator import Judged
from dga.explanation.search import Scored
from dga.images import from_tensor, to_tensor
from dga.pipeline import NOTHING, Adaptation, Search, SearchEnded
from dga.profiles import End
from dga.request import Request
from dga.stopping import Stop, choose_depth, confidence_from_logits

TOLERANCE = 45  # of a JPEG's pixels, on average; two unlike noises differ by 85


@pytest.fixture(scope="module")
def small(tiny_models):
    return Session(tiny_models)


@pytest.fixture
def subject(small):
    pixels = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
    x = np.repeat(np.repeat(pixels[::8, ::8], 8, 0), 8, 1)  # blocks, so that JPEG holds them
    return Picture(x, small._classify(x))


def picture(address):
    data = base64.b64decode(address.partition("base64,")[2])
    return np.asarray(Image.open(io.BytesIO(data))).astype(int)


def follow(small, subject, settings):
    state = RunState(small.profile, settings, subject)
    events = []
    for event in small.events(subject.input, settings):
        events.append(event)
        state.take(event)
    return state, events


def test_the_value_is_the_run(small, subject):
    state, events = follow(small, subject, Request(None, 1, 0.0, 3, 5, paths=3))
    run = events[-1]
    assert isinstance(run, Adaptation)
    assert state.result is not None
    assert state.result.search is run.search
    value = json.loads(json.dumps(run_value(state)))
    assert (value["phase"], value["t_star"], value["crossed"]) == ("done", 12, False)
    assert np.allclose(value["curves"], confidence_from_logits(run.search.logits))
    assert np.allclose(value["mean"], run.confidence)
    assert [(lane["name"], lane["visited"][0]) for lane in value["lanes"]] == [
        ("dga", 12),
        ("dga-guided", 12),
        ("dda", 5),
        ("dga-plus", run.explained.stop.t_star),
    ]
    assert {name: result["state"] for name, result in value["results"].items()} == dict.fromkeys(
        run.reconstructions, "done"
    )


def test_the_film_shows_every_state(small, subject):
    state, events = follow(small, subject, Request(None, 1, 0.0, 3, 5))
    value = run_value(state)
    x = to_tensor(subject.input)
    states = from_tensor(forward_path(Schedule.from_config(small.profile.schedule), x, 3))
    assert value["forward"]["depths"] == 33
    shown = picture(value["forward"]["src"])
    assert shown.shape == (4 * 32, COLUMNS * 32, 3)
    for depth in (0, 7, 32):
        row, column = divmod(depth, COLUMNS)
        cell = shown[row * 32 : row * 32 + 32, column * 32 : column * 32 + 32]
        assert np.abs(cell - states[depth].astype(int)).mean() < TOLERANCE
    for lane in value["lanes"]:
        steps = [e for e in events if isinstance(e, Step) and lane["name"] in e.systems]
        assert sum(count for count, _ in lane["strips"]) == len(steps) == len(lane["visited"]) - 1
        assert [step.depth for step in steps] == lane["visited"][1:]
        if not steps:
            continue
        strip = np.concatenate([picture(address) for _, address in lane["strips"]], axis=1)
        for index in (0, len(steps) - 1):
            cell = strip[:, index * 32 : index * 32 + 32]
            assert np.abs(cell - steps[index].x.astype(int)).mean() < TOLERANCE


def test_strips_grow_and_earlier_values_do_not(small, subject):
    settings = Request(None, 1, 0.0, 3, 5)
    state = RunState(small.profile, settings, subject)
    kept = []
    for event in small.events(subject.input, settings):
        state.take(event)
        kept.append(run_value(state))
    for counts in (
        [sum(count for lane in value["lanes"] for count, _ in lane["strips"]) for value in kept],
        [sum(map(len, value["curves"])) for value in kept],
    ):
        assert counts == sorted(counts)
        assert len(set(counts)) > 2
    assert sum(len(lane["visited"]) - 1 for lane in kept[-1]["lanes"]) == sum(
        result.steps for result in state.result.reconstructions.values()
    )
    for earlier, later in itertools.pairwise(kept):
        for old, new in zip(earlier["lanes"], later["lanes"], strict=False):
            assert new["strips"][: len(old["strips"])] == old["strips"]


def test_a_run_without_steps_has_empty_lanes(small, subject):
    state, events = follow(small, subject, Request(None, 1, 1.0, 0, 2))
    assert events[-1].t_star == 0
    lanes = {lane["name"]: lane for lane in run_value(state)["lanes"]}
    assert (lanes["dga"]["visited"], lanes["dga"]["strips"]) == ([0], [])
    assert sum(count for count, _ in lanes["dda"]["strips"]) == 2


@pytest.mark.parametrize(
    ("until", "count", "words", "share"),
    [
        (Step, 4, "Unguided: noise out, 4 of 12", 0.333),
        (Scored, 1, "Looking for the damage, 1 tried", 0),
    ],
)
def test_progress_and_cancel_say_where(small, subject, until, count, words, share):
    settings = Request(None, 1, 0.0, 3, 5, paths=2)
    state, seen, taken = RunState(small.profile, settings, subject), [], 0
    for event in small.events(subject.input, settings):
        state.take(event)
        seen.append(run_value(state)["progress"])
        taken += isinstance(event, until)
        if taken == count:
            break
    assert seen[-1] == {"words": words, "share": share}
    forward = [p for p in seen if p["words"].startswith("Noise in")]
    assert forward[-1] == {"words": "Noise in, try 2 of 2: 100 of 100", "share": 1}
    assert [p["share"] for p in forward] == sorted(p["share"] for p in forward)
    state.end()
    assert run_value(state)["error"] == CANCELLED
    kept = dict(state.shown)
    state.take(event)
    assert state.shown == kept
    assert run_value(state)["progress"] is None


@pytest.mark.parametrize("unchanged", [True, False])
def test_an_inverse_alone_is_a_lane_with_a_picture(small, subject, unchanged):
    state, (*_, run) = follow(small, subject, Request(None, 1, 0.0, 3, 5))
    found = dataclasses.replace(
        run.explained, restored=255 - subject.input, stop=Stop(0, True), unchanged=unchanged
    )
    del state.results["dga-plus"]
    state.take(SearchEnded(state.systems["dga-plus"], found))
    lane = run_value(state)["lanes"][-1]
    assert (lane["name"], lane["visited"], lane["strips"]) == ("dga-plus", [0], [])
    assert np.array_equal(state.shown["dga-plus"], found.restored)


@pytest.mark.parametrize("scale", [None, 0.2])
def test_systems_that_end_alike_share_their_steps(small, subject, scale):
    """DGA + G from the depth that is fixed for DDA, too, guided alike or not."""
    state, events = follow(small, subject, Request(None, 1, 0.0, 3, 12, scale=scale))
    shared = [e for e in events if isinstance(e, Step) and len(e.systems) == 2]
    assert len(shared) == (12 if scale is None else 0)
    value = run_value(state)
    assert value["same"] == (scale is None)
    assert all(
        sum(count for count, _ in lane["strips"]) == len(lane["visited"]) - 1
        for lane in value["lanes"]
    )


def test_progress_without_steps():
    assert Progress.of("reverse", 0, 0, "DDA").share == 0


def test_large_pictures_are_reduced():
    states = np.zeros((3, 256, 256, 3), np.uint8)
    states[1, :2, :2] = 200
    small_states = reduced(states)
    assert small_states.shape == (3, MAX_SIDE, MAX_SIDE, 3)
    assert small_states[1, 0, 0, 0] == 200
    assert reduced(small_states) is small_states


def test_a_sheet_keeps_the_order():
    frames = np.arange(7, dtype=np.uint8)[:, None, None, None] * np.ones((1, 2, 2, 3), np.uint8)
    together = sprite_sheet(frames, 4)
    assert together.shape == (4, 8, 3)
    assert together[::2, ::2, 0].tolist() == [[0, 1, 2, 3], [4, 5, 6, 0]]


def test_a_forward_sheet_is_light(small):
    noise = np.random.default_rng(0).integers(0, 255, (101, 64, 64, 3), dtype=np.uint8)
    assert len(forward_sprites(noise)) < 800_000


def test_every_part_of_the_script_is_served():
    files = sorted(f"try/{path.stem}" for path in (static() / "try").glob("*.js"))
    assert files == sorted([*SCRIPTS, "try/line"])
    served = script(*SCRIPTS)
    assert all((static() / f"{name}.js").read_text("utf-8") in served for name in SCRIPTS)


# The page's own script, without a page: where it stops at each tau.
READ = """
const { value: props, taus } = JSON.parse(require("fs").readFileSync(0, "utf-8"));
globalThis.window = { matchMedia: () => ({}) };
const answers = new Function("props", "element", "taus", process.argv[1] + `
  return taus.map((next) => {
    tau = next;
    const now = depthNow();
    return now && [now.t, now.crossed];
  });
`)(props, {}, taus);
console.log(JSON.stringify(answers));
"""


def read_by_the_page(value, taus):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    sent = {"value": {"value": value, "words": {}, "marks": {}}, "taus": taus}
    command = [node, "-e", READ, script("try/state")]
    done = subprocess.run(command, input=json.dumps(sent), capture_output=True, text=True)
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("paths", [1, 3])
@pytest.mark.parametrize(("run", "horizon"), [(1, None), (2, 40)])
def test_the_page_stops_where_python_does(small, subject, paths, run, horizon):
    """At every tau that the handle can be dragged to, and at the run's own, however fine."""
    rng = np.random.default_rng(run)
    logits = np.linspace(2, -2, 101) + rng.normal(0, 0.7, (paths, 101))
    own = 0.123
    state = RunState(small.profile, Request(None, 1, own, 0, 5, paths), subject)
    state.stopping = dataclasses.replace(state.stopping, run=run, max_depth=30, horizon=horizon)
    assert "stops" not in run_value(state)
    stop, none = choose_depth(logits, state.stopping), subject.input
    found = Search(NOTHING, stop, End(state.stopping), logits, none, none, False, 0.0)
    state.take(SearchEnded(None, found))
    taus = [*(percent / 100 for percent in range(101)), own]
    for tau, shown in zip(taus, read_by_the_page(run_value(state), taus), strict=True):
        known = choose_depth(logits, dataclasses.replace(state.stopping, tau=tau))
        assert shown == [known.t_star, known.crossed], tau


def test_nothing_is_decided_before_the_curve_is_there(small, subject):
    state = RunState(small.profile, Request(None, 1, 0.5, 0, 5), subject)
    state.take(Judged(0, np.array([0.9, 0.1])))
    assert read_by_the_page(run_value(state), [0.5]) == [None]
