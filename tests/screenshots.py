"""Pictures of the running app for the README: ``python -m tests.screenshots --out FOLDER``."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from app.demo import serve
from app.runs.models import Networks
from dga.networks.models import load_models
from tests.fixtures.address import free_port
from tests.fixtures.browser import CHROMIUM

LOADED = 5000  # milliseconds
QUALITY = 82


@dataclass(frozen=True)
class Shot:
    """One picture: a page at ``path``, in CSS pixels, reduced to ``reduced`` pixels across."""

    name: str
    path: str
    width: int = 1440
    height: int = 900
    reduced: int = 960
    is_dark: bool = False


SHOTS = (
    Shot("repair", ""),
    Shot("repair-dark", "", is_dark=True),
    Shot("repair-phone", "", 390, 844, 390),
    Shot("inside", "#inside"),
    Shot("all-15", "all-15"),
    Shot("results", "results"),
    Shot("learn", "learn#step-3"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the shipped networks, visit every page and write ``NAME.webp`` for each."""
    parser = argparse.ArgumentParser(description="Take the README's pictures of the running app.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    options = parser.parse_args(arguments)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SystemExit("dga: install playwright first (requirements-dev.txt).") from None
    options.out.mkdir(parents=True, exist_ok=True)
    port = free_port()
    serve(Networks(load_models("photo")), "127.0.0.1", port, is_quiet=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--hide-scrollbars"]
        )
        for shot in SHOTS:
            picture = take_picture(browser, f"http://127.0.0.1:{port}/", shot)
            picture.save(options.out / f"{shot.name}.webp", quality=QUALITY, method=6)
        browser.close()


def take_picture(browser: Any, home: str, shot: Shot) -> Image.Image:
    """One page, when everything on it is there."""
    page = browser.new_page(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.is_dark else "light",
    )
    page.goto(home + shot.path)
    page.wait_for_timeout(LOADED)
    picture = Image.open(io.BytesIO(page.screenshot()))
    page.close()
    height = round(picture.height * shot.reduced / picture.width)
    return picture.convert("RGB").resize((shot.reduced, height), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
