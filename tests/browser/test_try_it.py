"""Try it in a real browser: what a visitor sees and does."""

import base64
import io
import json
import re
import threading
import time

import numpy as np
import pytest
from PIL import Image

from app.pages.adapt.try_handlers import TryHandlers
from app.parts.examples import load_examples
from app.presets.cases import CASES
from app.presets.recording import RECORD
from dga.io.shipped import shipped
from dga.pipeline import adapt
from dga.request import Request
from tests.fixtures.browser import Watch

PLOT = "document.querySelector('.plot').dataset"
SHIFTS = """new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true }); window.shifted = 0;"""
ROW = ".shots figure:not([hidden])"
# Pairs of words and handles in the curve's right half whose boxes overlap.
OVERLAPS = """(selector) => {
  const boxes = [...document.querySelectorAll(selector)].filter((n) => n.checkVisibility())
    .map((n) => [n.textContent.trim() || n.getAttribute("class"), n.getBoundingClientRect()]);
  const above = (a, b) => a.bottom <= b.top + 3; // the room of letters that go down
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || above(a, b) || above(b, a);
  return boxes.flatMap(([name, a], i) => boxes.slice(i + 1)
    .filter(([, b]) => !apart(a, b)).map(([other]) => `${name} / ${other}`));
}"""
# Whether the curve's mark of DGA+ stands over a depth, all measured between two drawings.
MARKED_AT = """(depth) => {
  const boxOf = (node) => node.getBoundingClientRect();
  const middle = (node) => boxOf(node).x + boxOf(node).width / 2;
  const ticks = [...document.querySelectorAll(".plot text[text-anchor=middle]")];
  const [eight, sixteen] = ["8", "16"].map((k) => ticks.find((node) => node.textContent === k));
  const mark = document.querySelector(".plot .of-dga-plus svg");
  if (!eight || !sixteen || !mark) return false;
  const step = (middle(sixteen) - middle(eight)) / 8;
  return Math.abs(middle(mark) - (middle(eight) + (depth - 8) * step)) < 2;
}"""
SECONDS = r"\d s\b"
WORDS_OF_THE_CURVE = {"looks damaged", "can't tell", "looks undamaged"}


class Visit(Watch):
    """The page as somebody sees it who just came."""

    def __init__(self, chromium, served, width=1440, height=900, query="", **options):
        page = chromium.new_page(viewport={"width": width, "height": height}, **options)
        super().__init__(page, served.url)
        page.add_init_script(SHIFTS)
        page.add_init_script("sessionStorage.setItem('dga-opened', '1')")
        page.goto(served.url + query)
        page.wait_for_function(f"document.querySelector('.plot') && {PLOT}.phase !== undefined")
        page.wait_for_selector("#line b:not(:empty)", state="attached")

    def says(self, *words):
        text = self.page.inner_text(".say h1")
        return all(word in text for word in words) if words else text

    def painted(self, name):
        """A picture of the row as it is seen, uint8 ``[S, S, 3]``."""
        data = self.page.evaluate(
            "(n) => document.querySelector(`.shots [data-name='${n}'] canvas`).toDataURL()", name
        )
        image = Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2])))
        return np.asarray(image.convert("RGB"))

    def alike(self, name, other):
        return np.array_equal(self.painted(name), self.painted(other))

    def work(self):
        """Requests that have the server do something."""
        return [url for url in self.requests if "/queue/" in url or "/run/" in url]

    def connected(self):
        """Waits until the server knows the run: it stands in the page before that."""
        self.page.wait_for_function(f"{PLOT}.phase === 'done'")
        asked = -1
        while asked < len(self.work()) or not asked:
            asked = len(self.work())
            self.page.wait_for_timeout(1000)  # pictures are decoded

    def shown(self, source, phase="done"):
        wanted = f"{PLOT}.source === '{source}' && {PLOT}.phase === '{phase}'"
        self.page.wait_for_function(wanted, timeout=120_000)

    def repair(self):
        key = self.page.evaluate(f"{PLOT}.key")
        self.page.click("#adapt")
        self.page.wait_for_function(f"{PLOT}.key !== '{key}'", timeout=120_000)

    def slide(self, name, value):
        """A slider of the timeline by its keys."""
        slider = self.page.get_by_role("slider", name=name)
        slider.focus()
        step = 0.01 if name == "Threshold τ" else 1
        while distance := round((value - float(slider.get_attribute("aria-valuenow"))) / step):
            key = "ArrowUp" if distance > 0 else "ArrowDown"
            self.page.keyboard.press(key if abs(distance) < 5 else f"Shift+{key}")

    def noise(self):
        """Whether DGA+, which is looked at, says that noise went in."""
        return not self.page.text_content(".shots [data-name=noised] .none")

    def chances(self, on=True):
        """The chart of chances at every depth, which is folded at first."""
        if (self.page.get_attribute(".detail", "aria-pressed") == "true") != on:
            self.page.click(".detail")

    def t_star(self):
        return int(self.page.get_attribute(".plot", "data-t-star"))


@pytest.fixture(scope="module")
def never_slow():
    """However busy the machine is, a change repairs by itself."""
    patience = pytest.MonkeyPatch()
    patience.setattr("app.runs.beside.SLOW_SECONDS", 600)
    patience.setattr("app.runs.beside.PATIENCE", 60)
    yield
    patience.undo()


