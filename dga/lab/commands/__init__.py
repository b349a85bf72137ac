"""The laboratory's commands: train, measure, draw. Each module adds its own to the command line."""
