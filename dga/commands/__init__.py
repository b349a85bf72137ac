"""The commands behind ``python -m dga``: parse, call, print. No logic."""

from dga.commands import (  # noqa: F401  (each adds its command)
    adapt,
    diagnose,
    evaluate,
    fetch,
    figures,
    gain,
    judge,
    repair,
    train,
)
from dga.commands.common import app

__all__ = ["app"]
