"""Page Fifteen corruptions: layout, event handlers, cards and the run itself."""
