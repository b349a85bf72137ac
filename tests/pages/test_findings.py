"""The page of findings: its reader, its answers, its HTML, and the page in a browser."""

import csv
import json
import re
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import pandas as pd
import pytest

from app.demo import serve
from app.pages.findings.answers import answers
from app.pages.findings.charts import whole_shares
from app.pages.findings.exhibits import Exhibit, TableContent, inside, read_exhibits, read_table
from app.pages.findings.page import plotly_script, shipped_exhibits
from app.pages.findings.shown import shown
from app.parts.html import rendered
from app.presets.cases import CASES
from app.presets.recording import RECORD
from app.runs import links
from app.runs.session import Session
from app.words.findings import FINDINGS_WORDS, KINDS, QUESTIONS
from dga.analysis.tables.table import DASH, MINUS
from dga.analysis.tables.table import Table as WrittenTable
from dga.figures.palette import NEUTRAL
from dga.io.shipped import shipped
from dga.profiles import get_profile
from dga.titles import SPLITS
from tests.fixtures.address import free_port
from tests.fixtures.browser import Watch

HEAD = "| Method | Accuracy (%) | Note |\n| --- | --- | --- |\n"
ROWS = f"| Source only | 25.8 (23.6{DASH}27.9) | b |\n| *DGA, paper* | 36 | a |\n"
ROWS += f"| DGA | {DASH} | c |\n| Tent | {MINUS}3.5 ({MINUS}4.1 to +0.2) | <i>d</i> |\n"
FIGURE = {
    "data": [{"type": "scatter", "x": [0, 1], "y": [1, -2]}],
    "layout": {"height": 300, "font": {"color": NEUTRAL}, "yaxis": {"title": {"text": "dB"}}},
}
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


def html(exhibit):
    return rendered("findings/exhibit", exhibit=exhibit, words=FINDINGS_WORDS)


def test_reads_tables_and_figures(folder):
    table, figure = read_exhibits(folder).exhibits
    assert table.content.columns == ("Method", "Accuracy (%)", "Note")
    assert table.content.rows[1] == ("*DGA, paper*", "36", "a")
    assert (table.commands, table.problems) == (tuple(COMMANDS), ())
    drawn, fallback = html(figure).split("<template>")
    assert f'data-figure="gradio_api/file={figure.downloads["json"]}"' in drawn
    assert "height:300px" in drawn
    assert f'src="gradio_api/file={figure.downloads["png"]}"' in fallback
    files = ["table-1.md", "table-1.csv", "depths.png", "depths.json"]
    assert [path.name for path in read_exhibits(folder).files()] == files


def test_reads_what_the_library_writes(tmp_path):
    shown = pd.DataFrame({"Method": ["DGA", "*DGA, paper*"], "Mean": [f"1.0 (0.5{DASH}1.5)", DASH]})
    paths = WrittenTable("t", "T", "Caption.", shown, shown, ()).write(tmp_path)
    table = read_table(paths["md"])
    assert table.columns == tuple(shown.columns)
    assert [list(row) for row in table.rows] == shown.to_numpy().tolist()


def test_severities_are_those_that_an_exhibit_has_two_of(tmp_path):
    names = ("depths", "gains", "gains-severity-3", "depths-severity-3")
    found = read_exhibits(write(tmp_path, [entry("figure", name) for name in names]))
    assert [e.severity for e in found.exhibits] == [5, 5, 3, 3]
    assert found.severities() == found.variants(found.exhibits[0]) == (3, 5)
    entries = [entry("table", "a"), entry("table", "b-severity-3")]
    found = read_exhibits(write(tmp_path, [*entries, entry("table", "a-severity-3")]))
    assert [len(found.listed(severity)) for severity in found.severities()] == [2, 2]
    assert read_exhibits(write(tmp_path, entries)).severities() == ()


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"missing": []}', "\x00", "[" * 9999])
def test_a_damaged_index_is_said_and_none_is_no_problem(tmp_path, text):
    assert read_exhibits(tmp_path).problem == ""
    (tmp_path / "index.json").write_text(text)
    found = read_exhibits(tmp_path)
    assert (found.exhibits, found.problem) == ((), "index.json is damaged.")


GOOD = entry("table", "good")
ODD = ({"kind": "song"}, {"name": "../x"}, {"name": 1}, {"files": 7})


