"""The bench: resumable, independent of the batch, honest about what it was asked."""

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dga.corruptions import CORRUPTIONS
from dga.folders.records import Line
from dga.io.files import CONFIG, LINES
from dga.lab.analysis.tables import summarise_accuracy
from dga.lab.data.image_sets import read_tune
from dga.lab.evaluation.curves import judge_pictures
from dga.lab.evaluation.plan import Plan, choose_images
from dga.lab.evaluation.run import EvaluationResults, EvaluationWorker, LoadedModels, evaluate
from dga.lab.readers.runner import SystemRunner
from dga.networks.models import Models
from dga.profiles import EVERYDAY16

NAMES = ("source", "dga", "dda", "dga-plus", "tent:batch=2", "dga-plus+tent:batch=2")


def run(
    models: Models, plan: Plan, out: Path, names: tuple[str, ...] = NAMES, batch: int = 16
) -> EvaluationResults:
    return evaluate(EvaluationWorker(LoadedModels(models), names, plan), out, batch)


def facts(lines: list[Line]) -> list[tuple[object, ...]]:
    keys = ("corruption", "path", "method", "seed", "depth", "crossed", "prediction")
    return sorted(tuple(line[k] for k in keys) for line in lines)


def test_one_line_an_image_and_method(choosy_models, plan, tmp_path):
    lines = run(choosy_models, plan, tmp_path).lines
    assert len(lines) == 2 * 2 * 2 * len(NAMES)
    written = [json.loads(row) for row in (tmp_path / LINES).read_text().splitlines()]
    assert written == lines
    for line in lines:
        assert line["correct"] == (line["prediction"] == line["class"])
        assert line["depth"] == {"source": 0, "dda": 5}.get(line["method"], line["depth"])
        assert line["seconds"] >= 0
    table = summarise_accuracy(lines)
    assert table.count("\n") == 3
    assert "| fog |" in table


@pytest.mark.parametrize(("asked", "batch"), [("plan", 2), ("wild", 4)])
def test_a_killed_run_resumes_with_nothing_lost_or_twice(
    choosy_models, request, tmp_path, asked, batch
):
    names, plan = ("source", "dga", f"tent:batch={batch}"), request.getfixturevalue(asked)
    whole = run(choosy_models, plan, tmp_path, names, batch=2)
    path = tmp_path / LINES
    text = path.read_text()
    for cut in (10, len(text) // 2, len(text) - 5):
        path.write_text(text[:cut])
        resumed = run(choosy_models, plan, tmp_path, names, batch=3)
        assert facts(resumed.lines) == facts(whole.lines)


def test_methods_corruptions_and_pictures_can_be_added(choosy_models, plan, tmp_path):
    small = dataclasses.replace(plan, corruptions=("fog",), per_class=1)
    names = ("source", "dda")
    assert len(run(choosy_models, small, tmp_path, ("source",)).lines) == 2
    assert len(run(choosy_models, plan, tmp_path, names).lines) == 2 * 2 * 2 * 2
    config = json.loads((tmp_path / CONFIG).read_text())
    assert list(config["methods"]) == ["source", "dda"]
    assert config["methods"]["dda"]["depth"] == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"severity": 2}, "severity: 3 there, 2 here"),
        ({"seed": 7}, "seed: 0 there, 7 here"),
        ({"split": "report"}, "split: all there, report here"),
        ({"per_class": 1}, "stream: 4 there, 2 here"),
    ],
)
def test_results_of_another_configuration_are_refused(choosy_models, plan, tmp_path, change, words):
    before = run(choosy_models, plan, tmp_path, ("source", "tent:batch=2")).lines
    with pytest.raises(ValueError, match=words):
        run(choosy_models, dataclasses.replace(plan, **change), tmp_path, ("tent:batch=2",))
    config = json.loads((tmp_path / CONFIG).read_text())
    config["methods"]["source"]["depth"] = 3
    (tmp_path / CONFIG).write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"methods.source.depth: 3 there, None here"):
        run(choosy_models, plan, tmp_path, ("source",))
    assert [json.loads(r) for r in (tmp_path / LINES).read_text().splitlines()] == before


def test_pictures_of_another_folder_of_the_same_name_are_refused(
    choosy_models, plan, picture_folder, tmp_path
):
    """They have the same names, so that what was read of one would count for the other."""
    other = shutil.copytree(picture_folder, tmp_path / "other" / picture_folder.name)
    elsewhere = dataclasses.replace(plan, data=(other,))
    run(choosy_models, plan, tmp_path / "evaluated", ("source",))
    with pytest.raises(ValueError, match="another configuration"):
        run(choosy_models, elsewhere, tmp_path / "evaluated", ("source",))
    judge_pictures(choosy_models, plan, tmp_path / "judged", [0])
    with pytest.raises(ValueError, match="another configuration"):
        judge_pictures(choosy_models, elsewhere, tmp_path / "judged", [0])


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[int]]:
    """By system, the pictures of each batch that it answered; 0 where it was to forget."""
    seen: dict[str, list[int]] = {}
    plain, reset = SystemRunner.read, SystemRunner.reset

    def answered(self: SystemRunner, x: Any, *others: Any) -> Any:
        seen.setdefault(self.system.name, []).append(len(x))
        return plain(self, x, *others)

    def forgot(self: SystemRunner) -> None:
        seen.setdefault(self.system.name, []).append(0)
        reset(self)

    monkeypatch.setattr(SystemRunner, "read", answered)
    monkeypatch.setattr(SystemRunner, "reset", forgot)
    return seen


