"""Files of ``torch.save``, read without running code of theirs."""

import argparse
import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch

_ZIP = b"PK\x03\x04"


def load_archive(path: Path, mapped: bool = False) -> Any:
    """What ``torch.save`` wrote, on the CPU; nothing but tensors and plain values.

    ``weights_only`` alone would unfold a small compressed zip until the memory is full. ``mapped``:
    the tensors stay in the file until they are used. Raises ``pickle.UnpicklingError`` for anything
    else, and what ``torch.load`` and ``zipfile`` raise for a damaged file.
    """
    with path.open("rb") as file:
        is_zip = file.read(len(_ZIP)) == _ZIP  # as torch itself tells them apart
    if is_zip:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if any(entry.filename.endswith("/constants.pkl") for entry in entries):
                raise pickle.UnpicklingError("it holds a TorchScript program")
            pickles = [entry for entry in entries if entry.filename.endswith(".pkl")]
            grows = sum(entry.file_size for entry in entries) > path.stat().st_size
            stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
            if grows or not stored:
                raise ValueError("it would grow when it is read, as torch.save's files do not")
            if any(b"bytearray" in archive.read(entry) for entry in pickles):  # of any length
                raise pickle.UnpicklingError("GLOBAL builtins.bytearray")
    with torch.serialization.safe_globals([argparse.Namespace]):  # timm's trainer keeps options so
        return torch.load(path, "cpu", weights_only=True, mmap=mapped and is_zip)
