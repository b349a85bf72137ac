"""From result lines to statistics and tables. Reads files; imports no network."""
