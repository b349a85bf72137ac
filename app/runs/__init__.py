"""One run: settings in, a record that grows out."""
