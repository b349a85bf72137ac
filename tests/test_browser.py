"""The page in a real browser: what a visitor sees and does."""

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from app_fixtures import served, session  # noqa: F401  # fixtures
from PIL import Image

from app.examples import load_examples
from app.session import Settings
from dga.pipeline import adapt

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}")

QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
PHASE = "document.querySelector('.tl-plot').dataset.phase"
IMAGES = "[...document.querySelectorAll('#results img')]"


@pytest.fixture(scope="module")
def chromium():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(QUIET))
        yield browser
        browser.close()


class Watched:
    """A page, what it asked for and what it complained about."""

    def __init__(self, chromium, served, width=1440):  # noqa: F811
        self.page = chromium.new_page(viewport={"width": width, "height": 900})
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._console)
        self.page.goto(served.url)
        self.page.wait_for_selector(".tl-tau")
        self.home = served.url

    def _console(self, message):
        if message.type == "error":
            self.complaints.append(message.text)

    def foreign(self):
        own = (self.home, "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]

    def wait(self, phase):
        self.page.wait_for_function(f"{PHASE} === '{phase}'", timeout=60_000)

    def t_star(self):
        return int(self.page.get_attribute(".tl-plot", "data-t-star"))

    def pixels(self, card):
        source = self.page.get_attribute(f"#card-{card} img", "src")
        data = base64.b64decode(source.partition("base64,")[2])
        return np.asarray(Image.open(io.BytesIO(data)))

    def depth(self, depth):
        field = self.page.locator("#dda-depth input[type=number]")
        field.fill(str(depth))
        field.press("Tab")


@pytest.fixture
def watched(chromium, served):  # noqa: F811
    watched = Watched(chromium, served)
    yield watched
    watched.page.close()
    assert watched.complaints == []
    assert watched.foreign() == []


def test_a_run_shows_what_the_library_computes(watched, served):  # noqa: F811
    page = watched.page
    page.get_by_role("button", name="coffee").click()
    page.wait_for_function("document.querySelector('#picture img')?.src.includes('coffee')")
    page.get_by_label("Impulse").check()
    page.locator("#severity").get_by_label("2").check()
    page.get_by_label("Seed").fill("11")
    watched.depth(4)
    page.get_by_role("button", name="Adapt").click()
    watched.wait("done")

    example = next(e for e in load_examples() if e.name == "coffee")
    tau = served.session.profile.stopping.tau
    subject = served.session.subject(example.path, Settings("impulse_noise", 2, tau, 11, 4))
    run = adapt(served.session.models, subject.input, seed=11)
    page.wait_for_function("document.querySelector('.tl-plot').dataset.tStar !== ''")
    assert watched.t_star() == run.t_star
    assert page.evaluate(f"{IMAGES}.length") == 5
    guided = run.reconstructions["dga-guided"]
    assert guided.prediction.label in page.inner_text("#card-dga-guided .first")
    assert np.array_equal(watched.pixels("input"), subject.input)
    assert np.array_equal(watched.pixels("dga-guided"), guided.image)
    assert "4 + 4 steps" in page.inner_text("#card-dda")
    sizes = page.evaluate(f"{IMAGES}.map((image) => [image.naturalWidth, image.alt.length > 5])")
    assert sizes == [[64, True]] * 5
    assert page.get_by_role("button", name="Adapt").is_enabled()
    assert page.get_by_role("button", name="Cancel").is_disabled()


def expected_stop(curve, tau, stopping):
    below = np.flatnonzero(np.asarray(curve) < tau)
    first = int(below[0]) if below.size else len(curve)
    if first <= stopping.max_depth:
        return first
    return stopping.max_depth if stopping.horizon is None or first <= stopping.horizon else 0


def test_tau_moves_t_star_without_a_request(watched, served):  # noqa: F811
    page, profile = watched.page, served.session.profile
    start = profile.stopping.tau
    watched.depth(1)
    page.get_by_role("button", name="Adapt").click()
    watched.wait("done")
    example = load_examples()[0]
    subject = served.session.subject(example.path, Settings("gaussian_noise", 3, start, 0, 1))
    run = adapt(served.session.models, subject.input, seed=0)
    page.wait_for_timeout(1500)  # the curve has been drawn to its end

    slider = page.get_by_role("slider", name="Threshold tau")
    slider.focus()
    asked = len([url for url in watched.requests if "/queue/" in url or "/run/" in url])
    lower = round(start - 0.01, 2)
    presses = {"ArrowDown": lower, "PageUp": min(1.0, round(lower + 0.1, 2))}
    presses |= {"Home": 0.0, "End": 1.0, "ArrowUp": 1.0}
    for key, tau in presses.items():
        page.keyboard.press(key)
        assert float(slider.get_attribute("aria-valuenow")) == tau
        now = expected_stop(run.confidence, tau, profile.stopping)
        assert watched.t_star() == now
        stale = page.locator("#card-dga.stale").count() == 1
        assert stale == (now != run.t_star)
    assert asked == len([url for url in watched.requests if "/queue/" in url or "/run/" in url])


def test_cancel_keeps_what_is_there_and_frees_the_models(watched):
    page = watched.page
    watched.depth(100)
    page.get_by_role("button", name="Adapt").click()
    page.wait_for_function("document.querySelector('.tl-words').textContent.startsWith('DDA')")
    page.get_by_role("button", name="Cancel").click()
    watched.wait("cancelled")
    assert "Cancelled at DDA, reverse step" in page.inner_text(".tl-error")
    assert page.locator("#card-dga .row.first").count() == 1
    assert page.locator("#card-dda .row.first").count() == 0
    watched.depth(1)
    page.get_by_role("button", name="Adapt").click()
    watched.wait("done")


def test_a_bad_file_gives_a_sentence(watched, tmp_path):
    page = watched.page
    path = tmp_path / "thin.png"
    Image.new("RGB", (400, 3)).save(path)
    page.get_by_role("button", name="Remove Image").click()
    page.locator("#picture input[type=file]").set_input_files(path)
    page.wait_for_selector("#picture img")
    page.get_by_role("button", name="Adapt").click()
    watched.wait("error")
    assert "each side must have at least 16 pixels" in page.inner_text(".tl-error")
    assert page.get_by_role("button", name="Adapt").is_enabled()


@pytest.mark.parametrize("width", [390, 768, 1024, 1440])
def test_no_sideways_scroll(chromium, served, width):  # noqa: F811
    watched = Watched(chromium, served, width)
    watched.page.wait_for_timeout(300)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.foreign() == []
    watched.page.close()
