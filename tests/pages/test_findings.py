"""The page of findings: its reader, its answers, its HTML, and the page in a browser."""

import csv
import json
import re
import socket
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import pandas as pd
import pytest

from app.demo import serve
from app.pages.findings.answers import answers
from app.pages.findings.cards import exhibit_html, table_html, text_html
from app.pages.findings.exhibits import Exhibit, TableContent, inside, read_exhibits, read_table
from app.pages.findings.page import SHOWN, shipped_exhibits
from app.presets.recording import RECORD
from app.runs import links
from app.runs.session import Session
from dga.analysis.tables.table import DASH, MINUS
from dga.analysis.tables.table import Table as WrittenTable
from dga.io.shipped import shipped
from dga.profiles import get_profile
from dga.titles import SPLITS
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
    assert (table.commands, table.problems) == (tuple(COMMANDS), ())
    assert f'src="gradio_api/file={figure.downloads["png"]}"' in exhibit_html(figure)
    files = ["table-1.md", "table-1.csv", "depths.png", "depths.json"]
    assert [path.name for path in read_exhibits(folder).files()] == files


def test_reads_what_the_library_writes(tmp_path):
    shown = pd.DataFrame({"Method": ["DGA", "*DGA, paper*"], "Mean": [f"1.0 (0.5{DASH}1.5)", DASH]})
    paths = WrittenTable("t", "T", "Caption.", shown, shown, ()).write(tmp_path)
    table = read_table(paths["md"])
    assert table.columns == tuple(shown.columns)
    assert [list(row) for row in table.rows] == shown.to_numpy().tolist()


def test_an_exhibit_knows_its_severities(tmp_path):
    names = ("depths", "gains", "gains-severity-3", "depths-severity-3")
    found = read_exhibits(write(tmp_path, [entry("figure", name) for name in names]))
    assert [e.severity for e in found.exhibits] == [5, 5, 3, 3]
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
    ],
)
def test_a_damaged_file_becomes_a_sentence(folder, name, text):
    (folder / name).write_text(text)
    exhibit = only(folder, "table")
    assert exhibit.content is None
    assert exhibit.problems == (f"{Path(name).name} is damaged.",)
    assert f"{Path(name).name} is damaged." in text_html(exhibit)


def test_a_missing_file_becomes_a_sentence(folder):
    (folder / "tables/table-1.csv").unlink()
    (folder / "figures/depths.json").unlink()
    table, figure = only(folder, "table"), only(folder, "figure")
    assert table.content is not None
    assert table.problems == ("tables/table-1.csv is missing.",)
    assert list(figure.downloads) == ["png"]
    assert ">CSV<" not in text_html(table)
    (folder / "figures/depths.png").unlink()
    assert "<img" not in exhibit_html(only(folder, "figure"))


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
    assert found.missing == (
        ("table-1", "no run of memo"),
        ("table-3", "no run at other taus"),
    )


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
    exhibit = Exhibit("table", "t", bad, bad, (bad,), None, problems=(bad,))
    assert "<img" not in exhibit_html(exhibit)


