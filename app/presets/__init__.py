"""Finished runs that the page opens with."""
