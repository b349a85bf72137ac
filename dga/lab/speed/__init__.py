"""What the method costs on this machine, and what the published way costs beside it."""
