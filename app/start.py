"""Entry of ``python app.py`` and ``dga-app``."""

from __future__ import annotations

import gc


def main() -> None:
    """Build the page and serve it."""
    # Until all is loaded nothing is garbage, and looking for it would take a second.
    gc.disable()
    from app.demo import main as serve_page

    serve_page()
