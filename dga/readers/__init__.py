"""Readers name what a picture shows: the frozen classifier, or a copy that adapts to pictures."""

from dga.readers.answers import Answers, Predictor, answer, create_predictors

__all__ = ["Answers", "Predictor", "answer", "create_predictors"]
