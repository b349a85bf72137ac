"""Weights on disk: where they are, how they are checked, and how public ones are fetched."""