@pytest.fixture(scope="module")
def recorded(chromium, served, never_slow):
    """One page for all that looks at the recorded run that it opens with."""
    visit = Visit(chromium, served)
    if not visit.page.locator("#examples [data-name]").count():
        pytest.skip("no recorded runs for these weights")
    visit.connected()
    yield visit
    visit.leave()


@pytest.fixture(autouse=True)
def _no_test_begins_in_present(request):
    yield
    if "recorded" in request.fixturenames:
        page = request.getfixturevalue("recorded").page
        if page.locator(".is-presenting").count():
            page.keyboard.press("Escape")


def test_the_first_screen_holds_it_all(recorded):
    page = recorded.page
    page.evaluate("scrollTo(0, 0)")
    assert recorded.says() != ""
    assert "A recorded example" in page.inner_text(".second")
    assert not re.search(SECONDS, page.inner_text(".try"))  # of another machine
    boxes = page.locator(f"{ROW} .im").all()
    assert len(boxes) == 6
    for box in [*boxes, page.locator(".plot"), page.locator("#adapt")]:
        place = box.bounding_box()
        assert place["y"] >= 0
        assert place["y"] + place["height"] <= 900
    assert {box.bounding_box()["width"] for box in boxes} == {192}
    for name in ("clean", "damaged", "noised", "dga-guided", "dga-plus", "dda"):
        assert recorded.painted(name).std() > 5
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    assert page.evaluate("window.shifted") < 0.1


def test_tau_moves_pictures_and_sentence_without_a_request(recorded):
    page = recorded.page
    slider = page.get_by_role("slider", name="Threshold τ")
    slider.focus()
    before = recorded.says(), recorded.painted("noised"), recorded.painted("dga-guided")
    asked, t_star = len(recorded.work()), recorded.t_star()
    for _ in range(3):
        below = float(slider.get_attribute("aria-valuenow")) < 0.8
        page.keyboard.press("PageUp" if below else "ArrowUp")
    page.wait_for_timeout(100)
    assert recorded.t_star() < t_star
    assert recorded.says() != before[0]
    assert not np.array_equal(recorded.painted("noised"), before[1])
    assert not np.array_equal(recorded.painted("dga-guided"), before[2])
    page.wait_for_timeout(400)
    assert f"tau={slider.get_attribute('aria-valuenow')}" in page.url
    assert len(recorded.work()) == asked
    spent = page.evaluate("""() => {
      const tau = document.querySelector(".plot .tau"), since = performance.now();
      for (let i = 0; i < 20; i++) {
        const key = i % 2 ? "ArrowUp" : "ArrowDown";
        tau.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      }
      return (performance.now() - since) / 20;
    }""")
    assert spent < 50


def test_the_fixed_depth_is_a_handle(recorded):
    page = recorded.page
    slider = page.get_by_role("slider", name="Fixed depth")
    picture, words = recorded.painted("dda"), page.inner_text(".shots [data-name=dda]")
    asked = len(recorded.work())
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 450, box["y"] + 10, steps=4)
    page.mouse.up()
    assert int(slider.get_attribute("aria-valuenow")) < 12
    assert not np.array_equal(recorded.painted("dda"), picture)
    assert page.inner_text(".shots [data-name=dda]") != words
    assert len(recorded.work()) == asked


def test_the_same_picture_is_said(recorded):
    page = recorded.page
    slider = page.get_by_role("slider", name="Fixed depth")
    slider.focus()
    while (distance := int(slider.get_attribute("aria-valuenow")) - recorded.t_star()) != 0:
        page.keyboard.press("ArrowLeft" if distance > 0 else "ArrowRight")
    told = ".shots [data-name=dda] figcaption i"
    assert page.inner_text(told) == "same"
    page.keyboard.press("Escape")
    recorded.slide("Fixed depth", recorded.t_star() + 1)
    assert not page.inner_text(told)


def test_guidance_is_a_switch_of_the_frame(recorded):
    page, own = recorded.page, f"{ROW}:has(.guide)"
    recorded.chances()
    guided = recorded.painted("dga-guided")
    page.click(f"{own} .guide")
    assert page.get_attribute(own, "data-name") == page.get_attribute(".pic.chosen", "data-name")
    assert page.inner_text(f"{own} .guide") == "unguided"
    legend = page.locator(".plot text:text-matches('guided', 'i')")
    assert set(legend.all_text_contents()) == {"Guided", "Unguided"}
    assert recorded.says("rebuilt without guidance")
    assert not np.array_equal(recorded.painted("dga"), guided)
    assert page.evaluate("document.activeElement.className") == "guide"
    page.keyboard.press("g")
    assert page.inner_text(f"{own} .guide") == "guided"
    assert np.array_equal(recorded.painted("dga-guided"), guided)
    recorded.chances(False)


def test_words_beside_the_curve_are_never_covered(chromium, served):
    visit = Visit(chromium, served)
    page = visit.page
    page.wait_for_function(f"{PLOT}.phase === 'done'")
    words = ".plot text, .plot .tau, .plot .stop, .plot .beside, .detail, .share"
    for chances in (False, True):
        visit.chances(chances)
        for tau in (0.98, 0.92, 0.85, 0.5, 0.04):
            visit.slide("Threshold τ", tau)
            assert set(page.locator(".plot text").all_text_contents()) >= WORDS_OF_THE_CURVE
            assert page.evaluate(OVERLAPS, words) == []
        for depth in (6, 32):
            visit.slide("Fixed depth", depth)
            assert page.evaluate(OVERLAPS, f"{words}, .plot .fixed") == []
    visit.leave()


