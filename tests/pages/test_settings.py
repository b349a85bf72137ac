"""Every value that a caller may send is checked on the server, and nobody meets another's run."""

from __future__ import annotations

import math
from typing import Any

import httpx
import pytest

from app.runs.settings import MAX_PATHS, MAX_SCALE, MAX_SEED, check_settings
from app.runs.visitors import KEPT_SECONDS, Visitors
from dga.profiles import EVERYDAY16
from tests.fixtures.app import Served

GOOD: dict[str, Any] = {
    "corruption": "fog",
    "severity": 3,
    "tau": 0.5,
    "seed": 0,
    "dda_depth": 23,
    "paths": 2,
    "scale": 1.5,
    "max_depth": 24,
}
ODD = {
    "not a number": math.nan,
    "infinite": math.inf,
    "minus infinite": -math.inf,
    "true": True,
    "false": False,
    "of thousands of digits": 10**5000,
    "minus thousands of digits": -(10**5000),
    "a large float": 1e308,
    "a string": "3",
    "an empty string": "",
    "a long string": "9" * 100_000,
    "a list": [3],
    "an object": {"path": 3},
    "bytes": b"3",
    "complex": 3j,
}
OPTIONAL = ("paths", "scale", "max_depth")


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", GOOD)
def test_odd_values_are_refused_in_one_short_sentence(name: str, odd: str) -> None:
    with pytest.raises(ValueError, match=r"\.$") as caught:
        check_settings(EVERYDAY16, **(GOOD | {name: ODD[odd]}))
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", GOOD)
def test_nothing_stands_for_a_value_only_where_there_is_a_usual_one(name: str) -> None:
    asked = GOOD | {name: None}
    if name in OPTIONAL or name == "corruption":
        assert check_settings(EVERYDAY16, **asked)
    else:
        with pytest.raises(ValueError, match="number from"):
            check_settings(EVERYDAY16, **asked)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("severity", 1, 5),
        ("tau", 0, 1),
        ("seed", 0, MAX_SEED),
        ("dda_depth", 1, EVERYDAY16.schedule.steps),
        ("paths", 1, MAX_PATHS),
        ("scale", 0, MAX_SCALE),
        ("max_depth", 1, EVERYDAY16.schedule.steps),
    ],
)
def test_what_costs_time_is_capped(name: str, least: int, most: int) -> None:
    for value in (least, most):
        assert vars(check_settings(EVERYDAY16, **(GOOD | {name: value})))[name] == value
    for value in (least - 1, most + 1, least - 1e-9, most + 1e-6):
        with pytest.raises(ValueError, match=f"from {least} to {most}"):
            check_settings(EVERYDAY16, **(GOOD | {name: value}))


def test_what_is_remembered_of_a_visitor_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("app.runs.visitors.time.monotonic", lambda: now[0])
    visitors = Visitors[int](lambda value: value == 9)
    visitors.put("running", 9)
    visitors.put("early", 1)
    now[0] += KEPT_SECONDS - 1
    visitors.put("late", 2)
    assert visitors.last("early") == 1
    now[0] += 2
    assert visitors.last("early") is None
    assert visitors.last("late") == 2
    visitors.put("another", 3)
    assert visitors.last("running") == 9
    assert visitors.last("another") == 3


def test_a_visitor_takes_home_only_her_own_run(served: Served) -> None:
    """The same request, with her own hash and with somebody else's."""
    config = httpx.get(f"{served.url}config").json()
    (screen,) = (c["id"] for c in config["components"] if c["props"].get("elem_id") == "try")
    events = {tuple(target): d for d in config["dependencies"] for target in d["targets"]}

    def press(visitor: str, asked: dict[str, Any], event: dict[str, str] | None = None) -> Any:
        body = {"fn_index": asked["id"], "data": [None] * len(asked["inputs"])}
        body |= {"event_data": event, "session_hash": visitor}
        answer = httpx.post(f"{served.url}gradio_api/run/predict", json=body, timeout=60)
        assert answer.status_code == 200
        return answer.json()["data"]

    def take(visitor: str) -> Any:
        return press(visitor, events[screen, "download"], {"file": "curve"})[0]

    # A page that opens shows a recorded run, which is hers from then on.
    opening = [d for d in config["dependencies"] if any(t[1] == "load" for t in d["targets"])]
    for asked in opening:
        if not asked["queue"]:
            press("visitor-a", asked)
    assert take("visitor-a")["path"].endswith("curve.csv")
    assert take("visitor-b") is None
