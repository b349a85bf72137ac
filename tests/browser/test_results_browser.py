"""Results in a browser: folds, readings, anchors, a phone."""

import re

import pytest

from dga.io.numbers import MINUS

OPEN = "[...document.querySelectorAll('details')].forEach(fold => { fold.open = true })"


def test_a_bar_opens_the_readings_behind_it(page, served):
    page.goto(f"{served.url}results")
    page.get_by_role("radio", name="Everyday, 5 of 5").click()
    line = page.locator(".setting:not([hidden]) .chart li", has_text="High ISO")
    gained, lost = re.search(rf"\+(\d+) {MINUS}(\d+)", line.inner_text()).groups()
    line.get_by_role("button").click()
    page.wait_for_selector("#behind h3")
    titles = page.locator("#behind h3").all_inner_texts()
    assert titles == [f"Became right: {gained}", f"Became wrong: {lost}"]
    assert page.locator("#behind tbody tr").count() == int(gained) + int(lost)
    page.keyboard.press("Escape")
    assert not page.locator("#behind").is_visible()


@pytest.mark.parametrize(
    "anchor",
    ["table-severity-5", "figure-64-accuracy-depth", "table-224-controls", "credits"],
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


def test_an_unknown_anchor_is_said(page, served):
    page.goto(f"{served.url}results#no-such-table")
    page.wait_for_function("() => document.querySelector('.notice').textContent")
    assert "no-such-table" in page.inner_text(".notice")
    assert page.evaluate("scrollY") == 0
    page.click(".links a >> nth=0")
    page.wait_for_function("() => !document.querySelector('.notice').textContent")


@pytest.mark.parametrize("path", ["all-15?photo=nothing", "learn#step-9", "#nothing"])
def test_a_link_to_what_is_not_there_says_so(page, served, path):
    page.goto(served.url + path)
    page.locator("[role=status]", has_text=re.split("[=#]", path)[-1]).wait_for()


def test_only_tables_scroll_sideways(page, served):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{served.url}results")
    page.evaluate(OPEN)
    assert page.locator("#table-severity-5 tbody tr").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