@pytest.mark.parametrize("width", [390, 768])
def test_words_of_the_curve_on_small_screens(chromium, served, width):
    visit = Visit(chromium, served, width, 2400)
    page = visit.page
    for number in (0, 3):  # of the second the line is dashed and stands where words would
        page.locator("#examples [data-name]").nth(number).click()
        page.wait_for_timeout(1500)
        assert set(page.locator(".plot text").all_text_contents()) >= WORDS_OF_THE_CURVE
        axis = ", ".join(f'.plot text:text-is("{words}")' for words in WORDS_OF_THE_CURVE)
        line = page.locator(".plot .stopped").first.bounding_box()["x"]
        for box in (one.bounding_box() for one in page.locator(axis).all()):
            assert not box["x"] < line < box["x"] + box["width"]
    visit.leave()


def _until(page, shown, seconds=15):
    """Wait for what a script has yet to draw."""
    for _ in range(10 * seconds):
        if shown():
            return
        page.wait_for_timeout(100)
    raise AssertionError("It was never drawn.")


def test_by_hand_nothing_is_called_the_detectors(recorded):
    page, own = recorded.page, recorded.t_star()
    page.click(".shots [data-name=dga-guided] button.choose")
    recorded.chances()
    marks = page.locator(".plot .of-dga-plus svg")  # the legend's comes first
    was = marks.last.get_attribute("x")
    line = page.get_attribute(".plot .curve", "d")
    recorded.slide("Depth from which", own + 8)
    assert recorded.says(f"Noised to depth {own + 8} by hand")
    assert "τ" not in recorded.says()
    assert marks.last.get_attribute("x") != was
    assert page.get_attribute(".plot .curve", "d") == line  # solid to where the detector stopped
    page.click(".plot .back")
    assert page.locator(".plot .back").is_hidden()
    assert marks.last.get_attribute("x") == was
    recorded.chances(False)


def test_the_chosen_method_stands_after_the_noise_and_keeps_the_focus(recorded):
    page, names = recorded.page, [".shots figure:not([hidden])", "(n) => n.dataset.name"]
    for name in ("dda", "dga-plus", "dga-guided"):
        page.click(f".shots [data-name={name}] button.choose")
        order = page.eval_on_selector_all(names[0], f"(all) => all.map({names[1]})")
        assert order[:4] == ["clean", "damaged", "noised", name]
        focused = page.evaluate("document.activeElement.closest('figure')?.dataset.name")
        assert focused == name


def test_depths_that_are_right_are_those_that_are_read_right(recorded):
    """The band under the film against what every depth's own picture is said to show."""
    page = recorded.page
    marked = page.eval_on_selector_all(
        ".plot .good", "(all) => all.map((n) => [n.x.baseVal.value, n.width.baseVal.value])"
    )
    ticks = page.locator(".plot text[text-anchor=middle]").all()
    at = {int(tick.text_content()): float(tick.get_attribute("x")) for tick in ticks}
    pitch = (at[32] - at[0]) / 32
    assert marked
    for depth in (2, 8, 12, 20, 26):
        recorded.slide("Depth from which", depth)
        x = at[0] + depth * pitch
        seen = page.locator(".shots [data-name=dga-guided] .sign.right").count() == 1
        assert seen == any(left < x < left + width for left, width in marked)
    page.keyboard.press("Escape")


def load_draws():
    record = shipped("assets/presets") / "everyday16" / CASES[0].name / RECORD
    return json.loads(record.read_text())["draws"]


def test_an_example_is_as_it_was_recorded(recorded):
    page = recorded.page
    page.click("#examples [data-name]")
    page.wait_for_function("document.querySelector('.second').textContent.includes('example')")
    said = recorded.says()
    told, draws = page.inner_text(".second"), load_draws()
    assert "A recorded example, looked for: the fixed depth is wrong." in told
    assert f"Of {draws['of']} tries" in told
    assert f"own depth {draws['dga-guided']}, with diagnosis {draws['dga-plus']}" in told
    recorded.slide("Threshold τ", 1)
    assert recorded.says() != said
    assert "recorded example" not in page.inner_text(".second")
    page.click("#examples [aria-pressed=true]")
    page.wait_for_function(f"document.querySelector('.say h1').innerText === {json.dumps(said)}")


def test_left_as_it_is_shows_the_same_bytes(recorded):
    recorded.slide("Depth from which", 0)
    for name in ("noised", "dga-guided"):
        assert recorded.alike(name, "damaged")
    recorded.page.keyboard.press("Escape")


def test_a_click_enlarges_and_holding_shows_the_damaged_one(recorded):
    page = recorded.page
    box = page.locator(".shots [data-name=dda] .im").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.wait_for_timeout(400)
    assert recorded.alike("dda", "damaged")
    page.mouse.up()
    assert not recorded.alike("dda", "damaged")
    assert not page.locator(".zoom").is_visible()
    page.evaluate("document.activeElement.blur()")
    own = recorded.t_star()
    page.keyboard.press("ArrowRight")
    page.click(".shots [data-name=dda] .im")
    assert page.locator(".zoom canvas").bounding_box()["width"] >= 400
    page.keyboard.press("Escape")
    page.wait_for_selector(".zoom", state="hidden")
    assert recorded.t_star() == own + 1  # by hand, still
    page.keyboard.press("Escape")
    assert recorded.t_star() == own


