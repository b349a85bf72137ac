"""What visitors are told when something is refused or goes wrong."""

from __future__ import annotations

NEVER_BEGAN = "Cancelled before it began."
GONE = "This could not be loaded: load the page again."
NO_MEMORY = (
    "The server's memory ran out during this run; try again in a moment, or with fewer tries."
)
NO_FILE = "The server could not read or write a file; its log says why. Please try again later."
FAILED = "The run failed unexpectedly; the server's log says why. Please try again."
GATE_WORDS = {
    "closed": "There is nothing at this address.",
    "long": "The request is too long: a picture may have 20 MB.",
    "foreign_site": "Another site's page cannot use this server, nor can a proxy that it was not "
    "told of (FORWARDED_ALLOW_IPS).",
    "crowded": "Too many requests at once from this address. Please try again in a moment.",
    "full": "The server has no room for more pictures now. Please try again in some minutes.",
    "quota": "As many pictures as fit have come from your network within an hour. "
    "Please try again later.",
    "misunderstood": "The request could not be understood.",
    "slow": "The request did not arrive in time. Please try again.",
    "no_session": "This request needs a session of its own; please load the page again.",
    "failed": "The request failed unexpectedly; the server's log says why. Please try again.",
    "file": NO_FILE,
    "foreign": "Only uploads are opened, neither addresses nor the server's own files: "
    "upload the picture first.",
}
NOT_FOUND = {
    "title": "Nothing here",
    "says": GATE_WORDS["closed"],
    "help": "The address may be misspelt, or the page may have moved.",
    "back": "Go to the first page",
}
NOT_SERVED = {
    "title": "Not served",
    "help": "Whoever runs this server finds in app/server/README.md, Behind a proxy, what to set.",
    "back": NOT_FOUND["back"],
}
BUSY_WORDS = {
    "full": "The server is busy: {count} runs are waiting. Please try again in a minute.",
    "address": "The server is busy: {count} runs from your network are waiting. "
    "Please try again in a minute.",
    "visitor": "{count} of your runs are waiting already. Please try again when one is done.",
}
REFUSED = "The server is too busy for another run now. Please try again in a minute."
