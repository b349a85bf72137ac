"""Who reads a picture: the frozen classifier, or one that adapts to what it is shown."""

from dga.readers.answers import Answers, Predictor, answer, predictors_of

__all__ = ["Answers", "Predictor", "answer", "predictors_of"]