def test_play_takes_all_methods_along(recorded):
    page = recorded.page
    finished = recorded.painted("dda")
    page.click(".try .play")
    since = time.monotonic()
    page.wait_for_timeout(800)
    assert not np.array_equal(recorded.painted("dda"), finished)
    assert not recorded.alike("noised", "damaged")
    page.wait_for_function("!document.querySelector('.play').classList.contains('on')")
    assert 5 <= time.monotonic() - since <= 9
    assert np.array_equal(recorded.painted("dda"), finished)


def test_present_is_for_the_last_row(recorded):
    page = recorded.page
    page.click(".shots [data-name=dga-guided] button.choose")
    page.keyboard.press("f")
    page.wait_for_function("document.querySelector('#try.presenting')")
    page.wait_for_timeout(400)
    boxes = [box.bounding_box() for box in page.locator(f"{ROW} .im").all()]
    assert len(boxes) == 6
    assert all(box["x"] + box["width"] <= 1440 and box["y"] + box["height"] < 900 for box in boxes)
    damage = page.inner_text(".shots [data-name=damaged] figcaption")
    assert damage in page.inner_text("#line p").replace(", severity", "")
    sizes = page.evaluate("""[...document.querySelectorAll(".try *")]
      .filter((n) => n.checkVisibility() && !n.closest(".hints, .spoken, dialog")
        && [...n.childNodes].some((c) => c.nodeType === 3 && c.data.trim()))
      .map((n) => parseFloat(getComputedStyle(n).fontSize))""")
    assert min(sizes) >= 22
    depth = page.get_attribute(".plot", "data-t-star")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute(".plot", "data-t-star") == str(int(depth) + 1)
    assert recorded.says("by hand")
    assert "%" not in recorded.says()
    page.keyboard.press("c")
    assert set(page.locator(f"{ROW} .label b").all_inner_texts()) == {"?"}
    page.keyboard.press("Escape")
    page.wait_for_function("!document.querySelector('#try.presenting')")
    assert "?" not in page.locator(f"{ROW} .label b").all_inner_texts()
    page.keyboard.press("Escape")


def test_present_shows_the_depth_of_what_is_looked_at(recorded):
    page = recorded.page
    page.click("#examples [data-name]")
    page.click(".shots [data-name=dga-plus] button.choose")
    page.keyboard.press("f")
    noised = ".shots [data-name=noised] figcaption b"
    Watch.says(recorded, noised, "Enters at depth 9")
    page.wait_for_function(MARKED_AT, arg=9)
    page.keyboard.press("m")
    assert page.locator(".plot .own").count() == 0
    page.keyboard.press("Escape")
    page.click(".shots [data-name=dga-guided] button.choose")


def test_present_says_that_a_run_never_crossed(recorded):
    page = recorded.page
    page.click(".shots [data-name=dga-guided] button.choose")
    page.keyboard.press("f")
    first, seen = page.get_attribute("#examples [data-name]", "data-name"), {}
    for _ in range(page.locator("#examples [data-name]").count()):
        seen[page.inner_text(".say h1")] = page.inner_text(".plot .stop")
        was = page.evaluate(f"{PLOT}.key")
        page.keyboard.press("n")
        page.wait_for_function(f"{PLOT}.key !== '{was}'")
    assert page.evaluate(f"{PLOT}.key") == first  # round, past the last one
    for says, pill in seen.items():
        assert ("as far as allowed" in says) == ("deepest allowed" in pill)
    page.keyboard.press("Escape")


def test_in_every_state_of_present_the_frames_are_filled(recorded):
    """By severity and by method, in what order ever; DGA+ without noise shows none."""
    page = recorded.page
    page.keyboard.press("f")
    for key in ("5", "m", "m", "2", "m"):
        was = page.evaluate(f"{PLOT}.key")
        page.keyboard.press(key)
        if key.isdigit():
            page.wait_for_function(f"{PLOT}.key !== '{was}'")
            page.wait_for_function(f"{PLOT}.phase === 'done'", timeout=120_000)
        page.wait_for_timeout(300)
        names = [f.get_attribute("data-name") for f in page.locator(ROW).all()]
        chosen = page.get_attribute(f"{ROW}.chosen", "data-name")
        assert chosen in names
        without = {"noised"} if chosen == "dga-plus" and not recorded.noise() else set()
        assert {name for name in names if recorded.painted(name).std() <= 2} == without
        assert len(names) == 6
        assert not page.locator(f"{ROW} .own:visible").count()
        assert page.evaluate(OVERLAPS, f"{ROW} figcaption > *:not(:empty)") == []
        whole = "labels => labels.every((label) => label.scrollWidth <= label.clientWidth)"
        assert page.eval_on_selector_all(f"{ROW} .label b", whole)
    page.keyboard.press("Escape")


