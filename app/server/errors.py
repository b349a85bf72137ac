"""Memory that runs out, files that fail: what ends a run, as sentences for the visitor."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from app.words.errors import FAILED, NO_FILE, NO_MEMORY
from dga.data.uploads import UploadError
from dga.networks.memory import free_memory, is_shortage

_log = logging.getLogger(__name__)


class RunError(RuntimeError):
    """A run that had to stop. The message is one sentence for the visitor."""


class RequestError(ValueError):
    """A request that cannot be met. The message is one sentence for the visitor."""


# Whose words are ours and may be shown; what else is raised is for the log.
SENTENCES = (RunError, RequestError, UploadError, FloatingPointError)


def sentence_of(error: Exception) -> str:
    """What a visitor is told of an error; what is not meant for her goes to the log."""
    if isinstance(error, SENTENCES):
        return str(error)
    _log.error("Something failed unexpectedly", exc_info=error)
    return FAILED


@contextmanager
def translate_errors() -> Iterator[None]:
    """Memory that ran out and files that failed become a :class:`RunError`.

    The log keeps the details, paths among them. What the failed work had in memory is given
    back, so that the next run finds as much as the last one.
    """
    try:
        yield
    except OSError as error:
        _log.exception("A file could not be read or written")
        raise RunError(NO_FILE) from error
    except Exception as error:
        if not is_shortage(error):
            raise
        _log.exception("Memory ran out")
        traceback.clear_frames(error.__traceback__)  # they hold the tensors
        free_memory()
        raise RunError(NO_MEMORY) from error
