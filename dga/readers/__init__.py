"""Readers name what a picture shows: the frozen classifier, or a copy that adapts to pictures."""

from dga.readers.answers import Answers, SystemRunner, answer, create_runners

__all__ = ["Answers", "SystemRunner", "answer", "create_runners"]
