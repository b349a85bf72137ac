"""The page of tables and figures: its reader, its HTML, and the page in a browser."""

import json
import socket
from pathlib import Path

import httpx
import pandas as pd
import pytest

from app.demo import serve
from app.pages.analysis.cards import table_html, text_html, title_html
from app.pages.analysis.exhibits import (
    Exhibit,
    FigureContent,
    TableContent,
    inside,
    read_exhibits,
    read_table,
)
from app.pages.analysis.page import plot_data, sections
from app.runs.session import Session
from dga.analysis.tables.table import DASH, MINUS
from dga.analysis.tables.table import Table as WrittenTable
from tests.fixtures.browser import chromium  # noqa: F401  # fixture

HEAD = "| Method | Accuracy (%) | Note |\n| --- | --- | --- |\n"
ROWS = f"| Source only | 25.8 (23.6{DASH}27.9) | b |\n| *DGA, paper* | 36 | a |\n"
ROWS += f"| DGA | {DASH} | c |\n| Tent | {MINUS}3.5 ({MINUS}4.1 to +0.2) | <i>d</i> |\n"
FIGURE = {"data": [{"type": "scatter", "x": [0, 1], "y": [1, 2]}], "layout": {"height": 300}}
COMMANDS = ["python -m dga evaluate --out runs/a", "python -m dga evaluate --out runs/b"]


def entry(kind, name, **changes):
    endings = ("md", "csv") if kind == "table" else ("png", "json")
    files = {ending: f"{kind}s/{name}.{ending}" for ending in endings}
    title = f"{name.capitalize()}, 8 photographs"
    made = {"kind": kind, "name": name, "title": title, "caption": f"About {name}."}
    return made | {"files": files, "commands": COMMANDS} | changes


def write(folder, entries, missing=()):
    """The files of each entry, and the index."""
    for made in entries:
        for ending, name in made["files"].items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = {"md": f"### T\n\n{HEAD}{ROWS}\nAbout.\n", "json": json.dumps(FIGURE)}
            path.write_text(text.get(ending, f"{ending} of {made['name']}\n"), "utf-8")
    index = {"exhibits": entries, "missing": list(missing)}
    (folder / "index.json").write_text(json.dumps(index), "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "exhibits", [entry("table", "table-1"), entry("figure", "depths")])


def only(folder, kind):
    return next(e for e in read_exhibits(folder).exhibits if e.kind == kind)


def test_reads_tables_and_figures(folder):
    table, figure = read_exhibits(folder).exhibits
    assert table.content.columns == ("Method", "Accuracy (%)", "Note")
    assert table.content.rows[1] == ("*DGA, paper*", "36", "a")
    assert figure.content == FigureContent(json.dumps(FIGURE), 300)
    assert (table.commands, table.problems) == (tuple(COMMANDS), ())
    files = ["table-1.md", "table-1.csv", "depths.json", "depths.png"]
    assert [path.name for path in read_exhibits(folder).files()] == files


def test_reads_what_the_library_writes(tmp_path):
    shown = pd.DataFrame({"Method": ["DGA", "*DGA, paper*"], "Mean": [f"1.0 (0.5{DASH}1.5)", DASH]})
    paths = WrittenTable("t", "T", "Caption.", shown, shown, ()).write(tmp_path)
    table = read_table(paths["md"])
    assert table.columns == tuple(shown.columns)
    assert [list(row) for row in table.rows] == shown.to_numpy().tolist()


def test_variants_by_severity_stand_together(tmp_path):
    names = ("depths", "gains", "gains-severity-3", "depths-severity-3")
    found = read_exhibits(write(tmp_path, [entry("figure", name) for name in names]))
    ordered = [(e.name, e.severity) for e in found.exhibits]
    assert ordered == [
        ("depths", 5),
        ("depths-severity-3", 3),
        ("gains", 5),
        ("gains-severity-3", 3),
    ]
    assert found.severities() == (3, 5)
    assert found.variants(found.exhibits[0]) == (3, 5)


def test_one_severity_leaves_no_choice(tmp_path):
    entries = [entry("table", "a"), entry("table", "b-severity-3")]
    assert read_exhibits(write(tmp_path, entries)).severities() == ()


def test_no_results_are_no_problem(tmp_path):
    found = read_exhibits(tmp_path / "nowhere")
    assert (found.exhibits, found.problem) == ((), "")


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"missing": []}', "\x00", "[" * 9999])
def test_a_damaged_index_is_said(tmp_path, text):
    (tmp_path / "index.json").write_text(text)
    found = read_exhibits(tmp_path)
    assert (found.exhibits, found.problem) == ((), "index.json is damaged.")


