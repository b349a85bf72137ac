"""Accuracy, depths and seconds of methods on labelled, corrupted pictures."""
