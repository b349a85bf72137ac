"""The command line: ``python -m dga`` and one of the commands in :mod:`dga.commands`."""

import sys
import warnings
from importlib import import_module

from dga.io.shipped import ROOT


def main() -> None:
    """Run the command ``dga``."""
    warnings.filterwarnings("ignore", category=FutureWarning, module="guided_diffusion")
    from dga.commands import app

    app()


def serve() -> None:
    """Run the command ``dga-app``: this project's page, even if another ``app`` is installed."""
    sys.path.insert(0, str(ROOT))
    import_module("app.start").main()


if __name__ == "__main__":
    main()