@pytest.mark.parametrize("odd", [7, None, {}, *(GOOD | change for change in ODD)])
def test_an_entry_that_makes_no_sense_damages_the_index(tmp_path, odd):
    write(tmp_path, [GOOD])
    assert [exhibit.name for exhibit in read_exhibits(tmp_path).exhibits] == ["good"]
    (tmp_path / "index.json").write_text(json.dumps({"exhibits": [GOOD, odd]}))
    found = read_exhibits(tmp_path)
    assert (found.exhibits, found.problem) == ((), "index.json is damaged.")


@pytest.mark.parametrize(
    "text", ["no table here", HEAD, HEAD + "| too | short |\n", "| a |\n| b |\n| c |\n"]
)
def test_a_damaged_table_becomes_a_sentence(folder, text):
    (folder / "tables/table-1.md").write_text(text)
    exhibit = only(folder, "table")
    assert (exhibit.content, exhibit.problems) == (None, ("table-1.md is damaged.",))
    assert "table-1.md is damaged." in html(exhibit)


@pytest.mark.parametrize("text", ["", "[]", '{"layout": {}}', '{"layout": {"height": "x"}}'])
def test_a_figure_that_cannot_be_drawn_stays_a_picture(folder, text):
    (folder / "figures/depths.json").write_text(text)
    figure = only(folder, "figure")
    assert figure.problems == ("depths.json is damaged.",)
    assert "<img" in html(figure)
    assert "<template" not in html(figure)


def test_a_missing_file_becomes_a_sentence(folder):
    for name in ("tables/table-1.csv", "figures/depths.json", "figures/depths.png"):
        (folder / name).unlink()
    table, figure = only(folder, "table"), only(folder, "figure")
    assert table.content is not None
    assert table.problems == ("tables/table-1.csv is missing.",)
    assert ">CSV<" not in html(table)
    assert "<img" not in html(figure)


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
    reason = {"name": "table-3", "reason": "no run at other taus"}
    assert read_exhibits(write(tmp_path, [], [reason])).missing == (tuple(reason.values()),)


def test_tables_as_html():
    cells = ("<b>x</b>", "+4.8 (+3.2 to +6.4)", DASH)
    table = TableContent(("Name", "Gain", "All"), (cells, ("*y*", DASH, DASH)))
    drawn = html(Exhibit("table", "table-2-a", "A & B, on 3", "<i>", ("<i>",), table))
    assert ">A &amp; B <small>On 3 · table</small>" in drawn
    assert "&lt;b&gt;x&lt;/b&gt;" in drawn
    assert "<i>" not in drawn
    assert '<td class="n">+4.8 <small>(+3.2 to +6.4)</small></td>' in drawn
    assert drawn.count('class="n"') == 3  # the header and cells of the one column of numbers
    assert '<th scope=row class="">y</th>' in drawn.partition('<tr class="paper">')[2]


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
    assert len(answer.sentence.split(" ")) <= 20, answer.sentence
    return " ".join([answer.sentence, *answer.more]).replace("\N{NO-BREAK SPACE}", " ")


def points(rival, group, *found):
    return {"method": "dga-plus", "rival": rival, "group": group, **interval("points", *found)}


@pytest.mark.parametrize(
    ("gain", "sentence"),
    [
        (
            (4.84, 3.1, 6.6),
            "Yes: with diagnosis, 40 of 100 damaged pictures are read right, 4.8 more than",
        ),
        (
            (-2, -3, -0.5),
            "No: with diagnosis, 40 of 100 damaged pictures are read right, 2.0 fewer than",
        ),
        ((1.6, -0.5, 3.8), "Not decided: diagnosis and doing nothing differ by 1.6 in 100"),
    ],
)
def test_whether_it_helps_is_decided_by_the_interval(tmp_path, gain, sentence):
    rows = [
        {"method": name, **interval("accuracy", 40, 35, 45), **interval("minus_source", *found)}
        | {"seconds": seconds}
        for name, found, seconds in (
            ("source", ("", "", ""), 0.01), ("dga-guided", (1, -1, 3), 0.37),
            ("dga-plus", gain, 0.186),
        )
    ]  # fmt: skip
    rivals = [points(name, "mean", -9, -12, -6) for name in ("tent", "dga-plus+tent")]
    rivals += [points("dda", "mean", 9, 6, 12)]
    rivals += [points("source", group, -5, -9, high) for group, high in (("fog", -1), ("snow", 1))]
    rivals.append(points("source", "noise", -5, -9, -1))
    exhibits = measured(tmp_path, table_1=rows, comparisons=rivals)
    told = said(exhibits, "help")
    assert told.startswith(sentence)
    assert f"own depth: +1.0 ({MINUS}1.0 to +3.0)." in told
    assert "Ahead of this: Tent, by 9.0 points (6.0 to 12.0)." in told
    assert told.count("Tent is a known method") == 1
    assert "DDA is ahead" not in told
    assert told.endswith(f"Where diagnosis does harm: fog ({MINUS}5.0).")
    cost = "0.19 seconds a picture with diagnosis, 0.37 with own depth; choosing"
    assert said(exhibits, "cost").startswith(cost)
    assert "Below doing nothing" not in told


