"""The commands behind ``python -m dga``: parse, call, print. No logic."""

from dga.commands import adapt, bench, evaluate, fetch, figures, gain, judge, repair, train
from dga.commands.common import app
