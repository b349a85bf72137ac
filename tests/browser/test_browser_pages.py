"""The Board and the guided walk in a real browser."""

import math
import re
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image

from app.pages.learn.lesson import LADDER
from app.presets.cases import CASES
from app.runs.board import COLUMNS
from app.words.errors import GONE
from dga.corruptions import CORRUPTIONS
from dga.titles import title
from tests.fixtures.browser import Watch

PATIENCE = 180_000
BARS = (0, 6), (10, 20), (28, 36)  # depths of a visitor's bars on Learn


class Watched(Watch):
    """A page at this path."""

    def __init__(self, chromium, served, path, width=1440):
        super().__init__(chromium.new_page(viewport={"width": width, "height": 900}), served.url)
        self.page.goto(served.url + path)


@pytest.fixture(scope="module")
def board(chromium, served):
    """One page for all that leaves it as it is, or says what it changes."""
    watched = Watched(chromium, served, "board")
    watched.page.wait_for_selector(".bd-cell.there")
    yield watched.page
    watched.leave()


def until(page, condition, tenths=100):
    """The parts of the page are separate components: one may be a moment behind another."""
    for _ in range(tenths):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"It did not come to pass within {tenths / 10:.0f} seconds.")


def names(page):
    return page.eval_on_selector_all(".bd-name b", "names => names.map(n => n.textContent)")


def test_the_board_opens_full(board):
    assert board.locator(".bd-cell.there").count() == 15 * 5
    assert names(board) == [title(name) for name in CORRUPTIONS]
    assert not board.is_visible("#board-bar > button:not(.primary)")  # nothing to cancel
    counts = [int(b.inner_text()) for b in board.locator(".bd-count b").all()]
    right = (f".bd-cell.right[data-column='{name}']" for name in COLUMNS)
    assert counts == [board.locator(cells).count() for cells in right]
    headline = board.inner_text("h1")
    for number in (counts[0], counts[2], counts[3]):
        assert f" {number} " in headline
    drawn = "images => images.every(i => i.complete && i.naturalWidth === 64)"
    until(board, lambda: board.eval_on_selector_all(".bd-cell img", drawn))


def test_severity_and_example_are_in_the_address(chromium, served):
    watched = Watched(chromium, served, "board?image=lion&severity=3")
    page = watched.page
    # The first glass blur of a process is compiled.
    until(page, lambda: page.evaluate("window.dgaBoard?.value?.key") == "lion-3", 600)
    page.locator("[name=bd-severity][value='1']").check()
    until(page, lambda: page.evaluate("window.dgaBoard?.value?.key") == "lion-1")
    assert parse_qs(urlsplit(page.url).query) == {"image": ["lion"], "severity": ["1"]}
    assert names(page) == [title(name) for name in CORRUPTIONS]
    page.locator(".bd-change summary").click()
    page.locator("[data-image=cat]").click()
    until(page, lambda: "One cat" in page.inner_text("h1"))
    cell = page.locator(".bd-row[data-row='9'] [data-column='dga-plus']").last
    tip = cell.locator(".bd-tip")
    cell.hover()
    until(page, tip.is_visible)
    assert tip.inner_text().split("\n")[0] in cell.get_attribute("aria-label")
    cell.click()
    page.wait_for_url(lambda url: "corruption=fog" in url)
    query = parse_qs(urlsplit(page.url).query)
    assert (query["image"], query["severity"], query["seed"]) == (["cat"], ["1"], ["0"])
    watched.leave()


