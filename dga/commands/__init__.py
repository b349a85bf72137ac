"""The commands behind ``python -m dga``: parse, call, print. No logic."""

from dga.commands import adapt, evaluate, gallery, train  # noqa: F401  (each adds its command)
from dga.commands.common import app

__all__ = ["app"]
