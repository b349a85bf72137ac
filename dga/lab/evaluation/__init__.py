"""Accuracy, depths and seconds of methods on labelled, corrupted pictures."""

from dga.lab.evaluation.plan import Plan
from dga.lab.evaluation.run import EvaluationResults, evaluate

__all__ = ["EvaluationResults", "Plan", "evaluate"]
