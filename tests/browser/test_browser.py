"""The page in a real browser: what a visitor sees and does."""

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from app.parts.examples import load_examples
from dga.pipeline import adapt
from dga.request import Request
from dga.stopping import choose_depth
from tests.fixtures.browser import Watch, chromium  # noqa: F401  # fixtures

PLOT = "document.querySelector('.tl-plot').dataset"
# The controls say what the recorded run was, where there is one.
SETTLED = """() => {
  const chip = document.querySelector("#presets [aria-pressed=true]");
  const pressed = document.querySelector("#examples [aria-pressed=true]");
  return !chip || pressed?.dataset.name === chip.dataset.name.split("-")[0];
}"""
IMAGES = "[...document.querySelectorAll('#results img')]"


class Watched(Watch):
    """Page Adapt."""

    def __init__(self, chromium, served, width=1440, address="", **options):  # noqa: F811
        page = chromium.new_page(viewport={"width": width, "height": 900}, **options)
        super().__init__(page, served.url)
        self.page.goto(served.url + address)
        self.page.wait_for_selector(".tl-tau", state="attached")
        self.page.wait_for_selector("#adapt", state="attached")
        self.page.wait_for_function(SETTLED)

    def work(self):
        """Requests that have the server do something."""
        return [url for url in self.requests if "/queue/" in url or "/run/" in url]

    def settle(self):
        """Wait until the page has asked for nothing for a while."""
        asked = -1
        while asked < len(self.requests):
            asked = len(self.requests)
            self.page.wait_for_timeout(500)

    def wait(self, *phases):
        self.page.wait_for_function(f"{list(phases)}.includes({PLOT}.phase)", timeout=120_000)

    def begin(self):
        """Press Adapt and wait until the timeline shows another run than before."""
        key = self.page.evaluate(f"{PLOT}.key")
        self.page.get_by_role("button", name="Adapt", exact=True).click()
        self.page.wait_for_function(f"{PLOT}.key !== '{key}'", timeout=120_000)

    def run(self):
        self.begin()
        self.wait("done")

    def free(self):
        """Wait until another run can be asked for."""
        self.page.wait_for_function("!document.querySelector('#adapt').disabled")

    def t_star(self):
        return int(self.page.get_attribute(".tl-plot", "data-t-star"))

    def pixels(self, card):
        source = self.page.get_attribute(f"#card-{card} img", "src")
        data = base64.b64decode(source.partition("base64,")[2])
        return np.asarray(Image.open(io.BytesIO(data)))

    def depth(self, depth):
        self.number("#dda-depth", depth)

    def one_path(self):
        """The recorded run that the page opens with has several noise paths."""
        self.page.locator("#advanced-toggle button").click()
        self.number("#paths", 1)

    def number(self, where, value):
        field = self.page.locator(f"{where} input[type=number]")
        field.fill(str(value))
        field.press("Tab")

    def head(self):
        """Where the playhead is: part, depth, method and its words."""
        head = self.page.locator(".tl-now")
        names = ("data-part", "data-depth", "data-lane", "aria-valuetext")
        part, depth, lane, words = (head.get_attribute(name) for name in names)
        return part, int(depth), lane, words

    def chips(self):
        return self.page.locator("#presets button")


@pytest.fixture(scope="module")
def watched(chromium, served):  # noqa: F811
    """One page for all that makes runs; it opens with its first one finished."""
    watched = Watched(chromium, served)
    page = watched.page
    page.locator("#examples [data-name=coffee]").click()
    page.wait_for_function("document.querySelector('#picture img')?.src.includes('coffee')")
    page.get_by_label("Impulse").check()
    page.locator("#severity").get_by_label("2").check()
    page.locator("#seed input").fill("11")
    watched.one_path()
    watched.depth(4)
    watched.run()
    watched.free()
    yield watched
    watched.leave()


@pytest.fixture(scope="module")
def expected(served):
    """That run as the library makes it, and what it was made of."""
    example = next(e for e in load_examples() if e.name == "coffee")
    tau = served.session.profile.stopping.tau
    subject = served.session.subject(example.path, Request("impulse_noise", 2, tau, 11, 4))
    return subject, adapt(served.session.models, subject.input, seed=11)


@pytest.fixture(scope="module")
def recorded(chromium, served):  # noqa: F811
    """One page for all that only looks at recorded runs."""
    watched = Watched(chromium, served)
    if not watched.chips().count():
        pytest.skip("no recorded runs for these weights")
    yield watched
    watched.leave()


