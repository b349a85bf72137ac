"""The commands behind ``python -m dga``: parse, call, print. No logic."""

from dga.command_line import app
from dga.commands import adapt, diagnose, fetch, repair  # noqa: F401  (each adds its command)
from dga.lab.commands import bench, evaluate, figures, gain, judge, judge_diagnoses, train  # noqa: F401

__all__ = ["app"]
