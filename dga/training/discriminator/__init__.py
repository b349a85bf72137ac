"""Training the discriminator: what it is taught, its batches, its trainer."""
