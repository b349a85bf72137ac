"""Every word that a visitor reads."""
