"""Files of ``torch.save``: what they ask for is looked at before any of it is read."""

import argparse
import pickle
import pickletools
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import torch

ZIP = b"PK\x03\x04"
LEGACY_PICKLES = 5
"""Before torch 1.6: magic number, protocol, system, content, keys; then the raw storages."""
INERT = {
    "argparse.Namespace",  # timm's trainer keeps its options so
    "collections.OrderedDict",
    "torch.Size",
    "torch.device",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
}


def load_archive(path: Path, mapped: bool = False) -> Any:
    """What ``torch.save`` wrote, on the CPU; no code of the file is run.

    ``weights_only`` alone lets a hundred bytes fill the memory (a compressed zip, or a
    ``bytearray`` of any length), so names and sizes are looked at first. ``mapped``: the
    tensors stay in the file until they are used. Raises ``pickle.UnpicklingError`` for names
    other than those of tensors, and what ``torch.load`` and ``zipfile`` raise for a damaged
    file.
    """
    with path.open("rb") as file:
        zipped = file.read(len(ZIP)) == ZIP  # as torch itself tells them apart
        file.seek(0)
        names = _archived(file) if zipped else _legacy(file)
        foreign = sorted({name for name in names if not _is_inert(name)})
    if foreign:
        raise pickle.UnpicklingError(f"it asks for {', '.join(foreign[:3])}")
    with torch.serialization.safe_globals([argparse.Namespace]):
        return torch.load(path, "cpu", weights_only=True, mmap=mapped and zipped)


def _archived(file: IO[bytes]) -> Iterator[str]:
    """The names in a zip's pickles. Raises ``ValueError`` if it would grow when read."""
    size = file.seek(0, 2)
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        if not stored or sum(entry.file_size for entry in entries) > size:
            raise ValueError("it would grow when it is read, as torch.save's files do not")
        for entry in entries:
            if entry.filename.endswith(".pkl"):
                yield from _names(archive.read(entry))


def _legacy(file: IO[bytes]) -> Iterator[str]:
    for _ in range(LEGACY_PICKLES):
        yield from _names(file)


def _names(content: bytes | IO[bytes]) -> Iterator[str]:
    """Whatever a pickle would look up; torch refuses every other way of naming things."""
    for operation, argument, _ in pickletools.genops(content):
        if operation.name == "GLOBAL":
            yield str(argument).replace(" ", ".")


def _is_inert(name: str) -> bool:
    module, _, last = name.rpartition(".")
    kind = getattr(torch, last, None) if module == "torch" else None
    is_storage = name.startswith("torch.") and last.endswith("Storage")
    return name in INERT or is_storage or isinstance(kind, torch.dtype)
