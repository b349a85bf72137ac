"""The networks compute on one thread, whoever asks, and long runs give way to short ones."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.runs import compute_thread
from app.runs.compute_thread import computed, computed_steps
from app.runs.session import Session


def where():
    return threading.current_thread().name


def names(count, entered=None):
    try:
        for _ in range(count):
            yield where()
    finally:
        if entered is not None:
            entered.append(where())


def test_calls_and_steps_of_all_threads_come_to_one():
    closed = []
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(computed, where) for _ in range(4)]
        runs = [pool.submit(list, computed_steps(names(3, closed))) for _ in range(4)]
    told = {call.result() for call in calls}.union(*(run.result() for run in runs))
    assert told == set(closed) == {computed(lambda: computed(where))}
    assert where() not in told


def test_what_is_left_is_closed_and_what_is_raised_arrives():
    closed = []
    steps = computed_steps(names(3, closed))
    next(steps)
    steps.close()
    assert closed == [computed(where)]

    def broken():
        yield 1
        raise ValueError("no numbers")

    with pytest.raises(ValueError, match="no numbers"):
        list(computed_steps(broken()))
    with pytest.raises(StopIteration):
        computed(next, iter(()))


def test_a_long_run_waits_for_short_ones_but_not_for_ever():
    def slow():
        for _ in range(2):
            time.sleep(0.2)
            yield time.monotonic()

    before = set(compute_thread._short)
    long, short = computed_steps(slow(), long=True), computed_steps(names(9))
    first = next(long)
    next(short)
    assert next(long) - first > 0.5  # 0.4 for the other, 0.2 of its own
    short.close()
    assert compute_thread._short == before  # nobody to wait for any more


def test_a_session_computes_there(tiny_models):
    session, seen = Session(tiny_models), []

    def steps(models):
        seen.append(where())
        yield models is tiny_models

    assert list(session.lent(None, steps)) == [True]
    assert seen == [computed(where)]
