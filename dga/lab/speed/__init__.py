"""What the method costs on this machine."""
