"""The Board: layout, handlers and values."""
