"""Pictures of the running app for the README: ``python -m tests.screenshots --out FOLDER``."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from app.demo import serve
from app.pages.findings.page import shipped_exhibits
from app.presets.cases import CASES
from app.runs.session import Session
from tests.fixtures.address import free_port
from tests.fixtures.browser import CHROMIUM

PATIENCE = 120_000  # milliseconds
LOADED = 6000  # milliseconds: runs, fades, thumbnails
QUALITY = 82
DISCREET = "button[data-name=lion] > img { filter: blur(6px); }"  # not ours to publish
FRAME_MS = 220  # a depth
DEPTHS = 25


@dataclass(frozen=True)
class Shot:
    """One picture: a page at ``path``, ``width`` by ``height`` CSS pixels, shown ``shown`` wide."""

    name: str
    path: str
    width: int
    height: int
    shown: int
    dark: bool = False


SHOTS = (
    Shot("adapt-light", "", 1440, 900, 960),
    Shot("adapt-dark", f"?run={CASES[2].name}", 1440, 900, 960, dark=True),
    Shot("adapt-phone", "", 390, 844, 390),
    Shot("photo", "photo", 1440, 900, 960),
    Shot("board", "board", 1440, 1270, 960),
    Shot("findings", "findings", 1440, 1060, 960),
    Shot("learn", "learn#step-3", 1440, 900, 960),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the shipped models, visit every page and write ``NAME.webp`` for each."""
    parser = argparse.ArgumentParser(description="Take the README's pictures of the running app.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    options = parser.parse_args(arguments)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SystemExit("dga: install playwright first (requirements-dev.txt).") from None
    session = Session.load()
    options.out.mkdir(parents=True, exist_ok=True)
    port = free_port()
    demo = serve(session, "127.0.0.1", port, block=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--hide-scrollbars"]
        )
        for shot in SHOTS:
            if shot.name == "findings" and not shipped_exhibits(session.profile).is_dir():
                continue
            picture = take(browser, f"http://127.0.0.1:{port}/", shot)
            picture.save(options.out / f"{shot.name}.webp", quality=QUALITY, method=6)
        frames = list(film(browser, f"http://127.0.0.1:{port}/"))
        frames[0].save(
            options.out / "run.webp", save_all=True, append_images=frames[1:], loop=0,
            duration=[FRAME_MS] * (len(frames) - 1) + [2000], quality=60, method=6,
        )  # fmt: skip
        browser.close()
    demo.close(verbose=False)


def take(browser: Any, home: str, shot: Shot) -> Image.Image:
    """One page, when everything on it is there."""
    page = _open(browser, home + shot.path, shot.width, shot.height, shot.dark)
    if shot.name == "photo":
        page.wait_for_selector(".ph-divider:not([hidden])")
    if shot.name == "board":
        page.wait_for_selector(".bd-cell.there")
    if shot.name == "learn":
        page.wait_for_selector("#step-3 .ln-widget.ready", state="attached", timeout=PATIENCE)
    page.wait_for_timeout(LOADED)
    picture = Image.open(io.BytesIO(page.screenshot()))
    page.close()
    height = round(picture.height * shot.shown / picture.width)
    return picture.convert("RGB").resize((shot.shown, height), Image.Resampling.LANCZOS)


def film(browser: Any, home: str) -> Iterator[Image.Image]:
    """The recorded run rebuilt from one depth after another, as the arrow keys show it."""
    page = _open(browser, home, 1440, 900, dark=False)
    page.wait_for_timeout(LOADED)
    stop = page.locator(".plot .stop")
    stop.focus()
    page.keyboard.press("Home")
    for _ in range(DEPTHS):
        page.wait_for_timeout(60)
        picture = Image.open(io.BytesIO(page.locator(".try").screenshot()))
        yield picture.convert("RGB").resize((800, round(picture.height * 800 / picture.width)))
        page.keyboard.press("ArrowRight")
    page.close()


def _open(browser: Any, address: str, width: int, height: int, dark: bool) -> Any:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE)
    page.add_init_script("sessionStorage.setItem('dga-opened', '1')")  # its last frame
    page.goto(address)
    page.add_style_tag(content=DISCREET)
    page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
    page.wait_for_selector("gradio-app main", timeout=PATIENCE)  # a stream keeps the network busy
    return page


if __name__ == "__main__":
    main()
