"""One run of a visitor: what may be asked, the models at work, what is known of it."""