def test_who_lies_below_doing_nothing_is_said(tmp_path):
    rows = [
        {"method": name, **interval("accuracy", at, at - 4, at + 4), "seconds": 1}
        | interval("minus_source", *gain)
        for name, at, gain in (
            ("source", 46.2, ("", "", "")), ("dda", 43.7, (-2.5, -4, -1)),
            ("dga", 45.4, (-0.8, -2, 1)), ("dga-plus", 57, (11, 9, 13)),
        )
    ]  # fmt: skip
    told = said(measured(tmp_path, table_1=rows), "help")
    assert (
        "Below doing nothing (46.2): the fixed depth (43.7), own depth without guidance (45.4, may"
        in told
    )


EXPLANATION, NOISE = ("dga-plus:permute=explanation:batch=200", "dga-plus:permute=noise:batch=200")
WILD = [points(EXPLANATION, "all", 20, 14, 26), points(NOISE, "all", 5.1, 1.6, 8.6)]
COSTS = "another picture's noise level costs"
SAME = [points(NOISE, "mean", 0.3, -0.3, 0.9), points(EXPLANATION, "mean", 2, 1, 3)]


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"wild_permuted": WILD}, "Not measured yet"),
        ({"wild_permuted": WILD, "permuted": SAME}, f"In part: {COSTS} 5.1 points among all "
         "pictures, nothing certain where both were damaged alike."),
        ({"permuted": SAME}, "Not measured yet"),
        ({"wild_permuted": [points(NOISE, "all", 0.1, -3, 3)], "permuted": SAME}, "Hardly: "),
        ({"wild_permuted": WILD, "permuted": [points(NOISE, "mean", 4, 2, 6)]}, "Yes: "),
        ({"wild_permuted": WILD, "permuted": [points(NOISE, "mean", -4, -6, -2)]},
         f"In part: {COSTS} 5.1 points among all pictures, {MINUS}4.0"),
        ({"permuted": SAME[1:]}, "Not measured yet"),  # an explanation is no depth
    ],
)  # fmt: skip
def test_whether_the_depth_is_per_picture_is_told_by_where(tmp_path, tables, told):
    assert said(measured(tmp_path, **tables), "depth").startswith(told)


def test_rows_of_a_chart_stand_under_what_they_have_in_common(tmp_path):
    tables = {"wild_permuted": WILD, "permuted": SAME}
    given = {a.question: a.chart for a in answers(measured(tmp_path, **tables), 5) if a.chart}
    assert [title for _, title, _ in given["depth"].rows] == [
        "Points lost when taken from any other picture", found := "Diagnosis: all that is found",
        level := "Diagnosis: noise level", "Points lost when taken from one damaged alike",
        level, found,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def shipped_ones():
    return read_exhibits(shipped_exhibits(get_profile("everyday16")))


def test_shipped_exhibits_have_the_words_of_the_code(shipped_ones):
    assert shipped_ones.problem == ""
    table = shipped_ones.table("table-1")
    assert table.title.endswith(f" 128 photographs {SPLITS['report']}")
    assert table.content.columns[2:4] == ("Gain over doing nothing", "Undamaged (%)")
    quoted = shipped_ones.table("table-2-severity-3").content
    assert {told[0].rpartition(", ")[2] for told in quoted.rows if told[0].startswith("*")} == {
        "severity 5*"
    }
    assert "Paper, severity 5 (%)" in shipped_ones.table("table-1-severity-3").content.columns


@pytest.mark.parametrize("severity", [3, 5])
def test_shipped_answers_are_short_and_say_whose_severity_they_have(shipped_ones, severity):
    given = {answer.question: answer for answer in answers(shipped_ones, severity)}
    assert {question: answer.at for question, answer in given.items()} == dict.fromkeys(
        ("help", "found", "cost"), severity
    ) | {"depth": 5, "clean": 0}
    for answer in given.values():
        assert answer.chart, answer
        assert len(answer.sentence.split(" ")) <= 20, answer.sentence
        ticks = len(answer.chart.heads) or len(answer.chart.ticks())
        assert 3 <= ticks <= 7, answer
        if answer.chart.bars:  # no bar or whisker goes beyond the last tick
            assert answer.chart.ticks()[-1][0] == "left:100.0%"
    assert all(sum(shares) == 100 for _, shares in given["found"].chart.rows)
    below = {
        3: "Below doing nothing (46.2): the fixed depth (43.7, may be chance), own depth without"
    }
    assert ("Below" in " ".join(given["help"].more)) == (severity in below)
    assert below.get(severity, "") in " ".join(given["help"].more)


@pytest.mark.parametrize(
    ("shares", "whole"),
    [([98.7, 0.8, 0.5], [99, 1, 0]), ([33.4, 33.3, 33.3], [34, 33, 33]), ([100, 0], [100, 0])],
)
def test_whole_shares_make_a_hundred(shares, whole):
    assert whole_shares(shares) == whole
    with pytest.raises(ValueError, match="something else"):
        whole_shares([*shares, 4])


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((-0.2, -0.9, 0.5), f"Yes: 95 of 100 come back exactly as they were, and accuracy moves "
         f"by {MINUS}0.2 points."),
        ((-0.6, -1.4, 0.1), "A loss of 1.4 points cannot be ruled out."),
        ((-2, -3, -1), "No: diagnosis costs 2.0 points"),
    ],
)  # fmt: skip
def test_clean_pictures(tmp_path, found, words):
    rows = [{"method": "dga-plus", **interval("minus_source", *found), "unchanged": 94.77}]
    assert words in said(measured(tmp_path, clean=rows), "clean")


