"""A page of the running server in a browser, which must not complain."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.browser import Watch


@pytest.fixture
def watch(chromium: Any, served: Any) -> Iterator[Watch]:
    """A new page and what it asks for; the test opens an address."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    watched = Watch(context.new_page(), served.url)
    yield watched
    watched.leave()
    context.close()


@pytest.fixture
def page(watch: Watch) -> Any:
    """The page alone."""
    return watch.page
