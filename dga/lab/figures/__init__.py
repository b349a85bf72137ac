"""Results as a folder of tables and figures."""