def test_the_page_opens_with_a_finished_run(recorded):
    page = recorded.page
    assert recorded.chips().first.get_attribute("aria-pressed") == "true"
    assert page.evaluate(f"{PLOT}.phase") == "done"
    recorded.counts("#results img", 6)
    recorded.says(".tl-words", "Recorded with the shipped models")
    painted = "[...document.querySelector('.tl-picture').getContext('2d')"
    painted += ".getImageData(0, 0, 64, 64).data].some((v, i) => i % 4 < 3 && v > 40)"
    page.wait_for_function(painted)
    page.locator(".tl-now").focus()
    recorded.settle()
    before = len(recorded.work())
    page.keyboard.press("Home")
    assert recorded.head()[:2] == ("forward", 0)
    assert len(recorded.work()) == before


def test_scrubbing_crosses_the_fold(recorded):
    page = recorded.page
    recorded.chips().filter(has_text="Cat").first.click()
    page.wait_for_function(f"{PLOT}.key.startsWith('cat')")
    lane = recorded.head()[2]
    page.locator(".tl-now").focus()
    page.keyboard.press("Home")
    page.keyboard.press("M")
    steps = [recorded.head()]
    for _ in range(12):
        page.keyboard.press("Shift+ArrowRight")
        steps.append(recorded.head())
    parts = [part for part, *_ in steps]
    assert parts == sorted(parts)
    assert parts[-1] == "reverse"
    forward = [depth for part, depth, *_ in steps if part == "forward"]
    back = [depth for part, depth, *_ in steps if part == "reverse"]
    assert forward == sorted(forward)
    assert back == sorted(back, reverse=True)
    page.keyboard.press("End")
    part, depth, name, words = recorded.head()
    assert (part, depth) == ("reverse", 0)
    assert "step" in words
    assert lane in ("dga", "dga-guided", "dga-plus", "dda")
    page.keyboard.press("ArrowLeft")
    assert recorded.head()[1] > 0
    seen = {name}
    for _ in range(3):
        page.keyboard.press("m")
        seen.add(recorded.head()[2])
    lanes = page.locator(".tl-lane:enabled").count()
    assert len(seen) == lanes
    page.keyboard.press("Home")
    assert recorded.head()[:2] == ("forward", 0)


def test_a_mouse_scrubs_both_parts(recorded):
    page = recorded.page
    page.locator(".tl-plot").scroll_into_view_if_needed()
    box = page.locator(".tl-plot").bounding_box()
    per_depth = (box["width"] - 128) / 100

    def at(depth, y):
        return box["x"] + 128 + depth * per_depth, box["y"] + y

    page.mouse.click(*at(31, 240))
    assert recorded.head()[:2] == ("forward", 31)
    page.mouse.move(*at(10, 240))
    page.mouse.down()
    page.mouse.move(*at(14, 240), steps=4)
    page.mouse.up()
    assert recorded.head()[:2] == ("forward", 14)
    dda = page.locator(".tl-lane[data-lane=dda]").bounding_box()
    page.mouse.click(at(4, 0)[0], dda["y"] + dda["height"] / 2)
    assert recorded.head()[:3] == ("reverse", 4, "dda")


def test_play_and_pause(recorded):
    page = recorded.page
    page.locator(".tl-now").focus()
    page.keyboard.press("Home")
    play = page.locator(".tl-run")
    assert play.inner_text() == "Play"
    page.keyboard.press(" ")
    page.wait_for_function("document.querySelector('.tl-now').dataset.depth > 1")
    assert play.inner_text() == "Pause"
    play.click()
    stopped = recorded.head()
    page.wait_for_timeout(500)
    assert recorded.head() == stopped
    assert play.inner_text() == "Play"


def test_reduced_motion_jumps(recorded):
    page = recorded.page
    page.emulate_media(reduced_motion="reduce")
    try:
        page.locator(".tl-now").focus()
        page.keyboard.press("Home")
        assert page.locator(".tl-run").inner_text() == "Jump"
        page.keyboard.press(" ")
        first = recorded.head()
        page.wait_for_timeout(400)
        assert recorded.head() == first
        assert first[1] > 0
        page.keyboard.press(" ")
        assert recorded.head()[:2] == ("reverse", 0)
    finally:
        page.emulate_media(reduced_motion="no-preference")


def test_another_preset_is_shown_at_once_and_by_its_address(chromium, recorded, served):  # noqa: F811
    page = recorded.page
    chip = page.locator("#presets [aria-pressed=false]").first
    name = chip.get_attribute("data-name")
    chip = page.locator(f"#presets [data-name={name}]")
    chip.click()
    page.wait_for_function(f"{PLOT}.key === '{name}'", timeout=5000)
    assert chip.get_attribute("aria-pressed") == "true"
    assert page.evaluate(f"{PLOT}.phase") == "done"
    picture = name.partition("-")[0]
    assert f"image={picture}&" in page.input_value("#link input")
    page.wait_for_function(f"document.URL.includes('image={picture}')")
    other = Watched(chromium, served, address=page.evaluate("location.search"))
    other.page.wait_for_function(f"{PLOT}.key === '{name}'")
    assert other.page.evaluate(f"{PLOT}.phase") == "done"
    pressed = other.page.locator("#presets [aria-pressed=true]")
    assert pressed.get_attribute("data-name") == name
    other.leave()


