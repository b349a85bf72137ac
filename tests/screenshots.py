"""Pictures of the running app for the README: ``python -m tests.screenshots --out FOLDER``."""

import argparse
import io
from pathlib import Path
from typing import Any

from PIL import Image

from app.demo import serve
from app.runs.models import Networks
from dga.networks.models import load_models
from tests.fixtures.address import free_port
from tests.fixtures.browser import launch_chromium

LOADED = 5000  # milliseconds
PAGES = {
    "repair": "", "repair-dark": "", "repair-phone": "", "inside": "#inside", "all-15": "all-15",
    "results": "results", "learn": "learn#step-3",
}  # fmt: skip
"""By the name of a picture what follows the page's address."""


def take_picture(browser: Any, address: str, name: str) -> Image.Image:
    """One page, when everything on it is there; a wide one is reduced."""
    width, height = (390, 844) if "phone" in name else (1440, 900)
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if "dark" in name else "light",
        reduced_motion="reduce",  # nothing is on its way
    )
    page.goto(address)
    page.wait_for_timeout(LOADED)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    picture.thumbnail((960, height), Image.Resampling.LANCZOS)
    return picture


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Take the README's pictures of the running app.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    home = f"http://127.0.0.1:{(port := free_port())}/"
    serve(Networks(load_models("photo")), "127.0.0.1", port, is_quiet=True)
    for browser in launch_chromium("--hide-scrollbars"):
        for name, path in PAGES.items():
            picture = take_picture(browser, home + path, name)
            picture.save(out / f"{name}.webp", quality=82, method=6)
