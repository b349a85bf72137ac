"""The three frozen networks: shapes, kernels, loading, and where they run."""
