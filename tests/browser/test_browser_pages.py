"""All fifteen corruptions and the guided walk in a real browser."""

import csv
import io
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image

from app.pages.fifteen.results import FifteenResults, check_choice
from app.parts.examples import load_examples
from dga.corruptions import CORRUPTIONS
from tests.fixtures.browser import Watch, chromium  # noqa: F401  # fixtures

PATIENCE = 180_000


class Watched(Watch):
    """A page at this path."""

    def __init__(self, chromium, served, path, width=1440):  # noqa: F811
        super().__init__(chromium.new_page(viewport={"width": width, "height": 900}), served.url)
        self.page.goto(served.url + path)


@pytest.fixture(scope="module")
def fifteen(chromium, served):  # noqa: F811
    """One page for all that leaves it as it is, or says what it changes."""
    watched = Watched(chromium, served, "fifteen")
    watched.page.wait_for_selector(".ff-before img")
    yield watched.page
    watched.leave()


def wait_for(page, text):
    page.wait_for_function(
        f"document.querySelector('.ff-words').textContent.includes('{text}')", timeout=PATIENCE
    )


def until(page, condition):
    """The parts of the page are separate components: one may be a moment behind another."""
    for _ in range(100):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError("It did not come to pass within 10 seconds.")


def names(page):
    return page.eval_on_selector_all(".ff-card", "cards => cards.map(c => c.dataset.name)")


def choose(page, knob, name):
    page.locator(f"#fifteen-{knob}").get_by_label(name, exact=True).check()


def test_before_a_run_the_page_shows_what_will_happen(fifteen):
    assert fifteen.locator(".ff-before img").count() == 15
    assert fifteen.locator(".ff-after img").count() == 0
    assert "How many can be put right?" in fifteen.inner_text("h1")
    assert "Press Run all fifteen" in fifteen.inner_text("#fifteen-head .lead")
    assert fifteen.get_by_role("button", name="Table (CSV)").is_disabled()
    assert fifteen.get_by_role("button", name="Cancel").is_disabled()


def test_all_fifteen_order_table_and_link(chromium, served):  # noqa: F811
    watched = Watched(chromium, served, "fifteen")
    page = watched.page
    page.wait_for_selector(".ff-before img")
    choose(page, "severity", "1")
    choose(page, "method", "DGA")
    page.get_by_role("button", name="Run all fifteen").click()
    wait_for(page, "All fifteen in")
    until(page, lambda: page.locator(".ff-after img").count() == 15)
    until(page, lambda: "labelled correctly before" in page.inner_text("h1"))
    until(page, lambda: not page.evaluate("window.dgaFifteen.value.running"))
    assert names(page) == list(CORRUPTIONS)
    text = page.evaluate("window.dgaFifteen.value.csv")
    lines = {line["corruption"]: line for line in csv.DictReader(io.StringIO(text))}
    right = sum(line["label_after"] == line["label_undamaged"] for line in lines.values())
    assert f"{right} after" in page.inner_text("h1")
    for name, line in lines.items():
        card = page.locator(f".ff-card[data-name={name}]")
        assert card.locator(".ff-after .ff-label").inner_text() == line["label_after"]
        assert f"t* {line['depth']}" in card.locator(".ff-depth").inner_text()

    choose(page, "order", "Depth")
    deepest = sorted((int(line["depth"]) for line in lines.values()), reverse=True)
    until(page, lambda: [int(lines[name]["depth"]) for name in names(page)] == deepest)
    with page.expect_download() as download:
        page.get_by_role("button", name="Table (CSV)").click()
    assert download.value.suggested_filename == "fifteen-lion-severity-1-dga.csv"
    assert Path(download.value.path()).read_text("utf-8") == text

    page.locator(".ff-card[data-name=fog] a").click()
    page.wait_for_url(lambda url: "image=lion" in url)
    query = parse_qs(urlsplit(page.url).query)
    assert query["corruption"] == ["fog"]
    assert (query["severity"], query["seed"]) == (["1"], ["0"])
    watched.leave()