def test_play_says_what_is_seen(recorded):
    page = recorded.page
    said = page.inner_text(".say h1")
    page.click(".play")
    page.wait_for_function(
        "document.querySelector('.say h1').textContent.startsWith('Noise goes in,')"
    )
    page.keyboard.press("Escape")
    page.wait_for_function(f"document.querySelector('.say h1').innerText === {json.dumps(said)}")


def test_noise_that_dga_plus_has_not_used_is_never_shown_before_it(recorded):
    """Neither at a depth by hand, before which it undoes the damage, nor while Play goes on."""
    page, noised = recorded.page, ".shots [data-name=noised]"
    page.click("#examples [data-name=lake-contrast]")
    page.wait_for_function(f"{PLOT}.key === 'lake-contrast'")
    page.click(".shots [data-name=dga-plus] button.choose")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    assert recorded.says("Diagnosed and rebuilt from depth")
    assert "another picture is noised" in page.inner_text(noised)
    assert not recorded.painted("noised").any()
    page.keyboard.press("f")
    page.wait_for_selector("#try.presenting")
    assert not recorded.painted("noised").any()
    page.keyboard.press("Escape")
    page.click("#examples [data-name]")
    page.click(".shots [data-name=dga-guided] button.choose")


def test_what_is_written_in_present_fits(recorded):
    """Titles over pictures and shares under them, on small projectors and large ones."""
    page = recorded.page
    page.click("#examples [data-name=lake-contrast]")
    page.wait_for_function(f"{PLOT}.key === 'lake-contrast'")
    page.keyboard.press("f")
    page.wait_for_function("document.querySelector('#try.presenting')")
    lines = "labels => labels.map((label) => Math.round(label.clientHeight / 36))"
    for width in (1440, 1024, 800, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        assert page.evaluate(OVERLAPS, f"{ROW} figcaption > *:not(:empty)") == []
        if width == 1440:
            assert set(page.eval_on_selector_all(f"{ROW} .label", lines)) == {1}
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function("!document.querySelector('#try.presenting')")
    page.keyboard.press("f")
    assert not page.locator("#try.presenting").count()  # no room, and no button for it
    page.set_viewport_size({"width": 1440, "height": 900})
    page.click("#examples [data-name]")


def test_the_same_example_again_is_no_old_result(recorded):
    page = recorded.page
    first = page.locator("#examples [data-name]").first
    first.click()
    page.wait_for_timeout(500)
    was, damage = page.evaluate(f"{PLOT}.key"), page.inner_text("#line p")
    page.locator("#severity label:not(.selected)").last.click()
    page.wait_for_function(f"{PLOT}.key !== '{was}'")
    first.click()
    page.wait_for_function(f"{PLOT}.key === '{was}'")
    assert page.inner_text("#line p") == damage
    page.wait_for_timeout(1000)
    assert page.evaluate(f"{PLOT}.key") == was
    assert page.locator(".old").count() == 0


def test_few_tabs_and_names(recorded):
    page = recorded.page
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.reload()
    page.wait_for_selector("#line b:not(:empty)")
    page.wait_for_function(f"{PLOT}.phase === 'done'")
    page.wait_for_selector("#examples [tabindex='0'], #line button[tabindex='0']")
    here, seen = "document.activeElement", {}
    for count in range(1, 9):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            f"[{here}.id || {here}.classList[0] || {here}.textContent, {here}.tabIndex]"
        )
        assert stop[1] == 0
        seen[stop[0]] = count
    assert seen["skip"] == 1
    assert max(seen[name] for name in ("adapt", "choose", "tau", "stop")) <= 8, seen
    assert page.evaluate(f"{here}.getAttribute('role')") == "slider"
    names = [
        button.get_attribute("aria-label") for button in page.locator("#examples button").all()
    ]
    assert not any("-" in name or "_" in name for name in names if name)
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    assert page.locator(".pic.chosen").count() == 1


def test_arrows_reach_what_has_no_tab_stop_of_its_own(recorded):
    page = recorded.page
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    for group, members in {
        "#head": "#head .bar-inner :is(a, summary)",
        "#bar": "#line button, #examples button",
        ".try": ".shots figure:not([hidden]) :is(button.choose, .guide, .im)",
    }.items():
        all_ = page.locator(members)
        assert all_.and_(page.locator("[tabindex='0']")).count() == 1
        all_.and_(page.locator("[tabindex='0']")).focus()
        page.keyboard.press("Home")
        for index in range(all_.count()):
            where = f"[...document.querySelectorAll('{members}')].indexOf(document.activeElement)"
            assert page.evaluate(where) == index, group
            page.keyboard.press("ArrowRight")
        assert page.evaluate(where) == 0
        page.keyboard.press("End")
        assert page.evaluate(where) == all_.count() - 1
    page.locator(".shots [data-name=dda] button.choose").focus()
    page.keyboard.press("Enter")
    assert page.get_attribute(".pic.chosen", "data-name") == "dda"
    page.click(".shots [data-name=dga-guided] button.choose")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    assert page.locator(".pic.chosen").count() == 1


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (390, False)])
def test_axe_finds_nothing_serious(chromium, served, width, dark):
    visit = Visit(chromium, served, width)
    visit.audit(dark)
    visit.leave()


