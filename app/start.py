"""Entry of ``python app.py`` and of the command ``dga-app``."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import tempfile


def main() -> None:
    """Build the pages and serve them."""
    for name in ("GRADIO_SERVER_PORT", "GRADIO_NUM_PORTS"):  # Gradio reads them as it is imported
        number = os.environ.get(name, "1")
        if not number.isdecimal() or not int(number):
            raise SystemExit(f"dga: {name} is a number above 0, not {number!r}.")
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    for name in ("NO_PROXY", "no_proxy"):  # Gradio asks the page whether it is there, nobody else
        os.environ[name] = "*"
    # Until all is loaded nothing is garbage, and looking for it would take a second.
    gc.disable()
    try:
        parent = os.environ.get("GRADIO_TEMP_DIR") or None
        folder = tempfile.mkdtemp("", "dga-files-", parent)
    except OSError as error:
        raise SystemExit(f"dga: Uploads cannot be kept: {error}.") from None
    try:
        os.environ["GRADIO_TEMP_DIR"] = folder  # Gradio reads it as it is imported
        from app.demo import main as serve_page

        serve_page()
    finally:
        remove(folder)
    sys.stdout.flush()
    os._exit(0)  # nobody waits for the rest of a run that nobody will see


def remove(folder: str) -> None:
    """Remove a folder; where that takes longer, the process that does it outlives this one."""
    if os.name != "posix":
        shutil.rmtree(folder, ignore_errors=True)
        return
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.Popen(["rm", "-rf", folder], start_new_session=True).wait(1)