def interval(name, value, low, high):
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def measured(folder, **tables):
    """Results whose tables hold these numbers; a name's underscores stand for hyphens."""
    named = {name.replace("_", "-"): rows for name, rows in tables.items()}
    write(folder, [entry("table", name) for name in named])
    for name, rows in named.items():
        with (folder / f"tables/{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return read_exhibits(folder)


def said(exhibits, question, severity=5):
    answer = next(a for a in answers(exhibits, severity) if a.question == question)
    return " ".join([answer.sentence, *answer.more])


def table_1(*rows):
    return [
        {"method": name, **interval("accuracy", 40, 35, 45), **gain, "seconds": seconds}
        for name, gain, seconds in rows
    ]


NO_GAIN = interval("minus_source", "", "", "")


@pytest.mark.parametrize(
    ("gain", "sentence"),
    [
        ((4.84, 3.1, 6.6), "Yes: of 100 damaged pictures DGA+ has 40 read right, 4.8 more than"),
        ((-2, -3, -0.5), "No: of 100 damaged pictures DGA+ has 40 read right, 2.0 fewer than"),
        ((1.6, -0.5, 3.8), "Not decided: DGA+ and doing nothing differ by 1.6 in 100"),
    ],
)
def test_whether_it_helps_is_decided_by_the_interval(tmp_path, gain, sentence):
    rows = table_1(
        ("source", NO_GAIN, 0.01),
        ("dga-guided", interval("minus_source", 1, -1, 3), 0.37),
        ("dga-plus", interval("minus_source", *gain), 0.186),
    )
    rivals = [
        {"method": "dga-plus", "rival": "tent", "group": "mean", **interval("points", -9, -12, -6)},
        {"method": "dga-plus", "rival": "dda", "group": "mean", **interval("points", 9, 6, 12)},
    ]
    rivals += [
        {"method": "dga-plus", "rival": "source", "group": group, **interval("points", *found)}
        for group, found in (("fog", (-5, -9, -1)), ("snow", (-5, -9, 1)), ("noise", (-5, -9, -1)))
    ]
    exhibits = measured(tmp_path, table_1=rows, comparisons=rivals)
    told = said(exhibits, "help").replace("\N{NO-BREAK SPACE}", " ")
    assert told.startswith(sentence)
    assert f"DGA + G: +1.0 ({MINUS}1.0 to +3.0)." in told
    assert "Tent is ahead by 9.0 points (6.0 to 12.0), but it changes the classifier" in told
    assert "DDA is ahead" not in told
    assert told.endswith(f"It does harm on fog ({MINUS}5.0).")
    cost = said(exhibits, "cost").replace("\N{NO-BREAK SPACE}", " ")
    assert cost.startswith("0.19 seconds a picture for DGA+, 0.37 for DGA + G; choosing")


def test_whether_the_depth_is_per_picture_is_told_by_where(tmp_path):
    def dealt(what, group, *found):
        rival = f"dga-plus:permute={what}:batch=200"
        return {
            "method": "dga-plus", "rival": rival, "group": group, **interval("points", *found)
        }  # fmt: skip

    wild = [dealt("explanation", "all", 20, 14, 26), dealt("noise", "all", 5.1, 1.6, 8.6)]
    same = [dealt("noise", "mean", 0.3, -0.3, 0.9), dealt("explanation", "mean", 2, 1, 3)]
    half = said(measured(tmp_path / "a", wild_permuted=wild), "depth")
    assert half.startswith("In part: DGA+ loses 5.1 points with another picture's noise level")
    assert "; not measured where all are damaged alike. " in half
    assert half.endswith("Not measured for DGA\N{NO-BREAK SPACE}+\N{NO-BREAK SPACE}G.")
    both = said(measured(tmp_path / "b", wild_permuted=wild, permuted=same), "depth")
    assert both.startswith("In part: DGA+ loses 5.1 points")
    assert (
        "nothing beyond chance (+0.3 points) with another picture's noise level where all are"
        in both
    )
    alike = said(measured(tmp_path / "c", permuted=same), "depth")
    assert alike.startswith("Not decided: DGA+ loses nothing beyond chance (+0.3 points)")
    assert "; not measured where all kinds and severities of damage are mixed." in alike
    chance = [dealt("noise", "all", 0.1, -3, 3)]
    neither = measured(tmp_path / "e", wild_permuted=chance, permuted=same)
    assert said(neither, "depth").startswith("Hardly: ")
    paid = [dealt("noise", "mean", 4, 2, 6)]
    everywhere = measured(tmp_path / "f", wild_permuted=wild, permuted=paid)
    assert said(everywhere, "depth").startswith("Yes: ")
    exhibits = measured(tmp_path / "d", permuted=same[1:])  # an explanation is no depth
    assert said(exhibits, "depth").startswith("Not measured yet")


def test_shipped_exhibits_have_the_words_of_the_code():
    exhibits = read_exhibits(shipped_exhibits(get_profile("everyday16")))
    assert exhibits.table("table-1").title.endswith(f" 128 photographs {SPLITS['report']}")
    assert exhibits.table("table-1").content.columns[2:4] == (
        "Gain over doing nothing", "Undamaged (%)",
    )  # fmt: skip
    for exhibit in exhibits.exhibits:
        shown = " ".join(path.read_text("utf-8") for path in exhibit.downloads.values()
                         if path.suffix == ".json")  # fmt: skip
        shown += exhibit_html(exhibit)
        for old in ("Source only", "inus source", "(report)", "report split", "Clean (%)",
                    ">report<", "Adaptive minus"):  # fmt: skip
            assert old not in shown, (exhibit.name, old)


def test_what_is_missing_at_one_severity_makes_no_yes_of_a_no():
    exhibits = read_exhibits(shipped_exhibits(get_profile("everyday16")))
    assert exhibits.table("permuted-severity-3") is None
    told = [said(exhibits, "depth", severity) for severity in exhibits.severities()]
    assert told == [told[0]] * 2
    assert told[0].startswith("In part: ")
    assert "where all are damaged alike, at severity 5" in told[0]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((-0.2, -0.9, 0.5), f"Yes: 95 of 100 come back exactly as they were, and accuracy moves "
         f"by {MINUS}0.2 points."),
        ((-0.6, -1.4, 0.1), "a loss of 1.4 cannot be ruled out"),
        ((-2, -3, -1), "No: DGA+ costs 2.0 points"),
    ],
)  # fmt: skip
def test_clean_pictures(tmp_path, found, words):
    rows = [{"method": "dga-plus", **interval("minus_source", *found), "unchanged": 94.77}]
    assert words in said(measured(tmp_path, clean=rows), "clean")


