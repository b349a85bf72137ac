"""A headless Chromium, and pages that note what they ask for and complain about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
)


# Not for the whole session: its event loop would be in the way of other modules.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(ARGUMENTS))
        yield browser
        browser.close()


class Watch:
    """One page of the server at ``home``: nobody else is asked, nothing is complained about."""

    def __init__(self, page: Any, home: str) -> None:
        self.page, self.home = page, home
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.set_default_timeout(60_000)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._console)

    def _console(self, message: Any) -> None:
        if message.type == "error":
            where = (message.location or {}).get("url", "")
            self.complaints.append(f"{message.text} {where}")

    def says(self, selector: str, words: str) -> None:
        """Wait until this element has these words: components are drawn one after another."""
        check = "([one, words]) => document.querySelector(one)?.textContent.includes(words)"
        self.page.wait_for_function(check, arg=[selector, words])

    def counts(self, selector: str, number: int) -> None:
        """Wait until there are this many such elements."""
        check = "([one, number]) => document.querySelectorAll(one).length === number"
        self.page.wait_for_function(check, arg=[selector, number])

    def audit(self, dark: bool = False) -> None:
        """Fail for anything that axe calls serious or critical."""
        axe = pytest.importorskip(
            "axe_playwright_python.sync_playwright",
            reason="axe-playwright-python (requirements-dev.txt) is not installed",
        )
        self.page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
        self.page.wait_for_timeout(500)
        answer = axe.Axe().run(self.page).response
        assert len(answer["passes"]) > 10
        grave = [v for v in answer["violations"] if v["impact"] in ("serious", "critical")]
        assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in grave] == []

    def foreign(self) -> list[str]:
        """Requests that left this server."""
        own = (self.home, "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]

    def leave(self) -> None:
        self.page.close()
        assert self.complaints == []
        assert self.foreign() == []
