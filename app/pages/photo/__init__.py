"""Photo: layout, handlers and values."""
