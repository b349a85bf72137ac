"""Load and endurance drills against a running page: ``python -m tests.load --help``."""
