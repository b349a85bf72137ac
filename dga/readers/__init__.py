"""Readers name what a picture shows: the frozen classifier, or a copy that adapts to pictures."""

from dga.readers.answers import Answers, Predictor, answer, predictors_of

__all__ = ["Answers", "Predictor", "answer", "predictors_of"]