@pytest.mark.parametrize("width", [390, 768])
def test_nothing_overflows(chromium, served, width):
    visit = Visit(chromium, served, width, 844)
    page = visit.page
    page.wait_for_timeout(1000)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sentence = page.locator(".say h1").bounding_box()
    pictures = [box.bounding_box() for box in page.locator(f"{ROW} .im").all()]
    seen = [box for box in pictures if box["x"] >= 0 and box["x"] + box["width"] <= width]
    assert sentence["y"] + sentence["height"] < seen[0]["y"] + seen[0]["height"] <= 844
    if width == 390:
        small = page.evaluate("""[...document.querySelectorAll("#bar button, .tools button")]
          .filter((n) => n.checkVisibility() && n.getBoundingClientRect().height < 44).length""")
        assert small == 0
    visit.leave()


@pytest.fixture(scope="module")
def working(chromium, served, never_slow):
    """One page for all that makes runs."""
    visit = Visit(
        chromium, served, query="?image=cat&corruption=impulse_noise&severity=2&seed=11&paths=1"
    )
    visit.shown("run")
    yield visit
    visit.leave()


@pytest.mark.parametrize("method", ["dga-plus", "dga-guided"])
def test_a_change_repairs_by_itself_and_keeps_the_protagonist(working, method):
    page = working.page
    page.click(f".shots [data-name={method}] button.choose")
    key, damaged = page.evaluate(f"{PLOT}.key"), working.painted("damaged")
    page.locator("#severity label:not(.selected)").last.click()
    page.wait_for_selector(".pic.old")
    assert page.locator("#line .old").count() == 2  # the damaged picture has yet to come
    assert page.locator(f"{ROW}.old").count() == page.locator(ROW).count()
    page.wait_for_function(f"{PLOT}.key !== '{key}'")
    assert page.locator(".old").count() == 0
    working.shown("run")
    page.wait_for_timeout(300)
    assert not np.array_equal(working.painted("damaged"), damaged)
    assert page.get_attribute(".pic.chosen", "data-name") == method
    for name in ("dga-guided", "dga-plus", "dda"):
        assert working.painted(name).std() > 5
    assert page.locator(f"{ROW} .own:visible").count() == 0


def test_where_others_wait_a_frame_holds_its_own_button(working, served):
    page, key = working.page, working.page.evaluate(f"{PLOT}.key")
    others = pytest.MonkeyPatch()
    others.setattr("app.server.queue_position.QueuePositions.busy", lambda line: True)
    others.setattr("app.runs.beside.PATIENCE", 0.1)
    page.locator("#severity label:not(.selected)").first.click()
    page.wait_for_function(f"{PLOT}.key !== '{key}'")
    page.wait_for_selector(".own:visible")
    others.undo()
    assert "Others are being served" in page.inner_text(".try .neutral")
    assert page.locator(".own:visible").all_inner_texts() == [
        "Repair from its own depth", "Repair with a diagnosis", "Repair from the fixed depth"
    ]  # fmt: skip
    page.keyboard.press("f")
    page.wait_for_selector("#try.presenting .neutral:not(:empty)")
    assert "Repair it" not in page.inner_text("#try")  # which is not there
    page.keyboard.press("Escape")
    page.click("[data-name=dga-plus] .own")
    working.shown("run")
    assert page.get_attribute(".pic.chosen", "data-name") == "dga-guided"
    assert page.locator(f"{ROW} .own:visible").count() == 0


def test_what_comes_out_at_a_moved_depth_is_computed_by_itself(working, served):
    page = working.page
    read = ".shots [data-name=dda] .label b:not(:empty)"
    working.slide("Fixed depth", 12)
    page.wait_for_selector(read)
    assert page.inner_text(".shots [data-name=dda] figcaption b") == "Fixed depth 12"
    assert page.evaluate("location.search").count("dda=12")
    working.slide("Depth from which", 3)
    page.wait_for_selector(".shots [data-name=dga-guided] .label b:not(:empty)")
    assert page.inner_text(".shots [data-name=dga-guided] figcaption b") == "Your depth"
    assert not page.locator(f"{ROW} .own:visible").count()
    page.keyboard.press("Escape")
    working.slide("Fixed depth", served.session.profile.dda_depth)


def test_a_link_is_the_state(working, chromium, served):
    page = working.page
    page.click(".shots [data-name=dga-plus] button.choose")
    working.slide("Depth from which", 3)
    working.slide("Fixed depth", 20)
    page.wait_for_timeout(500)
    said, query = working.says(), page.evaluate("location.search")
    visit = Visit(chromium, served, query=query)
    visit.shown("run")
    visit.page.wait_for_timeout(500)
    assert visit.says() == said
    assert visit.page.get_attribute(".pic.chosen", "data-name") == "dga-plus"
    assert visit.page.get_attribute(".plot .fixed", "aria-valuenow") == "20"
    assert np.array_equal(visit.painted("dga-plus"), working.painted("dga-plus"))
    visit.leave()
    page.keyboard.press("Escape")
    working.slide("Fixed depth", served.session.profile.dda_depth)
    page.click(".shots [data-name=dga-guided] button.choose")


