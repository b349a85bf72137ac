"""Recorded runs that the page opens with: which, how they are made, and read back."""
