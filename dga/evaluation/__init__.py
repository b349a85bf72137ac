"""Accuracy, depths and seconds of methods on labelled, corrupted pictures."""

from dga.evaluation.plan import Plan
from dga.evaluation.run import Results, evaluate

__all__ = ["Plan", "Results", "evaluate"]
