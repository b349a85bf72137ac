"""The page of tables and figures."""
