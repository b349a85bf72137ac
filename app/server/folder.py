"""The folder that Gradio keeps files of programs' calls in; nothing heavy is imported here."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

PREFIX = "dga-files-"


def make_folder() -> str:
    """A folder for files of programs' calls, which goes with the server; the same when asked again.

    Gradio reads where it is as it is imported. Raises ``OSError``.
    """
    parent = os.environ.get("GRADIO_TEMP_DIR", "")
    if not Path(parent).name.startswith(PREFIX) or not Path(parent).is_dir():
        is_named = bool(parent) and not Path(parent).name.startswith(PREFIX)
        folder = tempfile.mkdtemp(prefix=PREFIX, dir=parent if is_named else None)
        os.environ["GRADIO_TEMP_DIR"] = folder
    return os.environ["GRADIO_TEMP_DIR"]
