"""Training the four networks: resumable, on any device."""