@pytest.mark.parametrize(("blur", "words"), [(60, "Mostly what was done"), (20, "Partly what was")])
def test_what_was_found(tmp_path, blur, words):
    kinds = dict.fromkeys(("sharpness", "noise", *KINDS), 0)
    rows = [
        {"group": "noise", **kinds, "noise": 99.7, "noise_alone": 97.7, "several": 2.3},
        {"group": "blur", **kinds, "sharpness": blur, "sharpness_alone": blur}
        | {"nothing": 100 - blur},
        {"group": "clean", **kinds, "nothing": 100},
    ]
    exhibits = measured(tmp_path, explanations=rows)
    told = said(exhibits, "found")
    assert told.startswith(words)
    assert told.endswith(f"noise in 99 noisy, blur in {blur} blurred, nothing in 100 undamaged.")
    chart = next(a.chart for a in answers(exhibits, 5) if a.question == "found")
    assert chart.rows[0] == ("Noise", [0, 0, 98, 2, 0])


def test_what_was_not_measured_is_said(tmp_path):
    exhibits = measured(tmp_path, table_9=[{"method": "x"}])
    for answer in answers(exhibits, 5):
        assert answer.sentence.startswith("Not measured yet for these models: the table")
        assert answer.chart is None


def test_damaged_numbers_are_said_and_stop_nothing(tmp_path):
    odd = [{"method": "x", "rival": "dga-plus:permute=noise", "group": "mean"}]
    odd[0] |= interval("points", 1, 0, 2)
    other = [{"name": "x"}]
    exhibits = measured(
        tmp_path, table_1=other, permuted=odd, explanations=[{"group": "blur"}], clean=other,
        photographs_comparisons=[interval("db", 1, 0, 2)],
    )  # fmt: skip
    for answer in answers(exhibits, 5):
        assert answer.sentence == "The tables that would answer this are damaged."


class Found:
    """Stands in for a session with the shipped weights."""

    profile = get_profile("everyday16")

    def __init__(self, **weights):
        folder = shipped("assets/presets") / "everyday16" / CASES[0].name
        self.weights = json.loads((folder / RECORD).read_text("utf-8"))["weights"] | weights


def test_links_lead_to_runs_that_show_what_they_say():
    seen = shown(Found())
    assert set(seen) == set(QUESTIONS)
    folder = shipped("assets/presets") / "everyday16"
    wrong, read, runs = {}, {}, {}
    for question in ("help", "depth", "found", "cost"):
        name = seen[question].removeprefix("./?run=")
        runs[question] = run = json.loads((folder / name / RECORD).read_text("utf-8"))
        truth = run["clean"]["labels"][0]
        wrong[question] = run["run"]["input_prediction"]["labels"][0] != truth
        told = run["systems"].items()
        read[question] = {s: one["prediction"]["labels"][0] == truth for s, one in told}
    assert wrong["help"]
    assert wrong["depth"]
    assert wrong["found"]
    assert read["help"]["dga-plus"]
    assert not read["help"]["dda"]
    assert read["depth"]["dga-guided"]
    assert not read["depth"]["dda"]
    assert runs["depth"]["search"]["stop"]["crossed"]
    assert read["found"]["dga-plus"]
    assert not runs["found"]["systems"]["dga-plus"]["search"]["unchanged"]
    assert runs["cost"]["search"]["stop"]["t_star"] > 0
    query = {name: one for name, (one,) in parse_qs(seen["clean"].partition("?")[2]).items()}
    opening = links.opening_values(Found.profile) | {"image": "lion"}
    link = links.parse(query, Found.profile, ("cat", "lion"), opening)
    assert (link.image, link.settings.corruption, link.notices) == ("cat", None, ())


