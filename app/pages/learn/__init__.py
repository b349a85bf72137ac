"""The guided walk in seven steps."""
