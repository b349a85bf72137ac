"""Answers of the live function that ship, so that the page opens with a finished result."""
