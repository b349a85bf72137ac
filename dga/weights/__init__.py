"""Where weights are, whether they are what they should be, and how they are fetched."""
