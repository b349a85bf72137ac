"""Many runs in a row: does memory grow?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.load.cases import CASES, Case, connect, digest
from tests.load.server import Server


def run_in_a_row(
    server: Server, folder: Path, alone: dict[Case, str], runs: int
) -> Iterator[tuple[int, bool]]:
    """After each run: resident memory in bytes, and whether the result was right."""
    client = connect(server.url)
    for number in range(runs):
        case = CASES[number % len(CASES)]
        found = digest(client.predict(**case.arguments(folder), api_name="/adapt"))
        yield server.resident(), found == alone[case]
