"""HTML of each page."""
