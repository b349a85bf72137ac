"""What stands between strangers and the networks."""