def test_another_example_and_severity_show_at_once(fifteen, served):
    page = fifteen
    page.get_by_role("button", name="lion").click()
    page.wait_for_function("document.querySelector('h1').textContent.includes('lion')")
    choose(page, "severity", "5")
    paths = {example.name: example.path for example in load_examples()}
    profile = served.session.profile
    choice = check_choice(profile, paths, None, "lion", False, 5, "dga-guided")
    wanted = next(
        row for row in FifteenResults.open(profile, choice).rows if row.corruption == "fog"
    )
    page.wait_for_function(
        "document.querySelector('.ff-card[data-name=fog] a').href.includes('severity=5')"
    )
    source = page.get_attribute(".ff-card[data-name=fog] .ff-before img", "src")
    shown = page.evaluate(
        """async (source) => {
          const image = await createImageBitmap(await (await fetch(source)).blob());
          const canvas = new OffscreenCanvas(image.width, image.height);
          canvas.getContext("2d").drawImage(image, 0, 0);
          return [...canvas.getContext("2d").getImageData(0, 0, image.width, image.height).data];
        }""",
        source,
    )
    assert np.array_equal(np.array(shown).reshape(64, 64, 4)[..., :3], wanted.before)


def test_arrow_keys_move_within_a_choice(fifteen):
    page = fifteen
    until(page, lambda: page.locator("#fifteen-severity [role=radiogroup]").count() == 1)
    severity = page.locator("#fifteen-severity")
    severity.get_by_label("3", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert severity.get_by_label("4", exact=True).is_checked()
    page.wait_for_function(
        "document.querySelector('.ff-card[data-name=fog] a').href.includes('severity=4')"
    )
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#fifteen-method') !== null")


def test_own_pictures_have_no_link_and_no_name(fifteen, tmp_path):
    page = fifteen
    path = tmp_path / "secret.png"
    Image.new("RGB", (80, 80), "teal").save(path)
    page.locator("#fifteen-own input[type=file]").set_input_files(path)
    page.wait_for_function("document.querySelector('h1').textContent.includes('Your picture')")
    until(page, lambda: page.locator(".ff-card a").count() == 0)
    assert "do not open" in page.inner_text("#fifteen-note")
    page.get_by_label("Already damaged").check()
    page.get_by_role("button", name="lion").click()
    page.wait_for_function("document.querySelector('h1').textContent.includes('lion')")
    until(page, lambda: page.locator(".ff-card a").count() == 15)


def test_cancel_keeps_the_pictures_and_frees_the_models(fifteen):
    page = fifteen
    choose(page, "severity", "5")
    page.get_by_role("button", name="Run all fifteen").click()
    wait_for(page, "Reverse")
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_function("document.querySelector('.ff-error').textContent !== ''")
    assert "Cancelled." in page.inner_text(".ff-error")
    assert page.locator(".ff-before img").count() == 15
    page.get_by_role("button", name="Run all fifteen").click()
    wait_for(page, "Forward")
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_function("document.querySelector('.ff-error').textContent !== ''")


@pytest.fixture(scope="module", params=["fifteen", "learn", "findings"])
def narrow(chromium, served, request):  # noqa: F811
    """A page as a phone opens it."""
    watched = Watched(chromium, served, request.param, 390)
    watched.page.wait_for_selector("h1")
    watched.page.wait_for_load_state("networkidle")
    yield watched
    watched.leave()


def test_no_sideways_scroll(narrow):
    for width in (390, 768, 1440):
        narrow.page.set_viewport_size({"width": width, "height": 900})
        assert narrow.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, pytest.param(1440, marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(narrow, width):
    narrow.page.set_viewport_size({"width": width, "height": 900})
    narrow.audit()
    narrow.audit(dark=True)


@pytest.fixture(scope="module")
def learn(chromium, served):  # noqa: F811
    watched = Watched(chromium, served, "learn")
    watched.page.wait_for_selector("#step-1:not([hidden])")
    yield watched.page
    watched.leave()


def ready(page, number):
    page.wait_for_selector(f"#step-{number} .ln-widget.ready", state="attached", timeout=PATIENCE)


def test_seven_steps_by_keyboard(learn):
    page = learn
    for number in range(1, 8):
        assert page.locator(".ln-step:visible").get_attribute("id") == f"step-{number}"
        assert page.locator(".ln-nav [aria-current=step] b").inner_text() == str(number)
        page.keyboard.press("ArrowRight" if number % 2 else "PageDown")
    assert page.url.endswith("/learn#step-7")
    assert page.get_by_role("button", name="Next").is_disabled()
    page.keyboard.press("ArrowLeft")
    assert page.url.endswith("/learn#step-6")
    assert page.evaluate("document.activeElement.id") == "step-6-title"


def test_a_link_opens_its_step(chromium, served):  # noqa: F811
    watched = Watched(chromium, served, "learn#step-4")
    watched.page.wait_for_selector("#step-4:not([hidden])")
    assert watched.page.locator(".ln-step:visible").count() == 1
    watched.leave()


def test_widgets_follow_their_controls(learn):
    page = learn
    ready(page, 1)
    page.locator(".ln-nav a").first.click()
    severity = page.get_by_role("slider", name="Severity")
    labels = []
    for key in ("Home", "End"):
        severity.press(key)
        labels.append(page.locator("#step-1 .ln-bars").inner_text())
    assert labels[0] != labels[1]
    assert severity.get_attribute("aria-valuetext") == "5"

    ready(page, 3)
    page.locator(".ln-nav a").nth(2).click()
    for _ in range(12):
        before = page.inner_text("#step-3 .ln-big .you b")
        page.keyboard.press("1")
        page.wait_for_selector("#step-3 .ln-badge:visible")
        assert page.inner_text("#step-3 .ln-big .you b") != before
        page.keyboard.press("2")  # answered already
        assert page.locator("#step-3 .ln-pick").first.is_disabled()
        assert "The network says picture" in page.inner_text("#step-3 .ln-say")
        last = page.get_by_role("button", name="Start again").is_visible()
        if not last:
            page.keyboard.press("Enter")
    assert last
    assert page.inner_text("#step-3 .ln-big .you b").endswith("of 12 right")
    assert page.inner_text("#step-3 .ln-scores .ln-say").startswith("You were")
    assert page.locator("#step-3 .ln-found circle.you").count() > 0

    ready(page, 4)
    page.locator(".ln-nav a").nth(3).click()
    tau = page.get_by_role("slider", name="Threshold τ")
    tau.press("End")
    said = page.locator("#step-4 .ln-say")
    assert "already looks undamaged" in said.inner_text()
    tau.press("Home")
    assert "left as it is" in said.inner_text() or "does not fall below" in said.inner_text()
    box = page.locator("#step-4 .ln-chart").bounding_box()
    before = tau.get_attribute("aria-valuetext")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert tau.get_attribute("aria-valuetext") != before


def test_the_last_steps_fill_in(learn):
    page = learn
    ready(page, 7)
    page.locator(".ln-nav a").nth(6).click()
    said = page.locator("#step-7 .ln-say")
    assert "of these 4 are read right" in said.inner_text()
    page.locator("#step-7").get_by_role("radio").nth(1).check()
    assert page.locator("#step-7 .ln-told").first.inner_text().count("depth") == 1
    page.locator(".ln-nav a").nth(5).click()
    for number in range(3):
        page.locator("#step-6").get_by_role("radio").nth(number).check()
        assert "Distance between" in page.locator("#step-6 .ln-say").inner_text()
    page.locator(".ln-nav a").nth(4).click()
    page.locator("#step-5").get_by_role("slider").press("End")
    assert "the rebuilt picture" in page.locator("#step-5 .ln-say").inner_text()


def test_equations_are_drawn_without_a_script(learn):
    heights = learn.evaluate(
        """() => [...document.querySelectorAll('.ln-step')].map((step) => {
          step.hidden = false;
          step.querySelector('details').open = true;
          return step.querySelector('math').getBoundingClientRect().height;
        })"""
    )
    assert len(heights) == 7
    assert min(heights) > 15