def test_what_other_weights_recorded_shows_nothing():
    assert shown(Found(classifier="other")) == {}


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
        port = free_port()
        demos.append(serve(Session(tiny_models), "127.0.0.1", port, block=False, results=folder))
        return f"http://127.0.0.1:{port}/"

    yield begin
    for demo in demos:
        demo.close(verbose=False)


@pytest.fixture(scope="module")
def address(start, results):
    return start(results)


@pytest.fixture
def open_page(chromium):
    """Opens a page; in the end none has complained, and none has asked anyone else."""
    watched = []

    def begin(url, width, theme):
        page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
        watched.append(Watch(page, url.removesuffix("findings")))
        page.goto(url)
        page.wait_for_selector("h1")
        return page

    yield begin
    for watch in watched:
        watch.leave()


def test_only_what_the_index_names_is_served(address, results):
    (results / "tables" / "other.csv").write_text("1\n")
    files = f"{address}gradio_api/file="
    assert httpx.get(f"{files}{results / 'tables/table-1.csv'}").content == b"csv of table-1\n"
    for name in ("tables/other.csv", "index.json", "tables/../index.json"):
        assert httpx.get(f"{files}{results / name}").status_code == 404


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


def test_figures_are_drawn_when_their_fold_is_opened(open_page, address):
    page = open_page(f"{address}findings", 390, "dark")
    asked = []
    files = re.compile("/file=|/plotly-")  # not of the page, which may still be connecting
    page.on("request", lambda request: files.search(request.url) and asked.append(request.url))
    page.locator("#all > summary").click()
    page.locator("#table-table-1 > summary").click()
    page.wait_for_timeout(300)
    assert asked == []
    page.locator("#figure-depths > summary").click()
    plot = page.locator("#figure-depths .ex-plot")
    before = plot.bounding_box()
    plot.locator(".scatterlayer .trace").wait_for()
    assert plot.bounding_box() == before
    assert before["height"] == 300
    names = [url.rpartition("/")[2].partition("-")[0] for url in sorted(asked)]
    assert names == ["depths.json", "plotly"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tick = plot.locator(".xtick text").first
    look = "(node) => [getComputedStyle(node).fill, getComputedStyle(node).fontFamily]"
    color, family = tick.evaluate(look)
    assert color == "rgb(179, 186, 201)"
    assert family.startswith('"IBM Plex Sans"')
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("body:not(.dark)")
    page.wait_for_function(
        "getComputedStyle(document.querySelector('.xtick text')).fill === 'rgb(78, 85, 102)'"
    )
    page.locator("#figure-depths .ex-numbers > summary").click()
    page.locator(".ex-numbers tbody tr").first.wait_for()
    numbers = page.locator(".ex-numbers tr").all_inner_texts()
    assert [row.split() for row in numbers] == [["x", "dB"], ["0", "1"], ["1", f"{MINUS}2"]]
    assert len(asked) == 2


def test_without_plotly_the_picture_is_shown(chromium, address):
    page = chromium.new_page()
    page.route("**/plotly-*", lambda route: route.abort())
    page.goto(f"{address}findings#figure-depths")
    picture = page.locator("#figure-depths .ex-figure")
    picture.wait_for(state="attached")
    assert picture.get_attribute("src").endswith("depths.png")
    assert page.locator(".ex-plot").count() == 0
    page.close()


def test_plotly_is_kept_by_browsers(address):
    (path,) = plotly_script()
    answer = httpx.get(f"{address.removesuffix('/')}{path}")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-encoding"] in ("gzip", "br")
    assert httpx.get(f"{address}plotly-0.js").status_code == 404


def test_without_results_the_page_says_how_to_make_them(open_page, start, tmp_path):
    page = open_page(f"{start(tmp_path / 'nowhere')}findings", 390, "light")
    assert page.inner_text("h1") == "There are no results for tiny yet."
    assert "python -m dga figures runs --out" in page.inner_text("pre")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