def test_own_pictures_are_named_run_and_kept(chromium, served, tmp_path):
    watched = Watched(chromium, served, "board")
    page = watched.page
    page.wait_for_selector(".bd-cell.there")
    odd = 'secret<i>"${1}.png'
    for name, colour in {"cat.png": "teal", odd: "gold"}.items():
        Image.new("RGB", (80, 80), colour).save(tmp_path / name)
    (tmp_path / "words.png").write_text("no picture")
    page.locator(".bd-drop input").set_input_files(sorted(tmp_path.iterdir()))
    until(page, lambda: page.locator(".bd-row").count() == 2)
    assert names(page) == ["cat.png", odd]
    assert "words.png" in page.inner_text(".bd-error")
    assert page.locator("select").first.input_value() == "cat"
    assert "secret" not in page.url
    offered = page.locator("#board-line fieldset:visible label").all_inner_texts()
    assert offered == ["Pictures", "Atlas"]  # no severity
    page.get_by_role("button", name="Run", exact=True).click()
    until(page, lambda: "Done in" in page.inner_text(".bd-words"), 1800)
    row = page.locator(".bd-row").nth(1)
    assert row.locator(".bd-badge:is(.right, .wrong)").count() == 0
    said = row.locator(".bd-said").all_inner_texts()  # what is read is said without a name, too
    assert [re.fullmatch(r"[a-z ]+ \d+ %", one) is not None for one in said] == [True] * 5
    row.locator("select").select_option("frog")
    until(page, lambda: row.locator(".bd-badge:is(.right, .wrong)").count() == 5)
    page.set_viewport_size({"width": 390, "height": 844})
    words = "all => all.map((one) => one.scrollWidth - one.clientWidth)"
    assert max(page.eval_on_selector_all(".bd-tool", words)) <= 0
    page.set_viewport_size({"width": 1440, "height": 900})
    with page.expect_download() as download:
        page.get_by_role("button", name="Pictures (ZIP)").click()
    assert download.value.suggested_filename == "board-own.zip"
    page.route("**/queue/join*", lambda route: None)  # it waits
    page.get_by_role("button", name="Run", exact=True).click()
    faint = [page.locator(f"#board {part}").last for part in (".bd-totals", ".bd-cell")]
    for part in faint:
        until(page, lambda part=part: part.evaluate("p => getComputedStyle(p).opacity") == "0.4")
    page.unroute_all()
    page.get_by_role("button", name="Cancel").click()
    for part in faint:
        until(page, lambda part=part: part.evaluate("p => getComputedStyle(p).opacity") == "1")
    page.reload()
    until(page, lambda: page.locator(".bd-row .bd-badge:is(.right, .wrong)").count() == 10)
    row = page.locator(".bd-row").nth(1)
    row.locator(".bd-cell").last.click()
    page.wait_for_url(lambda url: "board" not in url)
    kept = "(sessionStorage.getItem('dga-picture') ?? '').includes('secret<i>')"
    until(page, lambda: page.evaluate(kept))
    until(page, lambda: "Your picture" in page.inner_text("#line p"), 600)
    path = page.evaluate("JSON.parse(sessionStorage.getItem('dga-picture')).path")
    assert page.locator(f"#picture img[src*='{path}']").count() == 1
    assert "secret" not in path  # the server does not keep what her files are called
    assert "as it came" in page.inner_text("#line p")
    watched.leave()


def test_cancel_keeps_the_pictures_and_is_no_fault(board):
    board.locator("[name=bd-severity][value='2']").check()
    until(board, lambda: board.evaluate("window.dgaBoard?.value?.key") == "cat-2")
    board.get_by_role("button", name="Run all 15").focus()
    for button, words in ("Cancel", "have their depth"), ("Run all 15", "Cancelled"):
        board.keyboard.press("Enter")  # whoever presses keys goes on from the other button
        until(board, lambda words=words: words in board.inner_text(".bd-words"), 600)
        focused = f"document.activeElement.textContent.trim() === '{button}'"
        until(board, lambda focused=focused: board.evaluate(focused))
    assert board.inner_text(".bd-error") == ""
    assert "results from before" in board.inner_text(".bd-words")
    until(board, lambda: board.locator(".bd-cell.there").count() == 15 * 5)


def test_the_atlas_by_keyboard_and_pointer(chromium, served):
    watched = Watched(chromium, served, "board?image=cat&severity=2&atlas=dga-guided&dda=20")
    page = watched.page
    page.wait_for_selector("a.at-cell")
    watched.audit()
    watched.audit(dark=True)
    value = page.evaluate("window.dgaBoard.value")
    assert page.inner_text("h1") == value["headlines"][20]
    for number, row in enumerate(value["rows"]):
        drawn = page.locator(f"[data-row='{number}']")
        right = drawn.locator(".at-cell.right").count()
        assert drawn.locator(".at-range").inner_text() == f"{right} of 33"
        assert right == sum(row["right"])
        assert drawn.locator(f"[data-depth='{row['own']}'] .at-own").count() == 1
    fixed = page.get_by_role("slider")
    fixed.press("Shift+ArrowLeft")
    until(page, lambda: page.inner_text("h1") == value["headlines"][15])
    until(page, lambda: "dda=15" in page.url)
    box = fixed.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(page.locator("[data-row='0'] [data-depth='3']").bounding_box()["x"] + 9, 300)
    page.mouse.up()
    until(page, lambda: page.inner_text("h1") == value["headlines"][3])
    assert int(page.locator(".at-total b").nth(1).inner_text()) == value["counts"][3]
    assert page.locator("a.at-cell[tabindex='0']").count() == 1
    page.locator("a.at-cell[tabindex='0']").focus()
    for key in ("ArrowDown", "End", "ArrowLeft"):
        page.keyboard.press(key)
    pop, said = page.locator(".at-pop"), value["rows"][1]["said"][31][0]
    until(page, lambda: pop.is_visible() and "data:image/webp" in pop.inner_html())
    assert said in pop.inner_text()
    assert said in page.evaluate("document.activeElement.ariaLabel")
    page.keyboard.press("Escape")
    assert pop.is_hidden()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "corruption=shot_noise" in url and "depth=31" in url)
    watched.leave()


