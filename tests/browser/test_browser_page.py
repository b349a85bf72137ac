"""Page Adapt around its timeline, in a real browser: input, link, comparison, files."""

import base64
import io
import json
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.parts.examples import load_examples
from app.words.adapt import DOWNLOADS
from dga.corruptions import CORRUPTIONS
from dga.request import Request
from tests.fixtures.browser import Watch, chromium  # noqa: F401  # fixtures

ALLOWED = ["clipboard-read", "clipboard-write", "camera"]
LINK = "?image=coffee&corruption=impulse_noise&severity=2&tau=0.61&seed=11"
EXTRA = "&dda=2&paths=2&scale=2.50&max_depth=9"
SETTINGS = Request("impulse_noise", 2, 0.61, 11, 2, 2, 2.5, 9, "threshold")
READY = "!document.querySelector('.files button').disabled"
RESTED = "!document.querySelector('#adapt').disabled && " + READY
IMAGE = "document.querySelector('#picture img')?.src ?? ''"
SUMMARY = "[...document.querySelectorAll('.summary b, .summary p span')].map((n) => n.textContent)"


@pytest.fixture(scope="module")
def browsing(chromium):  # noqa: F811
    browsing = chromium.new_context(viewport={"width": 1440, "height": 900})
    browsing.grant_permissions(ALLOWED)
    browsing.set_default_timeout(60_000)
    yield browsing
    browsing.close()


class Visit(Watch):
    """Page Adapt as a link opens it."""

    def __init__(self, browsing, home, query=""):
        super().__init__(browsing.new_page(), home)
        self.page.goto(home + query)
        self.page.wait_for_selector("#corruption label")
        if not query and self.page.locator("#presets button").count():
            self.page.wait_for_function("location.search !== ''")  # the recorded run is there

    def done(self):
        self.page.wait_for_function("document.querySelectorAll('#results .row.first').length === 5")
        self.page.wait_for_function(RESTED)

    def shown(self, selector):
        source = self.page.get_attribute(selector, "src")
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(source.partition("base64,")[2]))))


@pytest.fixture
def visit(browsing, served):
    visit = Visit(browsing, served.url)
    yield visit
    visit.leave()


@pytest.fixture(scope="module")
def opened(browsing, served):
    """A page opened through a link that starts a run, when the run has finished."""
    visit = Visit(browsing, served.url, LINK + EXTRA + "&rule=coin")
    visit.page.wait_for_function("document.querySelector('.notice').textContent !== ''")
    visit.page.wait_for_function("document.querySelector('#adapt').disabled")
    visit.done()
    visit.page.wait_for_function(f"location.search === '{LINK + EXTRA}'")
    yield visit
    visit.leave()


@pytest.fixture
def result(opened):
    """That page, as wide as at first and in the light."""
    opened.page.set_viewport_size({"width": 1440, "height": 900})
    opened.page.evaluate("document.body.classList.remove('dark')")
    return opened


def controls(page):
    return page.evaluate(
        """() => {
          const value = (selector) => document.querySelector(selector).value;
          const number = (id) => Number(value(`#${id} input[type=number]`));
          return {
            corruption: value("#corruption input:checked"),
            severity: Number(value("#severity input:checked")),
            tau: window.dga.tau(), seed: Number(value("#seed input")),
            dda: number("dda-depth"), paths: number("paths"), scale: number("scale"),
            max_depth: number("max-depth"), rule: value("#rule input:checked"),
            picture: document.querySelector("#examples [aria-pressed=true]").dataset.name,
          };
        }"""
    )


EXPECTED = {
    "corruption": "impulse_noise", "severity": 2, "tau": 0.61, "seed": 11, "dda": 2, "paths": 2,
    "scale": 2.5, "max_depth": 9, "rule": "threshold", "picture": "coffee",
}  # fmt: skip


def test_a_link_restores_and_makes_the_run(result, served):
    assert controls(result.page) == EXPECTED
    notices = result.page.locator(".notice p").all_inner_texts()
    assert len(notices) == 1
    assert "rule “coin”" in notices[0]
    example = next(e for e in load_examples() if e.name == "coffee")
    subject = served.session.subject(example.path, SETTINGS)
    *_, run = served.session.events(subject.input, SETTINGS)
    for name in ("dga", "dga-guided", "dda", "dga-plus"):
        assert np.array_equal(result.shown(f"#card-{name} img"), run.reconstructions[name].image)