def test_repair_it_shows_what_the_library_computes(working, served):
    page = working.page
    page.locator("#severity label").nth(1).click()
    page.wait_for_function("document.querySelector('#line p').textContent.includes('severity 2')")
    working.shown("run")
    page.evaluate("""() => {
      const title = document.querySelector(".shots [data-name=noised] figcaption b");
      window.titles = new Set();
      new MutationObserver(() => window.titles.add(title.textContent))
        .observe(title, { childList: true, characterData: true, subtree: true });
    }""")
    assert page.evaluate("getComputedStyle(document.querySelector('#adapt')).transition") == "none"
    working.repair()
    working.shown("run")
    page.wait_for_timeout(500)
    assert re.search(SECONDS, page.inner_text(".second"))
    titles = page.evaluate("[...window.titles]")
    assert "Noised to depth 0" not in titles
    cat = next(example for example in load_examples() if example.name == "cat")
    tau = served.session.profile.stopping.tau
    depth = served.session.profile.dda_depth
    subject = served.session.subject(cat.path, Request("impulse_noise", 2, tau, 11, depth))
    run = adapt(served.session.models, subject.input, seed=11)
    assert working.t_star() == run.t_star
    assert np.array_equal(working.painted("damaged"), subject.input)
    for name in ("dga-guided", "dga-plus", "dda"):
        assert np.array_equal(working.painted(name), run.reconstructions[name].image)
        label = run.reconstructions[name].prediction.label
        assert page.inner_text(f".shots [data-name={name}] .label b") == label


def test_an_own_picture_is_what_its_owner_says(working, tmp_path):
    page, own = working.page, tmp_path / "own.png"
    cat = next(example for example in load_examples() if example.name == "cat")
    Image.open(cat.path).rotate(90).save(own)
    page.click("#line [aria-controls=sheet]")
    page.set_input_files("#picture input[type=file]", own)
    page.wait_for_function("document.querySelector('#line b').textContent === 'Your picture'")
    working.shown("run")
    page.click("#sheet .close")
    signs = f"{ROW} .sign"
    assert page.locator(signs).count() == 0
    page.select_option(".kind select", "bus")
    page.wait_for_selector(".sign.wrong")
    labels = page.locator(f"{ROW} .label b").all_inner_texts()
    assert page.locator(signs).count() == len([label for label in labels if label])
    assert page.locator(f"{signs}.right").count() == labels.count("bus")
    page.click("#line [aria-controls=sheet]")
    page.click("#corruption input[value=fog]")  # it stays what it is
    page.wait_for_function("document.querySelector('#line p').textContent.includes('Fog')")
    working.shown("run")
    assert page.input_value(".kind select") == "bus"
    assert page.locator(signs).count()
    page.click("#sheet .close")
    page.select_option(".kind select", "")
    page.wait_for_function(f"!document.querySelector('{signs}')")


