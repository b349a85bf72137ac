"""Readers name what a picture shows: the frozen classifier, or a copy that adapts to pictures."""