def test_a_run_shows_what_the_library_computes(watched, expected):
    page, (subject, run) = watched.page, expected
    page.wait_for_function(f"{PLOT}.tStar !== ''")
    assert watched.t_star() == run.t_star
    watched.counts("#results .row.first", 6)
    guided = run.reconstructions["dga-guided"]
    watched.says("#card-dga-guided .first", guided.prediction.label)
    assert np.array_equal(watched.pixels("input"), subject.input)
    assert np.array_equal(watched.pixels("dga-guided"), guided.image)
    watched.says("#card-dda", "4 + 4 steps")
    sizes = page.evaluate(f"{IMAGES}.map((image) => [image.naturalWidth, image.alt.length > 5])")
    assert sizes == [[64, True]] * 6
    assert page.get_by_role("button", name="Cancel").is_disabled()
    page.locator(".tl-now").focus()
    page.keyboard.press("End")
    assert watched.head()[:2] == ("reverse", 0)


def test_tau_moves_t_star_without_a_request(watched, expected, served):
    page, profile, (_, run) = watched.page, served.session.profile, expected
    start = profile.stopping.tau
    slider = page.get_by_role("slider", name="Threshold tau")
    slider.focus()
    watched.settle()
    asked = len(watched.work())
    lower = round(start - 0.01, 2)
    presses = {"ArrowDown": lower, "PageUp": min(1.0, round(lower + 0.1, 2))}
    presses |= {"Home": 0.0, "End": 1.0, "ArrowUp": 1.0}
    for key, tau in presses.items():
        page.keyboard.press(key)
        assert float(slider.get_attribute("aria-valuenow")) == tau
        now = choose_depth(run.logits, replace(profile.stopping, tau=tau)).t_star
        assert watched.t_star() == now
        stale = page.locator("#card-dga.stale").count() == 1
        assert stale == (now != run.t_star)
        assert page.locator(".tl-again").is_visible() == stale
    assert asked == len(watched.work())


def test_cancel_keeps_what_is_there_and_frees_the_models(watched):
    page = watched.page
    watched.depth(100)
    watched.begin()
    page.wait_for_function("document.querySelector('.tl-words').textContent.startsWith('DDA')")
    page.get_by_role("button", name="Cancel").click()
    watched.wait("cancelled")
    watched.says(".tl-error", "Cancelled at DDA, reverse step")
    assert page.locator("#card-dga .row.first").count() == 1
    assert page.locator("#card-dda .row.first").count() == 0
    watched.depth(1)
    watched.run()


def test_a_visitor_who_leaves_frees_the_models(chromium, watched, served, monkeypatch):  # noqa: F811
    runs, steps = [], served.session._steps

    def counted(*arguments):
        runs.append(0)
        number = len(runs) - 1
        for step in steps(*arguments):
            runs[number] += 1
            yield step

    monkeypatch.setattr(served.session, "_steps", counted)
    guest = Watched(chromium, served)
    guest.one_path()
    guest.depth(100)
    guest.begin()
    guest.wait("reverse")
    guest.leave()
    made = runs[0]
    watched.depth(1)
    watched.run()
    assert len(runs) == 2
    assert runs[0] < made + 30  # of more than a hundred


def test_two_visitors_at_once(chromium, watched, served):  # noqa: F811
    other = Watched(chromium, served)
    pages = (watched, other)
    for visitor, seed in zip(pages, (21, 22), strict=True):
        visitor.page.locator("#seed input").fill(str(seed))
    other.one_path()
    watched.depth(60)
    other.depth(1)
    watched.begin()
    key = other.page.evaluate(f"{PLOT}.key")
    other.page.get_by_role("button", name="Adapt", exact=True).click()
    other.page.get_by_role("button", name="Waiting, 1st in line").wait_for()
    other.page.wait_for_function(f"{PLOT}.key !== '{key}'", timeout=120_000)
    for visitor in pages:
        visitor.wait("done")
        visitor.page.get_by_role("button", name="Adapt", exact=True).wait_for()
    shown = [visitor.pixels("x_t_star") for visitor in pages]
    assert not np.array_equal(*shown)
    assert pages[0].page.evaluate(f"{PLOT}.key") != pages[1].page.evaluate(f"{PLOT}.key")
    assert other.complaints == []
    other.page.close()


def test_a_bad_file_gives_a_sentence(watched, tmp_path):
    page = watched.page
    path = tmp_path / "thin.png"
    Image.new("RGB", (400, 3)).save(path)
    page.get_by_role("button", name="Remove Image").click()
    page.locator("#picture input[type=file]").set_input_files(path)
    page.wait_for_selector("#picture img")
    page.get_by_role("button", name="Adapt", exact=True).click()
    watched.wait("error")
    watched.says(".tl-error", "each side must have at least 16 pixels")
    watched.free()
