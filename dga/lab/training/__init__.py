"""Training the three networks: resumable, on any device."""
