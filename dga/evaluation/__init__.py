"""Accuracy, depths and seconds of methods on labelled, corrupted pictures."""

from dga.evaluation.plan import Plan
from dga.evaluation.run import EvaluationResults, evaluate

__all__ = ["EvaluationResults", "Plan", "evaluate"]