def test_entries_that_make_no_sense_are_counted(tmp_path):
    good = entry("table", "good")
    write(tmp_path, [good])
    bad = [7, None, {}, good, good | {"kind": "song"}, good | {"name": "../x"}, good | {"name": 1}]
    (tmp_path / "index.json").write_text(json.dumps({"exhibits": [good, *bad]}))
    found = read_exhibits(tmp_path)
    assert [exhibit.name for exhibit in found.exhibits] == ["good"]
    assert found.problem == "7 of the 8 entries of index.json could not be read."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tables/table-1.md", "no table here"),
        ("tables/table-1.md", HEAD),
        ("tables/table-1.md", HEAD + "| too | short |\n"),
        ("tables/table-1.md", "| a |\n| b |\n| c |\n"),
        ("figures/depths.json", "{"),
        ("figures/depths.json", "[]"),
        ("figures/depths.json", '{"data": 3}'),
        ("figures/depths.json", '{"data": [], "layout": 3}'),
        ("figures/depths.json", '{"data": [NaN]}'),
    ],
)
def test_a_damaged_file_becomes_a_sentence(folder, name, text):
    (folder / name).write_text(text)
    exhibit = only(folder, "table" if name.endswith("md") else "figure")
    assert exhibit.content is None
    assert exhibit.problems == (f"{Path(name).name} is damaged.",)
    assert f"{Path(name).name} is damaged." in text_html(exhibit)


def test_a_missing_file_becomes_a_sentence(folder):
    (folder / "tables/table-1.csv").unlink()
    (folder / "figures/depths.json").unlink()
    table, figure = only(folder, "table"), only(folder, "figure")
    assert table.content is not None
    assert table.problems == ("tables/table-1.csv is missing.",)
    assert (figure.content, list(figure.downloads)) == (None, ["png"])
    assert ">Markdown<" in text_html(table)
    assert ">CSV<" not in text_html(table)


@pytest.mark.parametrize(
    "name",
    ["../secret.md", "tables/../../secret.md", "link.md", "tables/table-1.csv", "\0.md", 3, None],
)
def test_only_files_inside_the_folder_are_opened(folder, name):
    (folder.parent / "secret.md").write_text(HEAD + ROWS)
    (folder / "link.md").symlink_to(folder.parent / "secret.md")
    absolute = str(folder.parent / "secret.md")
    for asked in (name, absolute):
        with pytest.raises(ValueError, match=r"inside the results|names no"):
            inside(folder, asked, "md")
    write(folder, [entry("figure", "depths")])
    escaping = entry("table", "t", files={"md": name, "csv": absolute})
    (folder / "index.json").write_text(json.dumps({"exhibits": [escaping]}))
    exhibit = only(folder, "table")
    assert (exhibit.content, dict(exhibit.downloads)) == (None, {})
    assert len(exhibit.problems) == 2


def test_what_was_not_run_is_told(tmp_path):
    reasons = [
        {"name": "table-1", "reason": "no run of memo"},
        {"name": "table-3", "reason": "no run at other taus"},
    ]
    found = read_exhibits(write(tmp_path, [entry("table", "table-1")], reasons))
    assert "Not in it: no run of memo." in text_html(found.exhibits[0])
    assert found.missing == (("table-3", "no run at other taus"),)


def test_tables_as_html():
    cells = ("<b>x</b>", "+4.8 (+3.2 to +6.4)", DASH)
    html = table_html(TableContent(("Name", "Gain", "All"), (cells, ("*y*", DASH, DASH))), "A & B")
    assert "A &amp; B" in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    assert '<td class="n">+4.8 <small>(+3.2 to +6.4)</small></td>' in html
    assert html.count('class="n"') == 3  # the header and cells of the one column of numbers
    assert '<tr class="paper"><th scope="row">y</th>' in html


def test_words_of_the_index_are_escaped():
    bad = "<img src=x onerror=alert(1)>"
    exhibit = Exhibit("table", "t", bad, bad, (bad,), None, problems=(bad,), missing=(bad,))
    assert "<img" not in title_html(exhibit) + text_html(exhibit)


def test_sections_take_every_exhibit_once(tmp_path):
    names = ["table-2-noise", "depths-f1", "unheard-of", "accuracy-time", "accuracy-depth"]
    exhibits = read_exhibits(write(tmp_path, [entry("figure", name) for name in names])).exhibits
    found = {s.anchor: [e.name for e in s.exhibits] for s in sections(exhibits)}
    assert found == {
        "does-it-help": ["table-2-noise"],
        "where-does-it-stop": ["depths-f1"],
        "per-picture": ["accuracy-depth"],
        "cost": ["accuracy-time"],
        "more": ["unheard-of"],
    }


