"""Results in a browser: folds, figures, anchors, a phone."""

import re

import pytest

OPEN = "[...document.querySelectorAll('details')].forEach(fold => { fold.open = true })"


def test_figure_is_drawn_when_its_fold_opens(page, served):
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{served.url}results")
    page.wait_for_load_state("networkidle")
    assert not any("plotly" in url for url in requests)
    page.locator("#exhibits > summary").click()
    page.locator("#everyday-severity-5 > summary").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#figure-everyday-severity-5 .main-svg")
    assert page.locator("#table-everyday-severity-5 tbody tr").first.is_visible()
    page.goto(f"{served.url}results#figure-wild")
    page.wait_for_selector("#figure-wild .main-svg")


def test_without_the_library_the_table_is_enough(page, served, watch):
    page.route("**/plotly.js", lambda route: route.abort())
    page.goto(f"{served.url}results#figure-severity-5")
    page.wait_for_selector("p#figure-severity-5")
    assert page.locator("#table-severity-5 tbody tr").first.is_visible()
    watch.complaints.clear()  # the browser notes what failed


def test_a_bar_opens_the_readings_behind_it(page, served):
    page.goto(f"{served.url}results")
    saved = page.inner_text("h1")
    page.get_by_role("radio", name="Everyday damage").click()
    assert page.inner_text("h1") != saved  # it names what is shown
    line = page.locator(".setting:not([hidden]) .chart li", has_text="High ISO")
    gained, lost = re.search(r"(\d+) / (\d+)", line.inner_text()).groups()
    line.get_by_role("button").click()
    page.wait_for_selector("#behind h3")
    titles = page.locator("#behind h3").all_inner_texts()
    assert titles == [f"Became right: {gained}", f"Became wrong: {lost}"]
    assert page.locator("#behind tbody tr").count() == int(gained) + int(lost)
    page.keyboard.press("Escape")
    assert not page.locator("#behind").is_visible()


@pytest.mark.parametrize(
    "anchor", ["table-severity-5", "figure-64-accuracy-depth", "table-224-controls", "credits"]
)
def test_anchors_open_and_show_what_they_name(page, served, anchor):
    page.goto(f"{served.url}results#{anchor}")
    page.wait_for_function(
        "name => { const top = document.getElementById(name).getBoundingClientRect().top;"
        " return top > 0 && top < innerHeight }",
        arg=anchor,
    )
    assert page.locator(f"#{anchor}").is_visible()
    assert page.inner_text(".notice") == ""


@pytest.mark.parametrize(
    "path", ["all-15?photo=nothing", "learn#step-9", "#nothing", "results#no-such-table"]
)
def test_a_link_to_what_is_not_there_says_so(page, served, path):
    page.goto(served.url + path)
    page.locator("[role=status]", has_text=re.split("[=#]", path)[-1]).wait_for()


def test_only_tables_scroll_sideways(page, served):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{served.url}results")
    page.evaluate(OPEN)
    page.wait_for_selector("#figure-severity-5 .main-svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_figures_follow_the_theme(page, served):
    page.emulate_media(color_scheme="light")
    page.goto(f"{served.url}results#figure-severity-5")
    page.wait_for_selector("#figure-severity-5 .main-svg")
    page.emulate_media(color_scheme="dark")
    card = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    page.wait_for_function(
        "color => document.querySelector('.plot .main-svg').style.background.includes(color)",
        arg=", ".join(re.findall(r"\d+", card)),
    )
