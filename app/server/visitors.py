"""Who somebody is, and how much is hers of all that costs: decided here, and nowhere else."""

from __future__ import annotations

import contextlib
import ipaddress
import math
import os
import time
from collections import Counter, deque
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.types import Scope

from dga.data.uploads import MAX_BYTES

FILE_SECONDS = 3000
"""For which files of programs' calls are kept."""


@dataclass(frozen=True)
class Visitor:
    """``address``: hers, behind a named proxy the one that it forwards; of IPv6 a network.

    ``page``: a name that she chooses for one of hers, which only divides what her address has.
    """

    address: str = ""
    page: str = ""


NOBODY = Visitor()
REFUSALS = {
    "closed": (404, "There is nothing at this address."),
    "method": (405, "This address does not answer such requests."),
    "long": (413, f"The request is too long: a picture may have {MAX_BYTES // 2**20} MB."),
    "slow": (408, "The request did not arrive in time. Please try again."),
    "foreign": (403, "Another site's page cannot use this server. A proxy has to pass on Host, or "
                     "X-Forwarded-Host and be named in FORWARDED_ALLOW_IPS."),
    "crowded": (429, "Too many requests at once from your network. Please try again in a moment."),
    "quota": (429, "As many pictures as fit have come within an hour. Please try again later."),
    "several": (400, "One file at a time, please."),
    "full": (503, "The server is busy. Please try again in a minute."),
    "misunderstood": (400, "The request could not be understood."),
    "file": (400, "Only uploads are opened, neither addresses nor the server's own files."),
    "memory": (503, "The server's memory ran out; please try a smaller photo."),
    "failed": (500, "The request failed unexpectedly; the server's log says why."),
}  # fmt: skip


class VisitorError(Exception):
    """What is asked for is not done; the message is one sentence for the visitor.

    ``status``: of the answer, as HTTP has it.
    """

    status = 503


class RefusedError(VisitorError):
    """A request is not answered; ``word``: a key of :data:`REFUSALS`."""

    def __init__(self, word: str) -> None:
        self.status, sentence = REFUSALS[word]
        super().__init__(sentence)


@dataclass
class Account:
    """Something that costs: at most ``most`` of it in all, ``most_of_one`` for one address.

    It is given back by whoever took it, or comes back after ``seconds``, at the times in ``_ends``;
    ``words``: of refusals, where an address, and where all together would have too much.
    """

    most: float = math.inf
    most_of_one: float = math.inf
    seconds: float = math.inf
    words: tuple[str, str] = ("crowded", "full")
    amounts: Counter[str] = field(default_factory=Counter, init=False)
    total: int = field(default=0, init=False)
    _ends: deque[tuple[float, str, int]] = field(default_factory=deque, init=False)

    def take(self, address: str, amount: int = 1) -> None:
        """Raises :class:`RefusedError`, and takes nothing, where it is too much."""
        if refusal := self.find_refusal(address, amount):
            raise RefusedError(refusal)
        self.amounts[address] += amount
        self.total += amount
        if self.seconds < math.inf:
            self._ends.append((time.monotonic() + self.seconds, address, amount))

    def find_refusal(self, address: str, amount: int) -> str:
        """Why so much more may not be taken; empty where it may."""
        while self._ends and self._ends[0][0] <= time.monotonic():
            self.give_back(*self._ends.popleft()[1:])
        if self.amounts[address] + amount > self.most_of_one:
            return self.words[0]
        return self.words[1] if self.total + amount > self.most else ""

    def lend(self, address: str, loans: ExitStack, amount: int = 1) -> None:
        """Take it until ``loans`` ends. Raises :class:`RefusedError`."""
        self.take(address, amount)
        loans.callback(self.give_back, address, amount)

    def give_back(self, address: str, amount: int = 1) -> None:
        self.total -= amount
        self.amounts[address] -= amount
        if not self.amounts[address]:
            del self.amounts[address]

    def find_greedy(self, sizes: Counter[str]) -> str | None:
        """Who has most, of what lies here by address; None where there is room for all of it."""
        (address, size), *_ = sizes.most_common(1) or [("", 0)]
        has_room = size <= self.most_of_one and sizes.total() <= self.most
        return None if has_room else address


class Visitors:
    """All accounts; what is told apart is addresses, and of an address its pages."""

    def __init__(self) -> None:
        self.proxies = os.environ.get("FORWARDED_ALLOW_IPS", "")
        self.requests = {"GET": Account(15_000, 1500, 10.0), "POST": Account(6000, 600, 10.0)}
        self.open_requests = {"GET": Account(8192, 512), "POST": Account(1024, 64)}
        self.bodies = Account(3 * 2**26, 3 * 2**25)  # bytes of requests, until they are answered
        self.files = Account(2**30, 2**28, FILE_SECONDS + 120, ("quota", "quota"))  # bytes
        self.memory = Account(3 * 2**26, 2**27)  # bytes of photos and what was made of them
        self.run_pixels = Account(4_000_000, 2_000_000)  # each takes some 100 bytes
        self.comparisons = Account(6, 3)  # each takes some 50 MB
        self.streams = Account()  # by whose messages they give

    def admit(self, request: Request, address: str, loans: ExitStack) -> None:
        """Count a request until it is answered. Raises :class:`RefusedError`."""
        kind = "POST" if request.method == "POST" else "GET"
        self.requests[kind].take(address)
        self.open_requests[kind].lend(address, loans)
        if kind == "GET":
            last = str(request.scope["path"]).rpartition("/")[2]
            self.streams.lend(request.query_params.get("session_hash", last), loans)


def count_blocks(size: int) -> int:
    """Bytes that a file takes, with its folder and its place among others'."""
    return -(-size // 2**16) * 2**16


def find_address(scope: Scope) -> str:
    """Whom a request counts for: its address, of IPv6 the network that one customer has."""
    host = str((scope.get("client") or ("",))[0])
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        if isinstance(address, ipaddress.IPv6Address):
            return str(address.ipv4_mapped or ipaddress.ip_network((int(address), 64), False))
    return host


def find_visitor(request: Any, page: str = "") -> Visitor:
    """Whom a request counts for: the page's and assistants' as it came, programs' in Gradio's."""
    inner = getattr(request, "request", request)
    return Visitor(find_address(inner.scope) if inner else "", page[:32])
