"""Reading folders of runs, and pooling those made under the same conditions."""

import json

import pytest

from dga.lab.analysis.pooled_runs import pool_runs
from dga.lab.analysis.saved_runs import read_runs
from tests.fixtures.results import falling_logits, lines_of, write_judge, write_run

DEPTHS = (0, 4, 8)


def _right(photograph: int, corruption: str) -> bool:
    return photograph % 2 == 0


def test_role_is_found_by_content(tmp_path):
    """Names of folders mean nothing, depth in the folder tree neither."""
    write_run(tmp_path / "judge", lines_of("source", _right, 2, ["fog"]))
    write_judge(tmp_path / "deep" / "severity-5", falling_logits(2, DEPTHS), DEPTHS)
    (tmp_path / "tables").mkdir()
    for kind, config in (("repaired", {"methods": {"repair": {}}}), ("diagnosed", {"methods": {}})):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "config.json").write_text(json.dumps({"data": "photos", **config}))
        (tmp_path / kind / "lines.jsonl").write_text('{"path": "a.png"}\n')
    results = read_runs(tmp_path)
    assert [run.name for run in results.evaluations] == ["judge"]
    assert [run.name for run in results.judges] == ["deep/severity-5"]
    assert [run.name for run in read_runs(tmp_path / "judge").evaluations] == ["judge"]


def test_folders_without_runs(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        read_runs(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ValueError, match=r"holds no runs: .* lines\.jsonl"):
        read_runs(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("lines.jsonl", b"nonsense\n", "line 1 is not a JSON object"),
        ("lines.jsonl", b'{"path": "a"}\n', "line 1 has no 'class'"),
        ("lines.jsonl", b"[1]\n", "line 1 is not a JSON object"),
        ("config.json", b"{", "config.json is damaged"),
        ("lines.jsonl", b"\x1f\x8bcut off\n", r"lines\.jsonl is damaged"),
    ],
)
def test_damaged_files_are_named(tmp_path, name, content, sentence):
    run = write_run(tmp_path / "run", lines_of("source", _right, 2, ["fog"]))
    (run / name).write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        read_runs(tmp_path)


def test_runs_of_one_kind_are_pooled_once_each_image(tmp_path):
    both = lines_of("source", _right, 4, ["fog"])
    write_run(tmp_path / "a", both + lines_of("tent", _right, 4, ["fog"]))
    dga = lines_of("dga", _right, 2, ["fog"])
    write_run(tmp_path / "b", both[:2] + dga, weights={"classifier": "c1"})  # it needs no others
    clean = lines_of("source", _right, 4, ["clean"])
    write_run(tmp_path / "c", clean, severity=3, data=["/another/machine/val.zip"])
    made, left_out = pool_runs(read_runs(tmp_path).evaluations)
    assert [pooled.first.severity for pooled in made] == [5]
    counts = made[0].lines.groupby(["method", "corruption"]).size().to_dict()
    assert counts == {
        ("source", "fog"): 4, ("tent", "fog"): 4, ("dga", "fog"): 2, ("source", "clean"): 4,
    }  # fmt: skip
    assert left_out == []


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"split": "tune"}, "other: differs from main in split"),
        ({"precision": "bfloat16"}, "other: differs from main in precision"),
        ({"saved": 85}, "other: differs from main in saved"),
        ({"weights": {"diffusion": "d2"}}, "other: differs from main in weights"),
        ({"methods": {"dda": {"depth": 9}}}, "other: differs from main in the settings of dda"),
    ],
)
def test_runs_under_other_conditions_are_left_out(tmp_path, config, sentence):
    main = lines_of("source", _right, 2, ["fog"]) + lines_of("dda", _right, 2, ["fog"])
    write_run(tmp_path / "main", main, methods={"dda": {"depth": 20}})
    write_run(tmp_path / "other", lines_of("dga", _right, 2, ["fog"]), **config)
    made, left_out = pool_runs(read_runs(tmp_path).evaluations)
    assert made[0].methods == ["source", "dda"]
    assert left_out == [sentence]


@pytest.mark.parametrize(("method", "is_kept"), [("dda", True), ("dga-plus", False)])
def test_only_runs_of_dga_plus_need_the_denoiser_that_sees_the_picture(tmp_path, method, is_kept):
    plus, other = lines_of("dga-plus", _right, 3, ["fog"]), lines_of(method, _right, 2, ["fog"])
    write_run(tmp_path / "a", plus, weights={"conditional": "c1"}, methods={"dga-plus": {}})
    write_run(tmp_path / "b", other, weights={"conditional": "c2"}, methods={method: {}})
    _, left_out = pool_runs(read_runs(tmp_path).evaluations)
    assert (left_out == []) == is_kept


def test_an_unfinished_run_is_no_trouble(tmp_path):
    """Half a line at the end is none, and a run without lines is none either."""
    write_run(tmp_path / "started", [])
    killed = write_run(tmp_path / "killed", lines_of("source", _right, 3, ["fog"]))
    with (killed / "lines.jsonl").open("a") as file:
        file.write('{"path": "cat/n0')
    (run,) = read_runs(tmp_path).evaluations
    assert (run.name, len(run.lines)) == ("killed", 3)


def test_streams_stay_apart_from_severities_and_other_streams(tmp_path):
    fog = lines_of("source", _right, 4, ["fog"])
    wild = {"stream": "wild", "severity": None, "corruptions": ["fog", "snow"]}
    write_run(tmp_path / "wild", fog + lines_of("tent", _right, 4, ["fog"]), **wild)
    write_run(tmp_path / "five", fog)
    write_run(tmp_path / "sorted", fog, **(wild | {"stream": "sorted"}))
    write_run(tmp_path / "few", fog, **(wild | {"corruptions": ["fog"]}))
    pools, left_out = pool_runs(read_runs(tmp_path).evaluations)
    assert [pooled.first.stream for pooled in pools] == ["", "wild", "sorted"]
    assert left_out == ["few: differs from wild in corruptions"]
