"""Results as tables, in words and in numbers."""