@pytest.mark.parametrize(("blur", "words"), [(60, "Mostly what was done"), (20, "Only in part")])
def test_what_was_found(tmp_path, blur, words):
    kinds = {"exposure": 0, "sharpness": 0, "noise": 0, "nothing": 0}
    rows = [
        {"group": "noise", **kinds, "noise": 99.7},
        {"group": "blur", **kinds, "sharpness": blur},
        {"group": "clean", **kinds, "nothing": 100},
    ]
    told = said(measured(tmp_path, explanations=rows), "found")
    assert told.startswith(words)
    assert f"noise in 99 of 100 noisy pictures, lost sharpness in {blur} of 100" in told
    assert told.endswith("nothing in 100 of 100 undamaged ones.")


def test_what_was_not_measured_is_said(tmp_path):
    exhibits = measured(tmp_path, table_9=[{"method": "x"}])
    for answer in answers(exhibits, 5):
        assert answer.sentence.startswith("Not measured yet for these models: the table")
        assert answer.chart == ""


def test_damaged_numbers_are_said_and_stop_nothing(tmp_path):
    odd = [{"method": "x", "rival": "dga-plus:permute=noise", "group": "mean"}]
    odd[0] |= interval("points", 1, 0, 2)
    other = [{"name": "x"}]
    exhibits = measured(
        tmp_path, table_1=other, permuted=odd, explanations=[{"group": "blur"}], clean=other
    )
    for answer in answers(exhibits, 5):
        assert answer.sentence == "The tables that would answer this are damaged."


def test_shipped_results_are_answered_at_every_severity():
    exhibits = read_exhibits(shipped_exhibits(get_profile("everyday16")))
    assert exhibits.problem == ""
    for severity in exhibits.severities():
        assert [a.question for a in answers(exhibits, severity)] == [
            "help", "depth", "found", "clean", "cost",
        ]  # fmt: skip


@pytest.mark.parametrize("question", [name for name in SHOWN if name != "clean"])
def test_recorded_runs_show_what_their_links_say(question):
    folder = shipped("assets/presets") / "everyday16" / SHOWN[question].removeprefix("run=")
    run = json.loads((folder / RECORD).read_text("utf-8"))
    plus, stop = run["systems"]["dga-plus"], run["search"]["stop"]
    best = plus["prediction"]["labels"][0]
    mended = run["run"]["input_prediction"]["labels"][0] != run["clean"]["labels"][0] == best
    assert {
        "help": mended,
        "depth": stop["crossed"] and stop["t_star"] > 0,
        "found": plus["search"]["found"]["degradation"]["exposure"]["gain"] > 1 and mended,
        "cost": mended,
    }[question]


def test_the_undamaged_picture_is_opened_undamaged():
    query = {name: value for name, (value,) in parse_qs(SHOWN["clean"]).items()}
    profile = get_profile("everyday16")
    opening = links.opening_values(profile) | {"image": "lion"}
    link = links.parse(query, profile, ("cat", "lion"), opening)
    assert (link.image, link.settings.corruption, link.notices) == ("cat", None, ())


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
    return page.locator(".ex[open]:visible").first.locator("tbody th").all_inner_texts()


def test_the_page_on_a_phone(open_page, address, results):
    page = open_page(f"{address}findings", 390, "dark")
    page.locator("#all > summary").click()
    page.locator("#table-table-1 > summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    header = page.locator("#table-table-1").get_by_role("button", name="Accuracy (%)")
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
        page.locator("#table-table-1").get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "table-1.csv"
    written = (results / "tables" / "table-1.csv").read_bytes()
    assert Path(download.value.path()).read_bytes() == written

    page.get_by_role("radio", name="3").check()
    assert page.locator("#table-table-1").is_hidden()
    assert page.locator("#table-table-1-severity-3").is_visible()
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("body:not(.dark)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_five_answers_fit_and_lead_to_their_tables(open_page, start):
    page = open_page(f"{start(shipped_exhibits(get_profile('everyday16')))}findings", 1440, "light")
    page.wait_for_selector("#cost .fi-answer")
    intro = page.inner_text(".fi-top .lead")  # of several severities, with photographs of their own
    assert "how many photographs" in intro
    assert not re.search(r"\d", intro)
    assert page.locator("section.fi-card h2 i").count() == 5
    assert page.evaluate("document.documentElement.scrollHeight") <= 5000
    page.locator("#help").get_by_role("link", name="The whole table").first.click()
    assert page.url.endswith("/findings#table-table-1")
    assert page.locator("#table-table-1 tbody tr").first.is_visible()
    figure = page.locator("#figure-gains .ex-figure")
    assert figure.evaluate("img => img.naturalWidth") == 0  # folded: not asked for
    page.locator("#figure-gains > summary").click()
    figure.scroll_into_view_if_needed()
    page.wait_for_function("img => img.naturalWidth > 0", arg=figure.element_handle())


def test_without_results_the_page_says_how_to_make_them(open_page, start, tmp_path):
    page = open_page(f"{start(tmp_path / 'nowhere')}findings", 390, "light")
    assert page.inner_text("h1") == "There are no results for tiny yet."
    assert "python -m dga figures runs --out" in page.inner_text("pre")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
