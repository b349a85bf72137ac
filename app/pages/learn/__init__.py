"""The guided walk in ten steps."""
