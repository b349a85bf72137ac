"""What reads a picture: the frozen classifier, or a copy that adapts to the pictures it reads."""

from dga.readers.answers import Answers, Predictor, answer, predictors_of

__all__ = ["Answers", "Predictor", "answer", "predictors_of"]
