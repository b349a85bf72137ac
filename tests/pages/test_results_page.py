"""The page Results: its answers say what the results file holds, and what it lacks."""

import json
import re

import pytest

from app.pages.results import results_page
from app.pages.results_answers import NOT_MEASURED, answer_all
from app.pages.results_exhibits import draw_figure, read_markdown_table, tabulate
from app.pages.results_numbers import Results
from app.pages.shell import Page, render_page
from dga.corruptions import CORRUPTIONS
from dga.io.shipped import find_shipped_folder
from dga.lab.analysis.report import write_report
from dga.lab.analysis.saved_runs import read_runs
from tests.fixtures.results import lines_of, write_run

SHIPPED = find_shipped_folder("assets/results")
PHOTOGRAPHS = 10
METHODS = {"source": 2, "dda": 3, "dga-guided": 4, "dga-plus": 6}  # right, of ten


def write_runs(folder):
    """Two severities, undamaged pictures of which one changes, and a mixed stream."""

    def right(method):
        return lambda p, c: p < METHODS[method] and not (method == "dga-plus" and c == "snow")

    lines = [row for name in METHODS for row in lines_of(name, right(name), PHOTOGRAPHS)]
    write_run(folder / "strong", lines, profile="photo")
    weak = [row | {"severity": 3} for row in lines if row["method"] in ("source", "dga-plus")]
    write_run(folder / "weak", weak, severity=3, profile="photo")
    clean = [
        row | {"unchanged": name == "source" or row["path"] != "cat/n000.jpeg"}
        for name in ("source", "dga-plus")
        for row in lines_of(name, lambda p, c: p < 9, PHOTOGRAPHS, ["clean"])
    ]
    write_run(folder / "clean", clean, profile="photo")
    mixed = [
        row | {"path": f"{row['path']}-{row['corruption']}"}
        for name, count in (("source", 5), ("tent", 4), ("tent:lr=0", 3), ("dga-plus", 7))
        for row in lines_of(name, lambda p, c, n=count: p < n, PHOTOGRAPHS, ["fog", "snow"])
    ]
    write_run(folder / "wild", mixed, stream="wild", severity=0, profile="photo")
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return write_report(read_runs(write_runs(folder / "runs")), folder / "results.json")


@pytest.fixture
def read(report, tmp_path):
    """The answers' sentences by question, after a change to a copy of the file."""

    def read_changed(change=lambda rows: rows):
        copy = json.loads(json.dumps(report))
        for exhibit in copy["exhibits"]:
            exhibit["rows"] = change(exhibit["rows"])
        (tmp_path / "results.json").write_text(json.dumps(copy))
        answers = answer_all(Results.read(tmp_path / "results.json"))
        return {answer.key: answer for answer in answers}

    return read_changed


def test_answers_say_what_was_measured(read):
    """Snow is never right with repair, else ours is right on six of ten, nothing done on two."""
    said = {key: answer.sentence.replace("\xa0", " ") for key, answer in read().items()}
    strong, weak = said["help"].splitlines()
    assert strong.startswith("Strength 5: 56.0 % right instead of 20.0 %, +36.0 points (")
    assert weak.startswith("Strength 3: 56.0 % right instead of 20.0 %, +36.0 points (")
    assert said["damage"].startswith("It clearly helps on 14 of 15 kinds, most on ")
    harm = (
        "9 of 10 undamaged photographs come back bit for bit; none became wrong, none became right."
    )
    assert said["harm"] == harm
    pattern = (
        r"It is not clearly ahead of the paper's method \+ G, \+16.0 points .*; "
        r"ahead of fixed noise, \+26.0 "
    )
    assert re.match(pattern, said["paper"])
    shares = "our repair 70.0 %, Tent 40.0 %, batch statistics 30.0 % and nothing done 50.0 %"
    assert said["others"] == f"Mixed pictures read right: {shares}."
    assert said["failures"] == "44.0 % are read wrong at strength 5. No clear gain: Snow."


def test_a_changed_number_changes_its_sentence(read):
    mine = {"method": "dga-plus", "other": "source", "group": "mean"}
    answers = read(lambda rows: [r | {"right": 71.24} if r | mine == r else r for r in rows])
    assert "71.2\xa0%" in answers["help"].sentence
    assert answers["failures"].sentence.startswith("28.8\xa0% are read wrong")


@pytest.mark.parametrize(
    ("system", "key", "words"),
    [
        ("dda", "paper", "Not measured yet: fixed noise."),
        ("dga-guided", "paper", "Not measured yet: the paper's method + G."),
        ("tent", "others", "Not measured yet: Tent."),
        ("tent:lr=0", "others", "Not measured yet: batch statistics."),
    ],
)
def test_a_missing_system_is_not_measured(read, system, key, words):
    answers = read(lambda rows: [r for r in rows if system not in (r["method"], r["other"])])
    assert answers[key].sentence.endswith(words)
    assert all(len(answer.sentence.split(" ")) <= 25 for answer in answers.values())


def test_nothing_measured(tmp_path):
    assert [answer.sentence for answer in answer_all(Results())] == [NOT_MEASURED] * 6
    assert results_page(tmp_path).main.count(NOT_MEASURED) > 6


def test_photographs_without_every_damage_do_not_count(tmp_path):
    lines = [row for m in ("source", "dga-plus") for row in lines_of(m, lambda p, c: p < 2, 3)]
    lines = [row for row in lines if (row["path"], row["corruption"]) != ("cat/n002.jpeg", "fog")]
    run = write_run(tmp_path / "run", lines)
    (exhibit,) = write_report(read_runs(run), tmp_path / "results.json")["exhibits"]
    assert {row["photographs"] for row in exhibit["rows"]} == {2}
    assert {row["right"] for row in exhibit["rows"]} == {100}


def test_what_ships():
    """Sentences are short, tables complete, and every link within the page leads somewhere."""
    results = Results.read(SHIPPED / "photo" / "results.json")
    for answer in answer_all(results):
        assert len(answer.sentence.split(" ")) <= 25, answer.sentence
    exhibit = results.exhibits["severity-5"]
    lines = [row for row in tabulate(exhibit)["rows"] if len(row) > 1]
    assert len(lines) == len(exhibit["rows"])
    assert len(draw_figure(exhibit)["data"][1]["y"]) == len(CORRUPTIONS)
    html = render_page(results_page())
    anchors = set(re.findall(r'id="([^"]+)"', html))
    assert set(re.findall(r'href="results#([^"]+)"', html)) <= anchors
    for address in re.findall(r'"results-files/([^"]+)"', html):
        assert (SHIPPED / address).is_file(), address
    _, *photographs = read_markdown_table(find_shipped_folder("assets/samples") / "README.md")
    assert all(author in html for _, author, *_ in photographs)


def test_on_a_space_every_page_links_its_code(monkeypatch):
    page = Page("", "title", "description", "")
    assert "huggingface.co" not in render_page(page)
    monkeypatch.setenv("SPACE_ID", "some/space")
    assert "https://huggingface.co/spaces/some/space/tree/main" in render_page(page)
