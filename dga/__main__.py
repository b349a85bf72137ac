"""Command line: ``python -m dga`` and one of the commands in :mod:`dga.commands`."""

import warnings

warnings.filterwarnings("ignore", category=FutureWarning, module="guided_diffusion")

from dga.commands import app  # noqa: E402  (the filter must come first)


def main() -> None:
    """Entry of the command ``dga``."""
    app()


if __name__ == "__main__":
    main()