def test_the_board_on_a_phone(chromium, served):
    phone = {"width": 390, "height": 844}
    page = chromium.new_page(viewport=phone, has_touch=True, is_mobile=True)
    page.goto(served.url + "board?atlas=dga&severity=2")
    page.wait_for_selector("a.at-cell")
    fixed = page.locator(".at-fixed")
    until(page, lambda: 100 < fixed.bounding_box()["x"] < 250)  # in sight beside the names
    for width in (768, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for scrolled in (0, 300):
            page.locator(".at").evaluate("(card, to) => (card.scrollLeft = to)", scrolled)
            for part in (".at-total", "[data-row='0'] :is(.at-sign, .at-range)"):
                boxes = [box.bounding_box() for box in page.locator(part).all()]
                assert all(one["x"] + one["width"] <= two["x"] + 1 for one, two in pairwise(boxes))
                assert boxes[0]["x"] >= 0
                assert boxes[2]["x"] + boxes[2]["width"] < 250  # under the row's name
    names = page.locator("b.at-name").first.bounding_box()
    assert 0 <= names["x"] < 20
    cut = "b => b.scrollWidth > b.clientWidth || b.scrollHeight > b.clientHeight"
    assert page.eval_on_selector_all("b.at-name", f"all => all.filter({cut})") == []
    page.locator("[data-row='0'] [data-depth='12']").tap()
    link = page.locator(".at-pop a")
    until(page, link.is_visible)
    assert "depth=12" in link.get_attribute("href")
    page.locator("[name=bd-view][value='']").check()
    page.wait_for_selector(".bd-cell.there")
    words = page.locator("#board").inner_text()
    assert "Touch a picture" in words
    said = page.locator(".bd-said").first.bounding_box()  # what a mouse is told by pointing
    row = page.locator(".bd-row").first.bounding_box()
    assert row["y"] < said["y"] < said["y"] + said["height"] <= row["y"] + row["height"]
    assert not re.search("point at|click|arrow key", words, re.IGNORECASE)
    for number in (5, 12):  # the columns' names stay above both panels
        page.locator(f"[data-row='{number}']").evaluate("row => row.scrollIntoView(true)")
        tops = [head.bounding_box()["y"] for head in page.locator(".bd-head").all()]
        assert any(abs(top) < 1 for top in tops)
    page.close()


# What a finger would hit around the middle of each handle, in CSS pixels, where it is below 44.
SMALL_HANDLES = r"""(all) => [...document.querySelectorAll(all)].flatMap((node) => {
  const shown = node.checkVisibility({ visibilityProperty: true }) && !node.disabled;
  if (!shown || node.closest("[inert]")) return [];
  node.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const { x, y, width, height } = node.getBoundingClientRect();
  const takes = (at) => at && (node.contains(at) || node.closest("label")?.contains(at));
  const reach = (dx, dy) => {
    for (let k = 0; k < 30; k += 0.5) {
      const at = document.elementFromPoint(x + width / 2 + dx * k, y + height / 2 + dy * k);
      if (!takes(at)) return k;
    }
    return 30;
  };
  const size = [reach(1, 0) + reach(-1, 0), reach(0, 1) + reach(0, -1)];
  const small = Math.min(...size) < 43; // half a pixel is lost at each end
  return small ? [`${node.className || node.textContent || node.name} ${size}`] : [];
})"""
# Not links within a line of words, nor the atlas's cells: 33 beside each other, opened by a sheet,
# which have 24 pixels.
HANDLES = """a:not(p a, .skip, .at-cell), button, input:not([type=file]), select, summary,
  [role=slider]"""


@pytest.mark.parametrize(
    "path",
    [
        "",
        "photo",
        "board",
        "board?atlas=dga-guided&severity=2",
        "findings",
        "learn",
        "learn#step-7",
    ],
)
def test_handles_are_as_large_as_a_finger(chromium, served, path, tmp_path):
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.add_init_script("sessionStorage.setItem('dga-opened', '1')")
    page.goto(served.url + path)
    page.wait_for_selector("#first", state="detached")
    page.wait_for_timeout(3000)  # pictures move what stands below them
    assert page.locator(HANDLES).count() > 8
    assert page.evaluate(SMALL_HANDLES, HANDLES) == []
    sides = "cells => cells.flatMap(cell => [cell.offsetWidth, cell.offsetHeight])"
    assert min(page.eval_on_selector_all("a.at-cell", sides), default=24) >= 24
    if path == "board":
        Image.new("RGB", (80, 80)).save(tmp_path / "one.png")
        page.locator(".bd-drop input").set_input_files(tmp_path / "one.png")
        page.wait_for_selector("#board select")
        assert page.evaluate(SMALL_HANDLES, "#board select") == []
    if path == "photo":
        page.tap(".ph-show")
        page.wait_for_selector(".ph-ticks i")
        ends = """all => all.filter(one => one.checkVisibility())
          .map(one => one.getBoundingClientRect()).map(({ left, right }) => [left, right])"""
        ticks = page.eval_on_selector_all(".ph-ticks i", ends)
        assert all(left - right > 4 for (_, right), (left, _) in pairwise(ticks))
        page.tap(".ph-show")
        for sheet in ("ph-photo", "ph-damage"):
            page.tap(f"[popovertarget={sheet}]")
            inside = [
                f"#{sheet} {part.strip()}"
                for part in ("button", "input:not([type=file])", "select")
            ]
            assert page.evaluate(SMALL_HANDLES, ", ".join(inside)) == []
            page.evaluate(f"document.getElementById('{sheet}').hidePopover()")
    if not path:
        page.tap("#line button")
        page.tap("#advanced button")
        page.wait_for_timeout(500)
        inside = ("button", "input:not([type=file])")
        assert page.evaluate(SMALL_HANDLES, ", ".join(f"#sheet {part}" for part in inside)) == []
    context.close()


@pytest.fixture(scope="module", params=["photo", "board", "learn", "findings"])
def narrow(chromium, served, request):
    """A page as a phone opens it."""
    watched = Watched(chromium, served, request.param, 390)
    watched.page.wait_for_selector("h1")
    watched.page.wait_for_function("document.fonts.status === 'loaded'")
    yield watched
    watched.leave()


def test_no_sideways_scroll(narrow):
    for width in (390, 768, 1440):
        narrow.page.set_viewport_size({"width": width, "height": 900})
        assert narrow.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("narrow", ["findings"], indirect=True)
def test_five_answers_are_short_and_lead_to_their_tables(narrow):
    page = narrow.page
    for width, height, answers, most in ((1440, 900, 2600, 3200), (390, 844, 2100, 3000)):
        page.set_viewport_size({"width": width, "height": height})
        for severity in ("3", "5"):
            page.locator(f"#fi-s{severity}").check()
            assert page.evaluate("document.documentElement.scrollHeight") <= most
            last = page.locator("#cost").bounding_box()
            assert last["y"] + last["height"] <= answers  # a phone's, in two screens and a half
            parts = page.locator(f"#help .s{severity} :is(.fi-rows, .fi-more):visible")
            assert parts.count() == (2 if width > 640 else 0)  # a phone has them in the fold
            fold = page.locator(f"#help .s{severity} summary")
            assert fold.is_visible() == (width <= 640)
            if width > 640:
                continue
            there = fold.bounding_box()
            fold.click()
            assert parts.count() == 2
            assert fold.bounding_box() == there  # it opens below the finger
            page.locator(f"#fi-s{8 - int(severity)}").check()
            page.locator(f"#help .s{8 - int(severity)} .fi-rows").wait_for()  # of both severities
            page.locator(f"#help .s{8 - int(severity)} summary").click()
            page.locator(f"#fi-s{severity}").check()
            page.locator(f"#help .s{severity} .fi-rows").wait_for(state="hidden")
    intro = page.inner_text(".fi-top .lead")  # of several severities, with photographs of their own
    assert "how many photographs" in intro
    assert not re.search(r"\d", intro)
    assert page.locator("section.fi-card h2 i").count() == 5
    page.locator("#help").get_by_role("link", name="The whole table").first.click()
    assert page.url.endswith("/findings#table-table-1")
    page.locator("#table-table-1 tbody tr").first.wait_for()
    page.locator("#figure-gains > summary").click()
    page.locator("#figure-gains .scatterlayer .trace").first.wait_for()


@pytest.mark.parametrize("width", [390, pytest.param(1440, marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(narrow, width):
    narrow.page.set_viewport_size({"width": width, "height": 900})
    narrow.audit()
    narrow.audit(dark=True)


@pytest.fixture(scope="module")
def page(chromium, served):
    """The guided walk."""
    watched = Watched(chromium, served, "learn")
    watched.page.wait_for_selector("#step-1:not([hidden])")
    yield watched.page
    watched.leave()


def test_a_step_that_fills_the_screen_says_which_it_is_and_how_to_leave(page):
    where = page.locator("#step-1 .ln-where")
    page.locator(".ln-nav a").first.click()
    assert not where.is_visible()
    page.keyboard.press("f")
    until(page, where.is_visible)
    assert where.inner_text() == "1 of 10 Esc leave"
    page.keyboard.press("f")
    until(page, where.is_hidden)


@pytest.mark.parametrize(
    ("width", "height"), [(1280, 720), (1366, 768), (1440, 900), (1920, 1080), (2560, 1440)]
)
def test_every_step_is_one_screen_of_a_projector(chromium, served, width, height):
    page = chromium.new_page(viewport={"width": width, "height": height})
    page.goto(served.url + "learn#step-1")
    page.wait_for_selector("#step-1:not([hidden])")
    page.keyboard.press("F")  # with Caps Lock
    page.wait_for_function("document.fullscreenElement")
    ends = """all => all.filter(one => one.checkVisibility())
      .map(one => one.getBoundingClientRect()).map(({ right, bottom }) => [right, bottom])"""
    for number in range(1, 11):
        page.wait_for_selector(f"#step-{number} .ln-widget.ready", timeout=PATIENCE)
        if number == 3:
            page.keyboard.press("1")
        if number == 7:
            page.click("#step-7 .ln-against button")
        parts = page.eval_on_selector_all(f"#step-{number} .ln-widget :not(.hidden-words)", ends)
        assert max(right for right, _ in parts) <= width, number
        assert max(bottom for _, bottom in parts) <= height, number
        read = page.locator(f"#step-{number} .ln-text p").first
        letters = float(read.evaluate("p => getComputedStyle(p).fontSize").removesuffix("px"))
        assert letters * read.evaluate("p => p.currentCSSZoom") >= height / 51
        page.keyboard.press("PageDown")
    page.close()


@pytest.mark.parametrize("width", [390, 768, 1440, 1920])
def test_letters_of_a_chart_are_smaller_than_its_heading(chromium, served, width):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.goto(served.url + "learn#step-3")
    letters = page.locator("#step-3 .ln-plot text").first
    letters.wait_for(timeout=PATIENCE)
    size = "(one) => parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM?.().a ?? 1)"
    heading = page.locator("#step-3 .ln-which").evaluate(size)
    assert 12 <= letters.evaluate(size) < heading
    page.close()


def ready(page, number):
    """The step is opened, and what it shows is there."""
    page.locator(".ln-nav a").nth(number - 1).click()
    page.wait_for_selector(f"#step-{number} .ln-widget.ready", state="attached", timeout=PATIENCE)


def test_ten_steps_by_keyboard(page):
    for number in range(1, 11):
        assert page.locator(".ln-step:visible").get_attribute("id") == f"step-{number}"
        assert page.locator(".ln-nav [aria-current=step] b").inner_text() == str(number)
        page.keyboard.press("ArrowRight" if number % 2 else "PageDown")
    assert page.url.endswith("/learn#step-10")
    assert page.get_by_role("button", name="Next").is_disabled()
    page.keyboard.press("f")
    page.wait_for_function("document.fullscreenElement?.matches('.ln-steps')")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".ln-step:visible").get_attribute("id") == "step-9"
    page.keyboard.press("f")
    page.wait_for_function("!document.fullscreenElement")
    assert page.url.endswith("/learn#step-9")
    assert page.evaluate("document.activeElement.id") == "step-9-title"
    page.keyboard.press("PageUp")
    page.wait_for_selector("#step-8 .ln-widget.ready", timeout=PATIENCE)
    slider = page.locator("#step-8 [type=range]")
    slider.press("ArrowRight")
    assert slider.input_value() == "1"  # arrows are the slider's, a remote control's keys are not
    slider.press("PageDown")
    assert page.locator(".ln-step:visible").get_attribute("id") == "step-9"
    assert slider.input_value() == "1"


@pytest.mark.parametrize(
    ("path", "known", "words"),
    [
        ("learn", "step-4", "step 1 is shown instead"),
        ("findings", "table-table-1", "the whole page is shown"),
    ],
)
def test_a_link_to_a_part_that_is_not_here_says_so(chromium, served, path, known, words):
    watched = Watched(chromium, served, f"{path}#nowhere")
    said = ".ln-top .notice, .fi-top .notice"
    watched.says(said, f"“nowhere” is not here: {words}")
    watched.page.evaluate(f"location.replace(location.pathname + '#{known}')")
    watched.page.wait_for_function(
        "(one) => !document.querySelector(one).checkVisibility()", arg=said
    )
    assert watched.page.locator(f"#{known}").is_visible()
    watched.leave()


def test_a_link_opens_its_step_and_hints_for_keys_are_not_for_fingers(chromium, served):
    context = chromium.new_context(has_touch=True, is_mobile=True)
    page = context.new_page()
    for path, hint in (
        ("learn#step-4", ".ln-top .lead"),
        ("learn#step-3", ".ln-pick kbd"),
        ("", "#examples .key"),
    ):
        page.goto(served.url + path)
        page.wait_for_selector(hint, state="attached")
        assert not page.is_visible(hint)
        if path.endswith("step-3"):
            goes_on = page.locator("#step-3 .ln-go")
            page.locator("#step-3 .ln-pick").first.scroll_into_view_if_needed()  # as a tap does
            place = goes_on.bounding_box()["y"]
            page.locator("#step-3 .ln-pick").first.tap()
            assert goes_on.bounding_box()["y"] == place  # it stays below the finger
        if "#" in path:
            page.wait_for_selector(f"{path.removeprefix('learn')}:not([hidden])")
            assert page.locator(".ln-step:visible").count() == 1
    context.close()


def test_widgets_follow_their_controls(page):
    ready(page, 1)
    step = page.locator("#step-1").bounding_box()
    assert step["y"] + step["height"] <= 900
    first = page.locator("#step-1 .ln-bars li").first  # plainly a cat, and read as something else
    assert not first.inner_text().startswith("cat")
    severity = page.get_by_role("slider", name="Severity")
    labels = []
    for key in ("Home", "End"):
        severity.press(key)
        labels.append(page.locator("#step-1 .ln-bars").inner_text())
    assert labels[0] != labels[1]
    assert severity.get_attribute("aria-valuetext") == "5"

    ready(page, 3)
    assert not page.is_visible("#step-3 .ln-big b")  # nothing is told before an answer
    rounds = []
    for _ in range(12):
        before = page.inner_text("#step-3 .ln-big .you b")
        place = page.locator("#step-3 .ln-go").bounding_box()["y"]
        page.keyboard.press("1")
        page.wait_for_selector("#step-3 .ln-badge:visible")
        assert page.inner_text("#step-3 .ln-big .you b") != before
        assert page.locator("#step-3 .ln-go").bounding_box()["y"] == place  # nothing jumps
        page.keyboard.press("2")  # answered already
        assert page.locator("#step-3 .ln-pick").first.is_disabled()
        network = page.inner_text("#step-3 .ln-say")
        assert "The network, judging each by itself: picture 1 looks" in network
        last = page.get_by_role("button", name="Start again").is_visible()
        assert page.locator("#step-3 .ln-plot .network").count() == last
        depth = int(page.inner_text("#step-3 .ln-which span").split()[-1])
        rounds.append((depth, page.locator("#step-3 .ln-badge.ok:visible").count()))
        page.keyboard.press("Enter")
    assert last
    assert page.inner_text("#step-3 .ln-which").endswith(f"Round 12 of 12 · both at depth {depth}")
    found = f"{sum(right for _, right in rounds)} of 12 right"
    assert page.inner_text("#step-3 .ln-big .you b") == found
    told, line = page.inner_text("#step-3 .ln-scores .ln-say").split(" The line: ")
    assert line == "the network on all twelve pairs at every depth."
    bars = [(d, [right for at, right in rounds if d[0] <= at <= d[1]]) for d in BARS]
    bars = [(*depths, sum(mine), len(mine)) for depths, mine in bars if mine]
    assert page.locator("#step-3 .ln-plot .you").count() == len(bars)
    counts = [f"{found} of {of}" for *_, found, of in bars]
    assert set(counts) <= set(page.locator("#step-3 .ln-plot text").all_text_contents())
    lost = ["{} to {} you found {} of {}".format(*bar) for bar in bars if bar[2] <= bar[3] / 2]
    if lost:
        assert told.startswith(f"At depths {lost[0]}; guessing finds half.")
        assert re.search(r"The network, on the same pairs: \d*½?\.$", told)
    else:
        assert told == "Each of your bars is higher than guessing, which finds half."
    drawn = page.locator("#step-3 .ln-plot .network").get_attribute("points").split()
    assert len(drawn) == len(LADDER)

    ready(page, 4)
    tau = page.get_by_role("slider", name="Threshold τ")
    tau.press("End")
    said = page.locator("#step-4 .ln-say")
    assert "not sure enough that it is damaged" in said.inner_text()
    tau.press("Home")
    assert "left as it is" in said.inner_text() or "does not fall below" in said.inner_text()
    tall = page.locator("#step-4").bounding_box()["height"]
    tau.fill("75")
    assert page.locator("#step-4").bounding_box()["height"] == tall
    rule = page.inner_text("#step-4 .ln-beside .ln-code")
    assert "not below τ by depth 24, the noise goes to 24" in rule
    assert "not by 60 either" in rule


def test_the_last_steps_fill_in(page):
    ready(page, 10)
    said = page.locator("#step-10 .ln-say")
    score = []
    for way in page.locator("#step-10").get_by_role("radio").all()[::-1]:
        way.check()
        assert re.fullmatch("Read right: [0-4] of these 4.", said.inner_text())
        score.append(page.locator("#step-10 figcaption .ok").count())
        assert f" {score[-1]} " in said.inner_text()
    assert score[0] == max(score)  # with diagnosis
    page.locator("#step-10").get_by_role("radio").nth(1).check()
    read = page.locator("#step-10 figcaption").nth(1).inner_text()
    assert "\N{NO-BREAK SPACE}%" in read  # a number and its sign in one line
    assert page.locator("#step-10 .ln-told").first.inner_text().count("depth") == 1
    ready(page, 9)
    assert page.locator("#step-9 .ln-frame").count() == 12
    ready(page, 8)
    page.locator("#step-8").get_by_role("slider").press("End")
    assert "it enters at depth" in page.locator("#step-8 .ln-say").inner_text()
    ready(page, 6)
    for number in range(3):
        page.locator("#step-6").get_by_role("radio").nth(number).check()
        told = page.locator("#step-6 .ln-say").inner_text()
        assert "Distance between" in told
        assert ("had to be pulled back" in told) == (number == 2)
    ready(page, 5)
    page.locator("#step-5").get_by_role("slider").press("End")
    assert "the rebuilt picture" in page.locator("#step-5 .ln-say").inner_text()


def dial_angle(step, hand):
    """Of a needle: 0 is surely damaged, 180 surely not."""
    style = step.locator(f".ln-dial {hand}").get_attribute("style")
    return float(re.search(r"rotate\(([\d.]+)deg", style)[1])


def test_the_repairer_sees_what_the_sliders_do(chromium, served):
    watched = Watched(chromium, served, "learn#step-7")
    page, seen = watched.page, ".ln-of .ln-picture, .ln-dial svg, .ln-knobs input"
    page.wait_for_selector("#step-7 .ln-widget.ready", timeout=PATIENCE)
    bottoms = "all => all.map(one => one.getBoundingClientRect().bottom)"
    for width, height in ((1440, 900), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        assert max(page.eval_on_selector_all(f"#step-7 :is({seen})", bottoms)) <= height
    handle = page.locator(".ln-map .here").bounding_box()  # below it and left of it are ticks
    tick, left = (
        page.locator(f"{at} span").first.bounding_box() for at in (".ln-across", ".ln-map")
    )
    assert tick["y"] >= handle["y"] + handle["height"]
    assert left["x"] + left["width"] <= handle["x"]
    numbers = page.locator(".ln-dial svg text").all()[:4]
    rim = page.locator(".ln-dial .rim").bounding_box()
    middle, foot = rim["x"] + rim["width"] / 2, rim["y"] + rim["height"]
    for box in (number.bounding_box() for number in numbers):  # none touches the dial
        across = max(box["x"] - middle, middle - box["x"] - box["width"], 0)
        assert math.hypot(across, foot - box["y"] - box["height"]) > rim["width"] / 2
    farthest = page.locator(".ln-across span").last.bounding_box()
    map_ = page.locator(".ln-map").bounding_box()
    assert farthest["x"] + farthest["width"] <= map_["x"] + map_["width"] + 0.5
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#step-7 .ln-map").evaluate("map => map.scrollIntoView({ block: 'center' })")
    for part in (".yours .ln-picture", ".ln-dial svg"):
        assert 0 <= page.locator(f"#step-7 {part}").bounding_box()["y"] < 100
    assert page.locator("#step-7 .ln-key").bounding_box()["height"] < 30  # in one line
    watched.leave()


def test_the_repairer_beats_the_network_or_does_not(page):
    ready(page, 10)  # the landscape waits for the models
    ready(page, 7)
    step = page.locator("#step-7")
    dial, map_ = step.locator(".ln-dial output"), step.locator(".ln-map canvas")
    assert step.locator(".ln-covered").count() == 2
    assert dial.inner_text() == "99\N{NO-BREAK SPACE}%"
    mine = step.locator(".ln-of.yours .ln-picture")
    before = mine.get_attribute("style")
    exposure = step.get_by_role("slider", name="Exposure")
    exposure.press("End")
    until(page, lambda: dial.inner_text() not in ("…", "99\N{NO-BREAK SPACE}%"))
    assert mine.get_attribute("style") != before
    needle, other = dial_angle(step, ".needle"), dial_angle(step, "g.net")
    said = step.locator(".ln-say").inner_text()
    assert re.fullmatch(r"Yours is read as .+ \(\d+\s%\): (right|wrong)\.", said)
    assert "The network" not in said
    step.get_by_role("button", name="Show the network's choice").click()
    assert step.locator(".ln-covered").count() == 0
    theirs = step.locator(".ln-dial b.net").inner_text()
    shares = [int(re.search(r"\d+", one)[0]) for one in (dial.inner_text(), theirs)]
    assert (needle < other) == (shares[0] > shares[1])  # both on one dial
    assert "In 27 tries the network chose" in step.locator(".ln-result").inner_text()
    assert (
        "The network's: landscape (70\N{NO-BREAK SPACE}%): right."
        in step.locator(".ln-say").inner_text()
    )
    until(page, lambda: "looks least damaged" in step.locator(".ln-land").inner_text(), 600)
    map_.scroll_into_view_if_needed()
    box = map_.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    assert exposure.get_attribute("aria-valuetext")[1:] == "5.7"
    assert step.get_by_role("slider", name="Sharpness").get_attribute("aria-valuetext") == "2 px"
    step.get_by_role("button", name="Start over").click()
    until(page, lambda: dial.inner_text() == "99\N{NO-BREAK SPACE}%")
    # What is a little less than sure moves the needle visibly, as it moves the landscape's colour.
    start = dial_angle(step, ".needle")
    exposure.fill("38")
    until(page, lambda: dial.inner_text() == "98\N{NO-BREAK SPACE}%")
    until(page, lambda: dial_angle(step, ".needle") > start + 20)


def test_equations_are_drawn_without_a_script(page):
    heights = page.evaluate(
        """() => [...document.querySelectorAll('.ln-step')].map((step) => {
          step.hidden = false;
          step.querySelector('details').open = true;
          return step.querySelector('math').getBoundingClientRect().height;
        })"""
    )
    assert len(heights) == 10
    assert min(heights) > 15


@pytest.mark.parametrize("path", ["", "photo", "board", "findings", "learn"])
def test_the_first_screen_is_there_without_scripts_and_is_what_the_page_then_shows(
    chromium, served, path
):
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(served.url + path)
    said = page.inner_text("#first h1")
    place = page.locator("#first h1").bounding_box()
    page.unroute_all()
    page.goto(served.url + path)
    page.wait_for_selector("#first", state="detached")
    heading = page.locator("#main h1, .ln-step:not([hidden]) h2, #board h1").last
    until(page, lambda: heading.inner_text() == said)
    there = heading.bounding_box()
    assert abs(there["x"] - place["x"]) < 2
    assert abs(there["y"] - place["y"]) < 8
    page.close()


@pytest.mark.parametrize("view", ["", "?atlas=dga"])
def test_choices_of_the_board_are_one_line_and_what_follows_from_them_the_next(
    chromium, served, view
):
    page = chromium.new_page(viewport={"width": 768, "height": 1024})
    page.goto(f"{served.url}board{view}")
    page.wait_for_selector("#board .mark")
    handles = "#board-bar > button, #board-bar .bd-tool:not([hidden]), #board-bar fieldset"
    tops = "all => all.filter(one => one.checkVisibility()).map(one => one.offsetTop)"
    assert len(set(page.eval_on_selector_all(handles, tops))) == 2
    page.close()


def test_an_address_that_asks_for_something_else_opens_without_the_first_words(chromium, served):
    page = chromium.new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(f"{served.url}?run={CASES[1].name}")
    assert page.locator("#first nav").count() == 1
    assert page.locator("#first h1").count() == 0
    page.close()


@pytest.mark.parametrize(
    ("path", "lost", "beside"),
    [
        ("", "**/made/*", ".try .error"),
        ("photo", "**/made/*", ".ph-error"),
        ("learn", "**/made/*", ".ln-step:not([hidden]) .ln-wait"),
    ],
)
def test_what_cannot_be_fetched_becomes_a_sentence(chromium, served, path, lost, beside):
    page, faults = chromium.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.route(lost, lambda route: route.fulfill(status=404, body="gone"))
    page.goto(served.url + path)
    said = "([place, words]) => document.querySelector(place)?.textContent === words"
    page.wait_for_function(said, arg=[beside, GONE], timeout=PATIENCE)
    page.wait_for_timeout(300)
    assert faults == []
    page.close()


def test_leaving_in_mid_run_puts_nothing_into_the_console(chromium, served):
    page, lines = chromium.new_page(), []
    page.on("console", lambda line: line.type == "error" and lines.append(line.text))
    page.on("pageerror", lambda error: lines.append(str(error)))
    page.goto(served.url)
    page.click("#adapt", timeout=PATIENCE)
    page.wait_for_selector("#cancel:not([disabled])", timeout=PATIENCE)
    page.goto(served.url + "learn")
    page.wait_for_timeout(500)
    assert lines == []
    page.close()