def test_what_waits_for_a_stream_sees_its_own_batches_in_order(
    choosy_models, plan, tmp_path, watched
):
    """And forgets between corruptions, not between batches; a pair does as its reader."""
    names = "source", "tent:batch=3", "dga+tent:batch=2", "dga-plus:permute=depth:batch=5"
    run(choosy_models, dataclasses.replace(plan, per_class=4), tmp_path, names)
    batches = [8], [3, 3, 2], [2] * 4, [5, 3]
    assert watched == {n: [0, *b, 0, *b] for n, b in zip(names, batches, strict=True)}


def test_a_folder_of_ones_own_is_measured_whole(tmp_path):
    """All of it by default, however small; the split for choices is the project's own."""

    def chosen(split: str, *folders: str) -> set[str]:
        plan = Plan(data=tuple(tmp_path / folder for folder in folders), split=split)
        return {Path(name).stem for name in choose_images(plan, EVERYDAY16).names}

    tuned, mine = sorted(read_tune("everyday16"))[:12], [f"picture-{i}" for i in range(12)]
    for folder, names in (("mine", mine), ("own", tuned)):
        (tmp_path / folder / "cat").mkdir(parents=True)
        for name in names:
            Image.new("RGB", (64, 64)).save(tmp_path / folder / "cat" / f"{name}.png")
    assert chosen("report", "mine") == chosen("all", "mine") == set(mine)
    assert chosen("tune", "own") == chosen("tune", "own", "mine") == set(tuned)
    assert chosen("report", "own", "mine") == set(mine)
    with pytest.raises(ValueError, match="None of these pictures is in everyday16's split tune"):
        chosen("tune", "mine")
    with pytest.raises(ValueError, match="All of these pictures are in everyday16's split tune"):
        chosen("report", "own")


STREAM = ("source", "dga", "tent:batch=4")


@pytest.fixture
def wild(plan: Plan) -> Plan:
    return dataclasses.replace(
        plan, corruptions=CORRUPTIONS, severity=5, per_class=None, stream="wild"
    )


def conditions(lines: list[Line]) -> dict[str, tuple[str, int]]:
    return {line["path"]: (line["corruption"], line["severity"]) for line in lines}


def test_a_wild_stream_is_one_stream_of_all_severities(choosy_models, wild, tmp_path):
    """Every method sees every picture once, under the same condition, in the same order."""
    lines = run(choosy_models, wild, tmp_path, STREAM, batch=5).lines
    streams = [
        [(r["path"], r["corruption"], r["severity"]) for r in lines if r["method"] == name]
        for name in STREAM
    ]
    assert streams[0] == streams[1] == streams[2]
    assert len({path for path, *_ in streams[0]}) == len(streams[0]) == 16
    assert all((name == "clean") == (severity == 0) for _, name, severity in streams[0])
    assert len({severity for *_, severity in streams[0]}) > 3
    config = json.loads((tmp_path / CONFIG).read_text())
    assert (config["stream"], "severity" in config) == ("wild", False)
    again = run(choosy_models, wild, tmp_path / "again", STREAM, batch=2)
    assert facts(again.lines) == facts(lines)
    table = summarise_accuracy(lines, is_stream=True)
    assert table.startswith("| corruption | source | dga | tent:batch=4 |")
    accuracy = 100 * np.mean([r["correct"] for r in lines if r["method"] == "source"])
    assert f"| **all** | {accuracy:.1f} |" in table


def test_the_same_stream_sorted_and_one_picture_at_a_time(choosy_models, wild, tmp_path, watched):
    names = ("source", "dga")
    mixed = run(choosy_models, wild, tmp_path / "wild", names).lines
    in_order = dataclasses.replace(wild, stream="sorted")
    lines = run(choosy_models, in_order, tmp_path / "sorted", names).lines
    assert facts(lines) == facts(mixed)
    labels = [r["class"] for r in lines if r["method"] == "source"]
    assert labels == ["cat"] * 8 + ["big cat"] * 8
    alone = dataclasses.replace(wild, stream="single")
    with pytest.raises(ValueError, match=r"tent:lr=0\.1 waits for 64: .* tent:lr=0\.1:batch=1\."):
        run(choosy_models, alone, tmp_path / "no", ("tent:lr=0.1",))

    assert facts(run(choosy_models, alone, tmp_path / "single", names).lines) == facts(mixed)

    watched.clear()
    asked = ("dga-plus:permute=depth:batch=1", "source")
    watched_lines = run(choosy_models, alone, tmp_path / "watched", asked).lines
    assert conditions(watched_lines) == conditions(mixed)
    assert watched["dga-plus:permute=depth:batch=1"] == [0] + [1] * 16  # nothing forgotten


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stream": "rough"}, "Unknown stream 'rough'. Choose one of: wild, sorted, single."),
        ({"severity": 3}, "leave --severity out"),
        ({"corruptions": ("clean", "fog")}, "has clean pictures anyway"),
    ],
)
def test_a_stream_is_not_asked_for_less(wild, change, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        dataclasses.replace(wild, **change)
