"""Page Adapt: layout, event handlers and cards."""
