"""The page Results: its answers say what the results file holds, and what it lacks."""

import json
import re
import tarfile

import pytest

from app.pages.repair import RESULTS, read_rates
from app.pages.results import results_page
from app.pages.results_answers import NOT_MEASURED, answer_all, list_settings
from app.pages.results_exhibits import draw_figure, read_markdown_table, tabulate
from app.pages.results_numbers import Diagnoses, Results
from app.pages.shell import render_page
from app.runs.sentences import DAMAGE_NAMES
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
    saved = [row for row in lines if row["method"] in ("source", "dga-plus")]
    write_run(folder / "saved", saved, profile="photo", saved=85)
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
def folder(tmp_path_factory):
    """Where the report and its readings are written."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def report(folder):
    runs = read_runs(write_runs(folder / "runs"))
    return write_report(runs, folder / "results.json", has_readings=True)


@pytest.fixture
def read(report, tmp_path):
    """Settings and answers, by key, after a change to a copy of the file."""

    def read_changed(change=lambda rows: rows):
        copy = json.loads(json.dumps(report))
        for exhibit in copy["exhibits"]:
            exhibit["rows"] = change(exhibit["rows"])
        (tmp_path / "results.json").write_text(json.dumps(copy))
        results = Results.read(tmp_path / "results.json")
        parts = [*list_settings(results), *answer_all(results, Diagnoses(), Results())]
        return {part.key: part for part in parts}

    return read_changed


def test_answers_say_what_was_measured(read):
    """Snow is never right with repair, else ours is right on six of ten, nothing done on two."""
    parts = read()
    said = {key: part.sentence.replace("\xa0", " ") for key, part in parts.items()}
    for key in ("severity-5", "saved-85-severity-5", "severity-3"):
        assert said[key].startswith("56.0 % right instead of 20.0 %, +36.0 points (")
        assert said[key].endswith("of 150 pictures 56 became right, 2 became wrong.")
    assert next(iter(parts)) == "saved-85-severity-5"
    [methods] = parts["severity-5"].methods.values()
    cells = {line.label: line.cells for line in methods}
    share, ahead = cells["Fixed noise"]
    assert share == "30.0"
    assert ahead.startswith("+26.0 (")
    assert any(
        "guided" in name and ahead.startswith("+16.0 (") for name, (_, ahead) in cells.items()
    )
    [methods] = parts["severity-3"].methods.values()
    assert [line.label for line in methods] == ["Nothing done", "Our repair"]
    kinds = {line.label: line for line in parts["severity-5"].kinds}
    assert (kinds["Snow"].start, kinds["Snow"].end, kinds["Fog"].end) == (20, 0, 60)
    harm = (
        "9 of 10 undamaged photographs come back exactly as they were; "
        "none became right, none became wrong."
    )
    assert said["harm"] == harm
    assert said["failures"].endswith(": Snow (strength 5) and Snow (strength 3).")
    assert all("of 10" in line.cells[1] for line in parts["failures"].chart)


def test_methods_that_read_fewer_photographs_stand_apart(read):
    """With what nothing done and ours have on the same photographs; the best is last."""

    def skip(rows):
        return [row | {"photographs": 3} if row["other"] == "dda" else row for row in rows]

    methods = read(skip)["severity-5"].methods
    [title] = [title for title in methods if title.startswith("On 3 of")]
    shares = {line.label: line.cells[0] for line in methods[title]}
    assert list(shares.items()) == [
        ("Nothing done", "20.0"),
        ("Fixed noise", "30.0"),
        ("Our repair", "56.0"),
    ]


def test_everyday_damage_is_a_table_of_its_own(tmp_path):
    kinds = ["rain", "lens_blur"]
    rows = [
        *lines_of("source", lambda p, c: p < 2, 4, kinds),
        *lines_of("dga-plus", lambda p, c: p < 2 + (c == "rain"), 4, kinds),
    ]
    run = write_run(tmp_path / "run", rows)
    (exhibit,) = write_report(read_runs(run), tmp_path / "results.json")["exhibits"]
    assert exhibit["key"] == "everyday-severity-5"
    by_group = {row["group"]: row["right"] for row in exhibit["rows"]}
    assert by_group == {"mean": 62.5, "lens_blur": 50, "rain": 75}


def test_nothing_measured(tmp_path):
    assert {one.sentence for one in answer_all(Results(), Diagnoses(), Results())} == {NOT_MEASURED}
    assert NOT_MEASURED in results_page(tmp_path).main


def test_what_diagnoses_found(tmp_path):
    """By family of damage, as the file of labelled pictures has it."""
    rows = [
        {"corruption": "clean", "pictures": 1_100, "damaged": 7, "AUC": None},
        {"corruption": "rain", "pictures": 10, "damaged": 2, "AUC": 0.6},
        {"corruption": "shot_noise", "pictures": 10, "damaged": 8, "AUC": 0.9},
        {"corruption": "gaussian_noise", "pictures": 10, "damaged": 9, "AUC": 1.0},
    ]
    path = tmp_path / "photo" / "diagnosis.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"networks": False, "found": rows}))
    _, answer, _ = answer_all(Results(), Diagnoses.read(path), Results())
    assert "Of 30 damaged pictures 19 " in answer.sentence
    assert "of 1,100 undamaged ones 7" in answer.sentence
    shares = {line.label: (*line.cells, line.end) for line in answer.chart}
    assert shares["Noise"] == ("17 of 20", 85)
    assert shares["Everyday damage"] == ("2 of 10", 20)
    assert ": Rain (" in answer.more[-1]
    assert answer.sentence in results_page(tmp_path).main


def test_what_ships():
    """Today's tables and readings are of the runs that ship, and links lead somewhere."""
    now = Results.read(SHIPPED / "photo" / "results.json")
    readings = json.loads((SHIPPED / "photo" / "results-readings.json").read_text())
    with tarfile.open(SHIPPED / "photo" / "runs.tar.xz") as runs:
        names = [name for name in runs.getnames() if name.endswith("config.json")]
        folders = [name.removesuffix("config.json") for name in names]
        configs = {
            folder: json.load(runs.extractfile(f"{folder}config.json")) for folder in folders
        }
        # Behind no bar are those of mixed streams.
        folders = [folder for folder, config in configs.items() if "stream" not in config]
        texts = [runs.extractfile(f"{folder}lines.jsonl").read().decode() for folder in folders]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    names = ("path", "corruption", "method", "prediction", "correct")
    measured = {tuple(line[name] for name in names) for line in lines}
    shipped = {
        (path, kind, method, part["labels"][one[0]], bool(one[2]))
        for part in readings.values()
        for kind, by_method in part["readings"].items()
        for method, column in by_method.items()
        for (path, _), one in zip(part["pictures"], column, strict=True)
        if one
    }
    assert shipped == measured
    for setting in list_settings(now):
        part = readings[setting.key]
        assert len(setting.kinds) == len({*part["readings"]} - {"clean"})
        for line in setting.kinds:
            key, kind, method = line.behind
            source, ours = (part["readings"][kind][name] for name in ("source", method))
            gained = sum(a[2] < b[2] for a, b in zip(source, ours, strict=True) if a and b)
            assert line.cells[1].startswith(f"{gained} / "), (key, kind)
    _, diagnosis, _ = answer_all(
        now, Diagnoses.read(SHIPPED / "photo" / "diagnosis.json"), Results()
    )
    assert diagnosis.chart
    exhibit = now.exhibits["severity-5"]
    rows = [row for row in tabulate(exhibit)["rows"] if len(row) > 1]
    assert len(rows) == len(exhibit["rows"])
    assert len(draw_figure(exhibit)["data"][1]["y"]) == len(CORRUPTIONS)
    html = render_page(results_page())
    anchors = set(re.findall(r'id="([^"]+)"', html))
    assert set(re.findall(r'href="results#([^"]+)"', html)) <= anchors
    for address in re.findall(r'"results-files/([^"]+)"', html):
        assert (SHIPPED / address).is_file(), address
    _, *photographs = read_markdown_table(find_shipped_folder("assets/samples") / "README.md")
    assert all(author in html for _, author, *_ in photographs)


def test_repair_has_a_figure_of_every_damage_that_results_measured():
    rates = read_rates(Results.read(RESULTS))
    assert DAMAGE_NAMES.keys() <= rates.keys()
    changes = re.findall(r"<b>([\d.]+) → ([\d.]+)</b>", results_page().main)
    for damage in ("rain", "fog", "fog-saved"):
        shown = tuple(f"{100 * rates[damage][side]:.1f}" for side in ("before", "after"))
        assert shown in changes