def test_own_damage_is_one_of_the_corruptions(working):
    page = working.page
    page.click("#line [aria-controls=sheet]")
    page.wait_for_function("document.activeElement.className === 'close'")
    cut = "labels => labels.filter((n) => n.scrollWidth > n.clientWidth).map((n) => n.innerText)"
    for width in (900, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.eval_on_selector_all("#corruption label", cut) == []
    before = page.get_attribute("#corruption input:checked", "value")
    came = "document.querySelector('#line p span').textContent.includes('as it came')"
    page.locator("#corruption input").last.click()
    page.wait_for_function(came)
    assert page.get_attribute("#corruption input:checked", "value") == "none"
    assert not page.is_visible("#severity")  # of nothing
    Watch.says(working, ".shots [data-name=damaged] figcaption", "As it came")
    page.click(f"#corruption input[value={before}]")
    page.wait_for_function(f"!{came}")
    assert page.is_visible("#severity")
    page.keyboard.press("Escape")


def test_cancel_keeps_what_is_there_and_is_no_error(working):
    page = working.page
    working.shown("run")
    was = page.evaluate(f"{PLOT}.key")
    page.locator("#severity label").nth(4).click()
    page.wait_for_function(f"{PLOT}.key !== '{was}'")
    page.wait_for_selector("#cancel:not([disabled])")
    page.click("#cancel")
    page.wait_for_function(f"{PLOT}.phase === 'cancelled'")
    assert page.inner_text(".try .error") == ""
    assert page.inner_text(".try .neutral") != ""
    assert working.painted("damaged").std() > 5
    page.wait_for_selector("#adapt:not([disabled])")


def test_escape_leaves_the_line(working):
    page, going_on = working.page, threading.Event()
    key, began = page.evaluate(f"{PLOT}.key"), TryHandlers.begin
    with pytest.MonkeyPatch.context() as slow:
        entered = threading.Event()

        def begin(*asked):
            entered.set()
            going_on.wait(60)
            return began(*asked)

        slow.setattr(TryHandlers, "begin", begin)
        page.click("#adapt")
        try:
            page.wait_for_selector("#bar.running #cancel:not([disabled])")
            _until(page, entered.is_set)
            page.keyboard.press("Escape")
            page.wait_for_selector("#adapt:not([disabled])")
        finally:
            going_on.set()
    page.wait_for_timeout(1000)
    assert page.evaluate(f"{PLOT}.key") == key
    assert not page.locator("#bar.running").count()


def test_a_refused_upload_says_so_beside_it(working, tmp_path):
    page = working.page
    path = tmp_path / "words.png"
    path.write_text("no picture")
    page.click("#line button")
    page.locator("#picture input[type=file]").set_input_files(path)
    page.wait_for_selector("#upload-note [role=alert]", timeout=20_000)
    assert page.locator("#picture img").count() == 1  # the last good one
    good = tmp_path / "good.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)).save(good)
    page.locator("#picture input[type=file]").set_input_files(good)
    page.wait_for_function("!document.querySelector('#upload-note [role=alert]')")
    page.keyboard.press("Escape")
    page.wait_for_function("document.querySelector('#line b').textContent === 'Your picture'")
    # The new picture's run: it has no true kind, so no tick and no cross.
    page.wait_for_selector(f"{ROW} .sign", state="detached")
    working.shown("run")
    assert "pixels as one of 16 kinds" in page.inner_text(".second")


def test_coming_back_brings_the_own_picture_and_its_whole_run(working):
    page = working.page
    working.repair()
    working.shown("run")
    page.locator(".plot .tau").focus()
    page.keyboard.press("PageUp")
    page.wait_for_timeout(500)  # the address follows once the hand rests
    tau = page.get_attribute(".plot .tau", "aria-valuenow")
    key, pictures = page.evaluate(f"{PLOT}.key"), [working.painted(name) for name in ("dga", "dda")]
    there = f"window.dga && {PLOT}.key === '{key}'"
    page.click("nav[aria-label=Pages] [href='./learn']")
    page.wait_for_url("**/learn*")
    page.go_back()
    page.wait_for_function(there)
    page.click("nav[aria-label=Pages] [href='./board']")
    page.wait_for_url("**/board*")
    page.click("nav[aria-label=Pages] [href='./']")
    page.wait_for_function(there)
    page.wait_for_timeout(500)
    assert page.inner_text("#line b") == "Your picture"
    assert page.locator("#picture img").count() == 1
    assert page.get_attribute(".plot .tau", "aria-valuenow") == tau
    for name, before in zip(("dga", "dda"), pictures, strict=True):
        assert np.array_equal(working.painted(name), before)
    assert page.inner_text("#notice").strip() == ""


def test_a_link_that_is_not_understood_opens_the_opening_picture(chromium, served):
    visit = Visit(chromium, served, query="?image=zzz&corruption=gaussian_nose&dda=999")
    page = visit.page
    page.wait_for_selector("#notice p")
    assert page.locator("#notice p").count() == 3
    assert "fixed depth “999”" in page.inner_text("#notice")
    assert "own picture" not in page.inner_text("#notice")
    assert page.get_attribute("#examples [data-name]", "aria-pressed") == "true"
    assert visit.painted("dga-guided").std() > 5
    visit.leave()


def test_a_depth_alone_is_a_link_to_it_and_one_too_deep_is_named(chromium, served):
    for depth, said in ((7, ""), (50, "depth “50” was not understood")):
        visit = Visit(chromium, served, query=f"?depth={depth}")
        visit.page.wait_for_function(f"{PLOT}.phase === 'done'")
        if said:
            Watch.says(visit, "#notice", said)
        assert ("understood" in visit.page.inner_text("#notice")) == bool(said)
        Watch.says(visit, ".say h1", "by hand" if not said else "Noised to depth")
        visit.leave()


def test_what_is_pasted_takes_the_picture_s_place(working):
    page = working.page
    picture = "document.querySelector('#picture img')?.src"
    page.click("#line button")
    before = page.evaluate(picture)
    assert before
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('words')")
    page.keyboard.press("Control+v")
    page.wait_for_timeout(500)
    assert page.evaluate(picture) == before
    page.evaluate("""async () => {
      const canvas = new OffscreenCanvas(80, 80);
      canvas.getContext("2d").fillRect(0, 0, 40, 40);
      const drawn = { "image/png": await canvas.convertToBlob() };
      await navigator.clipboard.write([new ClipboardItem(drawn)]);
    }""")
    page.keyboard.press("Control+v")
    page.wait_for_function(f"{picture} !== {before!r} && {picture}?.includes('file=')")
    page.keyboard.press("Escape")


def test_the_opening_tells_the_first_run_once_and_gives_way(chromium, served):
    """Wrong, noise, stop, right, too deep: each as that run was; any key ends it."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    watch = Watch(page, served.url)
    page.goto(served.url)
    seen, label = [], ".shots [data-name={}] .label"
    watch.says(".say h1", "wrong.")
    for words in ("Noise goes in", "Stop", "Noise goes out", "right.", "too deep"):
        watch.says(".say h1", words)
        seen.append({n for n in ("dga-guided", "dda") if page.inner_text(label.format(n)).strip()})
    assert seen == [set(), set(), set(), {"dga-guided"}, {"dga-guided", "dda"}]
    wrong = page.locator(".shots [data-name=dda] .sign.wrong")
    assert wrong.count() == page.locator(".shots [data-name=dga-guided] .sign.right").count() == 1
    watch.says(".second", "Drag")
    assert page.locator(".fixed.glow").count() == 1
    assert page.locator(".second").bounding_box()["height"] < 30  # nothing below it is moved
    page.get_by_role("slider", name="Fixed depth").press("ArrowLeft")
    assert page.locator(".fixed.glow").count() == 0
    assert "Drag" not in page.inner_text(".second")
    page.goto(served.url)  # a second visit
    watch.says(".say h1", "It was read as")
    page.evaluate("sessionStorage.clear()")
    page.goto(served.url)
    watch.says(".say h1", "The classifier reads it as")
    page.keyboard.press("Shift")
    watch.says(".say h1", "It was read as")
    watch.leave()
    context.close()
