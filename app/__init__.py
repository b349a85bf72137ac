"""The page: one real photograph, one slider, the diagnosis first."""