def test_copying_the_link(result):
    page = result.page
    address = result.home + LINK + EXTRA
    assert page.input_value("#link input") == address
    for part in ("copy-link", "link"):
        page.evaluate("navigator.clipboard.writeText('')")
        page.click(f"#{part} [data-copy-link]")
        says = f"document.querySelector('#{part} button span').textContent"
        page.wait_for_function(f"{says} === 'Copied'")
        assert page.evaluate("navigator.clipboard.readText()") == address
    page.wait_for_function(f"{says} === 'Copy'", timeout=4000)


def test_compare_slider_by_keyboard(result):
    page = result.page
    slider = page.get_by_role("slider", name="Compare the two pictures")
    slider.focus()
    assert slider.input_value() == "50"
    for key, value in (
        ("ArrowRight", 51), ("Shift+ArrowLeft", 41), ("ArrowLeft", 40), ("Shift+ArrowRight", 50),
        ("Home", 0), ("Shift+ArrowLeft", 0), ("End", 100),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert slider.input_value() == str(value)
        share = page.evaluate("document.querySelector('.stage').style.getPropertyValue('--share')")
        assert share == f"{value}%"
    assert slider.get_attribute("aria-valuetext") == "100 % Corrupted, the rest DGA + G"
    page.get_by_label("Left").select_option("clean")
    assert np.array_equal(result.shown(".stage .over"), load_example("coffee"))
    alts = [page.get_attribute(f".stage .{side}", "alt") for side in ("over", "under")]
    assert [alt.partition(":")[0] for alt in alts] == ["Clean", "DGA + G"]
    assert page.inner_text(".tag-left") == "Clean"
    page.get_by_label("Left").select_option("input")
    slider.evaluate("(node) => { node.value = 50; node.dispatchEvent(new Event('input')); }")


def load_example(name):
    return next(e for e in load_examples() if e.name == name).pixels(64)


def test_every_file_is_saved(result):
    page, found = result.page, {}
    for kind in DOWNLOADS:
        with page.expect_download() as download:
            page.click(f"[data-kind={kind}]")
        found[kind] = Path(download.value.path()).read_bytes()
        suffix = DOWNLOADS[kind][1].lower()
        name = download.value.suggested_filename
        assert name == f"dga-coffee-impulse_noise-2-{kind}.{suffix}"
    assert Image.open(io.BytesIO(found["sheet"])).width > 6 * 256
    with zipfile.ZipFile(io.BytesIO(found["pictures"])) as archive:
        clean = next(name for name in archive.namelist() if name.endswith("/clean.png"))
        picture = np.asarray(Image.open(io.BytesIO(archive.read(clean))))
    assert np.array_equal(picture, load_example("coffee"))
    assert found["curve"].decode().count("\n") == 102
    facts = json.loads(found["run"])
    assert (facts["settings"]["tau"], facts["settings"]["seed"]) == (0.61, 11)


@pytest.mark.parametrize("width", [1440, 1024, 768, 390])
def test_no_sideways_scroll(result, width):
    page = result.page
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("document.querySelector('#input').classList.add('with-advanced', 'open')")
    page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelector('#input').classList.remove('with-advanced', 'open')")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [pytest.param(1440, marks=pytest.mark.slow), 390])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(result, width, dark):
    page = result.page
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("document.querySelector('#input').classList.add('with-advanced', 'open')")
    page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    try:
        result.audit(dark)
    finally:
        page.evaluate("document.querySelector('#input').classList.remove('with-advanced', 'open')")


def test_touch_targets_on_a_phone(result):
    page = result.page
    page.set_viewport_size({"width": 390, "height": 900})
    page.evaluate("document.querySelector('#input').classList.add('with-advanced', 'open')")
    small = page.evaluate(
        """() => ["#input button", "#corruption label", "#severity label", "#rule label",
          "#as-is label", ".files button", ".link-row button", ".compare select", ".stage input"]
          .flatMap((selector) => [...document.querySelectorAll(selector)])
          .filter((node) => node.offsetParent && !node.closest("#picture"))
          .filter((node) => node.getBoundingClientRect().height < 44)
          .map((node) => node.outerHTML.slice(0, 80))"""
    )
    page.evaluate("document.querySelector('#input').classList.remove('with-advanced', 'open')")
    assert small == []


def test_a_phone_shows_the_result_first(result):
    page = result.page
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_timeout(200)
    assert page.locator("#input").bounding_box()["height"] < 110
    assert page.evaluate(SUMMARY) == ["Coffee, Impulse", "severity 2 · seed 11"]
    assert not page.locator("#corruption").is_visible()
    page.get_by_role("button", name="Change").click()
    assert page.locator("#corruption").is_visible()
    page.get_by_role("button", name="Close").click()
    assert not page.locator("#corruption").is_visible()


def test_reloading_gives_the_same_run(result):
    page, before = result.page, result.shown("#card-dga-guided img")
    page.reload()
    page.wait_for_function("document.querySelector('#adapt')?.disabled")
    result.done()
    assert controls(page) == EXPECTED
    assert np.array_equal(result.shown("#card-dga-guided img"), before)
    assert page.locator(".notice p").count() == 0


FOCUSED = """() => {
  const node = document.activeElement;
  const part = node.closest("#picture, #examples, #sources, #as-is, #corruption, #severity, #seed,"
    + "#dice, #advanced-toggle, #scale, #max-depth, #rule, #paths, #adapt, #cancel");
  return part ? part.id : "";
}"""


def tab_to(page, part, limit=60):
    """Press Tab until the focus is in ``part``; the parts that were passed."""
    passed = []
    for _ in range(limit):
        page.keyboard.press("Tab")
        now = page.evaluate(FOCUSED)
        if now and (not passed or passed[-1] != now):
            passed.append(now)
        if now == part:
            return passed
    raise AssertionError(f"Tab never came to {part}: {passed}")


def test_the_whole_input_card_by_keyboard(visit, served, monkeypatch):
    steps = served.session._steps

    def slowly(*asked):
        for event in steps(*asked):
            time.sleep(0.05)  # or the run may end before Tab has come to Cancel
            yield event

    monkeypatch.setattr(served.session, "_steps", slowly)
    page = visit.page
    tab_to(page, "examples")
    for _ in range(3):  # lion, cheetah's face, cheetah, cat
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function(f"({IMAGE}).endsWith('/cat.png')")
    assert tab_to(page, "as-is")[-2:] == ["sources", "as-is"]
    tab_to(page, "corruption")
    start = page.evaluate("document.querySelector('#corruption input:checked').value")
    page.keyboard.press("ArrowDown")
    chosen = CORRUPTIONS[(CORRUPTIONS.index(start) + 1) % len(CORRUPTIONS)]
    page.wait_for_selector(f"#corruption input[value={chosen}]:checked")
    tab_to(page, "severity")
    before = int(page.evaluate("document.querySelector('#severity input:checked').value"))
    page.keyboard.press("ArrowLeft")
    tab_to(page, "seed")
    page.keyboard.press("Control+A")
    page.keyboard.type("42")
    tab_to(page, "dice")
    after = before - 1 if before > 1 else 5
    page.wait_for_function(f"({SUMMARY})[1] === 'severity {after} · seed 42'")
    page.keyboard.press("Enter")
    page.wait_for_function(f"({SUMMARY})[1] !== 'severity {after} · seed 42'")
    tab_to(page, "advanced-toggle")
    page.keyboard.press("Enter")
    assert page.get_attribute("#advanced-toggle button", "aria-expanded") == "true"
    assert tab_to(page, "paths") == ["scale", "max-depth", "rule", "paths"]
    page.keyboard.press("Control+A")
    page.keyboard.type("8")
    assert tab_to(page, "adapt")[-1] == "adapt"
    visit.says("[data-words=stopping]", "threshold rule · 8 noise paths")
    page.keyboard.press("Enter")
    page.wait_for_function("!document.querySelector('#cancel').disabled")
    tab_to(page, "cancel")
    page.keyboard.press("Enter")
    page.wait_for_function("!document.querySelector('#adapt').disabled")


def test_already_corrupted_turns_the_picker_off_and_on(visit):
    page = visit.page
    page.get_by_label("Fog").check()
    page.get_by_label("Already corrupted").check()
    off = "document.querySelectorAll('#corruption input:disabled, #severity input:disabled').length"
    page.wait_for_function(f"{off} === 20")
    visit.counts("#corruption input:checked", 0)
    page.wait_for_function(f"({SUMMARY})[0].endsWith(', as it came')")
    page.get_by_label("Already corrupted").uncheck()
    page.wait_for_function(f"{off} === 0")
    page.wait_for_selector("#corruption input[value=fog]:checked")


def test_upload_paste_and_webcam(visit, tmp_path):
    page = visit.page
    page.bring_to_front()  # only a page in front may read the clipboard
    path = tmp_path / "mine.png"
    Image.fromarray(np.full((80, 120, 3), 90, np.uint8)).save(path)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload", exact=True).click()
    chooser.value.set_files(path)
    page.wait_for_function(f"({IMAGE}).endsWith('/mine.png')")
    page.wait_for_function(f"({SUMMARY})[0].startsWith('Your picture, ')")
    assert page.locator("#examples [aria-pressed=true]").count() == 0

    page.get_by_role("button", name="Bus").click()
    page.wait_for_function(f"({IMAGE}).endsWith('/bus.png')")
    page.evaluate(
        """async (text) => {
          const picture = await (await fetch(text)).blob();
          await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
        }""",
        "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode(),
    )
    page.get_by_role("button", name="Paste", exact=True).click()
    page.wait_for_function(f"({IMAGE}).includes('clipboard')")
    page.wait_for_function(f"({SUMMARY})[0].startsWith('Your picture, ')")

    page.get_by_role("button", name="Webcam", exact=True).click()
    page.wait_for_function("document.querySelector('#picture video')?.videoWidth > 0")
    page.get_by_role("button", name="capture photo").click()
    page.wait_for_function(f"({IMAGE}).includes('/image.')")
    page.wait_for_function(f"({SUMMARY})[0].startsWith('Your picture, ')")


def test_an_own_picture_stays_out_of_the_link(visit, tmp_path):
    page = visit.page
    path = tmp_path / "coffee.png"  # the name of an example, another picture
    Image.fromarray(np.full((80, 120, 3), 90, np.uint8)).save(path)
    page.locator("#picture input[type=file]").set_input_files(path)
    page.wait_for_function(f"({SUMMARY})[0].startsWith('Your picture, ')")
    page.wait_for_function(f"({IMAGE}).endsWith('/coffee.png')")
    page.get_by_label("Pixelate").check()
    field = page.locator("#dda-depth input[type=number]")
    field.fill("1")
    field.press("Tab")
    page.get_by_role("button", name="Adapt", exact=True).click()
    page.wait_for_function("location.search.includes('corruption=pixelate')")
    assert "image" not in page.evaluate("location.search")
    assert "image" not in page.input_value("#link input")
    visit.says("#link .help", "Your picture is not in the link")


def test_thumbnails_follow_the_picture(visit):
    page = visit.page
    page.set_default_timeout(240_000)  # until glass blur is compiled, corruptions wait
    shown = "getComputedStyle(document.querySelector('#corruption label'), '::before')"
    shown += ".backgroundImage"
    page.wait_for_function(f"{shown}.startsWith('url(\"data:image/jpeg')")
    before = page.evaluate(shown)
    page.get_by_role("button", name="Lion").click()
    page.wait_for_function(f"({IMAGE}).endsWith('/lion.png')")
    page.wait_for_function("(before) => " + f"{shown} !== before", arg=before)
    page.wait_for_function(
        """() => [...document.querySelectorAll("#corruption label")].every((label) =>
          getComputedStyle(label, "::before").backgroundImage.startsWith('url("data:'))"""
    )


def test_a_link_without_a_picture_waits_for_one(browsing, served):
    visit = Visit(browsing, served.url, "?corruption=fog&severity=5&tau=0.61&seed=11")
    page = visit.page
    visit.says(".notice", "choose a picture")
    page.wait_for_function(f"({SUMMARY})[0] === 'No picture, Fog'")
    assert page.locator("#examples [aria-pressed=true]").count() == 0
    page.wait_for_function("window.dga.tau() === 0.61")
    page.get_by_role("button", name="Adapt", exact=True).click()
    visit.says(".tl-error", "Choose a picture first")
    visit.leave()
