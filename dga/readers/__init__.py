"""Who reads a picture: the frozen classifier, or one that adapts to what it is shown."""

from dga.readers.answers import Answers, OpenSystem, answer, open_systems

__all__ = ["Answers", "OpenSystem", "answer", "open_systems"]