def test_a_finger_scrolls_over_figures():
    by_touch = json.loads(plot_data(FigureContent(json.dumps(FIGURE), 300), touch=True).plot)
    by_mouse = json.loads(plot_data(FigureContent(json.dumps(FIGURE), 300), touch=False).plot)
    assert by_touch["data"] == FIGURE["data"]
    assert (by_touch["layout"]["dragmode"], by_mouse["layout"]["dragmode"]) == (False, "zoom")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    names = ("table-1", "table-1-severity-3")
    entries = [entry("table", name) for name in names]
    entries += [entry("table", f"table-2-{i}") for i in range(4)]  # pushes the figure down
    entries.append(entry("figure", "depths"))
    return write(tmp_path_factory.mktemp("results"), entries)


@pytest.fixture(scope="module")
def start(tiny_models):
    """Serves a folder of results; returns the address of the pages."""
    demos = []

    def begin(folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        demos.append(serve(Session(tiny_models), "127.0.0.1", port, block=False, results=folder))
        return f"http://127.0.0.1:{port}/"

    yield begin
    for demo in demos:
        demo.close(verbose=False)


@pytest.fixture(scope="module")
def address(start, results):
    return start(results)


def test_the_page_sends_no_figure_before_it_is_looked_at(address):
    page = httpx.get(f"{address}analysis").text
    assert "Table-1" in page
    assert "scatter" not in page


def test_only_what_the_index_names_is_served(address, results):
    (results / "tables" / "other.csv").write_text("1\n")
    files = f"{address}gradio_api/file="
    assert httpx.get(f"{files}{results / 'tables/table-1.csv'}").content == b"csv of table-1\n"
    for name in ("tables/other.csv", "index.json", "tables/../index.json"):
        assert httpx.get(f"{files}{results / name}").status_code == 403


@pytest.fixture
def open_page(chromium):  # noqa: F811
    """Opens a page; in the end none has complained, and none has asked anyone else."""
    contexts, complaints, requests = [], [], []

    def begin(url, width, theme):
        context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.goto(url)
        page.wait_for_selector("h1")
        return page

    yield begin
    for context in contexts:
        context.close()
    assert complaints == []
    own = ("http://127.0.0.1:", "data:", "blob:")
    assert [url for url in requests if not url.startswith(own)] == []


def first_column(page):
    return page.locator(".exhibit:visible").first.locator("tbody th").all_inner_texts()


def test_the_page_on_a_phone(open_page, address, results):
    page = open_page(f"{address}analysis", 390, "dark")
    page.wait_for_selector(".exhibit")
    assert page.locator(".js-plotly-plot").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    header = page.get_by_role("button", name="Accuracy (%)").first
    as_written = ["Source only", "DGA, paper", "DGA", "Tent"]
    assert first_column(page) == as_written
    for order, names in [
        ("descending", ["DGA, paper", "Source only", "Tent", "DGA"]),
        ("ascending", ["Tent", "Source only", "DGA, paper", "DGA"]),
        (None, as_written),
    ]:
        header.press("Enter")
        assert header.locator("..").get_attribute("aria-sort") == order
        assert first_column(page) == names

    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()
    assert download.value.suggested_filename == "table-1.csv"
    written = (results / "tables" / "table-1.csv").read_bytes()
    assert Path(download.value.path()).read_bytes() == written

    page.get_by_role("radio", name="3").check()
    assert page.locator(".ex-title:visible h3").first.inner_text() == "Table-1-severity-3"
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("body:not(.dark)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_figures_are_drawn_when_they_come_near(open_page, address):
    page = open_page(f"{address}analysis?tab=1", 1440, "light")
    page.wait_for_selector(".exhibit")
    page.get_by_role("link", name="Where does it stop?").click()
    assert page.url == f"{address}analysis?tab=1#where-does-it-stop"
    page.wait_for_selector("#figure-depths .js-plotly-plot .scatterlayer path")
    assert page.get_by_role("figure", name="Depths, 8 photographs").count() == 1
    page.locator(".with-figure summary").click()
    lines = page.locator(".with-figure code").all_inner_texts()
    assert [line.strip() for line in lines] == COMMANDS
    page.get_by_role("link", name="Adapt").click()
    page.wait_for_selector("#adapt")


def test_without_results_the_page_says_how_to_make_them(open_page, start, tmp_path):
    page = open_page(f"{start(tmp_path / 'nowhere')}analysis", 390, "light")
    assert page.inner_text("h1") == "There are no results for tiny yet."
    assert "python -m dga figures runs --out" in page.inner_text("pre")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
