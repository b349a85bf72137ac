"""pip-audit, also where a package index answers for a project but not for each of its versions.

A project's page tells the advisories of its newest version.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import requests
from pip_audit._cli import audit

plain: Callable[..., requests.Response] = requests.Session.get


def get(session: requests.Session, url: str, **options: Any) -> requests.Response:
    """The page of a version; where there is none, the project's if that version is its newest."""
    answer = plain(session, url=url, **options)
    page = re.fullmatch(r"(.*/pypi/[^/]+)/([^/]+)/json", url)
    if answer.status_code == 404 and page:
        project = plain(session, url=f"{page[1]}/json", **options)
        if project.ok and project.json()["info"]["version"] == page[2]:
            return project
    return answer


if __name__ == "__main__":
    requests.Session.get = get  # type: ignore[method-assign]
    sys.exit(audit())
