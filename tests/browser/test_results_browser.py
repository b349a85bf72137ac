"""Results in a browser: folds, figures, anchors, a phone."""

import json
import re

import numpy as np
import pytest

from dga.io.numbers import MINUS
from dga.lab.evaluation.gain import summarise_gain
from tests.fixtures.results import line

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


def test_ones_own_results_are_what_python_says_of_them(page, served, tmp_path):
    """In this browser alone; without labels right is what is read undamaged."""
    rng = np.random.default_rng(0)
    rows = [
        line(p, kind, method, rng.random() < rate)
        | {"correct": None, "unchanged": False, "psnr": 20.0}
        for method, rate in (("source", 0.3), ("dga-plus-ensemble", 0.7))
        for kind in ("clean", "fog", "snow")
        for p in range(30)
    ]
    undamaged = {r["path"]: r["prediction"] for r in rows[:30]}
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    page.goto(f"{served.url}results")
    page.set_input_files("#own-file", tmp_path / "lines.jsonl")
    page.locator("#own-words:not(:empty)").wait_for()
    labelled = [r | {"correct": r["prediction"] == undamaged[r["path"]]} for r in rows]
    expected = summarise_gain(labelled, has_labels=False).splitlines()[0]
    numbers = [
        re.findall(rf"[+{MINUS}][\d.]+", text)[:3]
        for text in (page.inner_text("#own-words"), expected)
    ]
    ours, theirs = ([float(n.replace(MINUS, "-")) for n in found] for found in numbers)
    assert ours[0] == theirs[0]
    assert np.abs(np.subtract(ours, theirs)).max() < 2.5
    assert page.locator("#own-chart li:not(.heads)").count() == 3


def test_ones_own_diagnoses_are_counted_and_other_files_refused(page, served, tmp_path):
    page.goto(f"{served.url}results")
    found = {"kind": "blur", "sureness": 0.9}
    rows = [{"path": f"{n}", "damaged": n < 3, "findings": [found] * (n < 3)} for n in range(12)]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    page.set_input_files("#own-file", tmp_path / "lines.jsonl")
    page.locator("#own-words", has_text="3 of 12").wait_for()
    assert "25.0 % (8.9 to 53.2, 95 %)" in page.inner_text("#own-words")
    (tmp_path / "other.json").write_text("[1, 2")
    page.set_input_files("#own-file", tmp_path / "other.json")
    page.locator("#own-words", has_text="no lines of gain or diagnose").wait_for()


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
