"""Fetching a profile's public weights: a file is whole and checked, or not there at all."""

import sys
from pathlib import Path

from huggingface_hub import constants, hf_hub_download
from huggingface_hub.file_download import http_get

from dga.io.files import lock_folder, sha256
from dga.io.parsing import first_line
from dga.profiles import Profile, PublicFile
from dga.weights.checkpoints import WeightsError
from dga.weights.sources import HUB_FILE, Sources
from dga.weights.store import find_weights_home


def fetch_missing(profile: Profile, sources: Sources) -> None:
    """Fetch the public weights that are not on this machine, and report it on stderr.

    Raises :class:`~dga.weights.checkpoints.WeightsError` where one cannot be fetched.
    """
    missing, hub = sources.list_fetchable(profile), profile.classifier.hub
    if "diffusion" in missing and profile.public:
        folder = find_weights_home() / profile.name / "diffusion"
        size = profile.public.size / 1e9
        print(f"{profile.public.url} ({size:.1f} GB) is fetched into {folder}.", file=sys.stderr)
        download(profile.public, folder)
    if "classifier" in missing and hub:
        print(f"{hub} is fetched from {constants.ENDPOINT}.", file=sys.stderr)
        try:
            hf_hub_download(hub, HUB_FILE)
        except Exception as error:  # the hub's errors have no common base besides this
            raise WeightsError(
                f"{hub} could not be fetched from {constants.ENDPOINT} ({first_line(error)}): name "
                "a local file with --classifier PATH."
            ) from error


def download(file: PublicFile, folder: Path) -> Path:
    """Fetch ``file`` into ``folder`` and return its path; nothing is done if it is there.

    The part that has arrived is kept as ``NAME.part``. The download goes on from there: in this
    call after a broken connection, in the next one after a killed process. Only the whole file with
    the right SHA-256 gets the file's own name. Progress is shown on stderr. Raises
    :class:`~dga.weights.checkpoints.WeightsError` where it cannot be fetched, and ``ValueError``
    while another process fetches it.
    """
    target, part = folder / file.name, folder / f"{file.name}.part"
    if target.exists() and sha256(target) == file.sha256:
        return target
    with lock_folder(folder):
        try:
            with part.open("ab") as out:
                http_get(file.url, out, resume_size=out.tell(), expected_size=file.size)
        except Exception as error:  # its errors have no common base besides this
            if not part.exists() or part.stat().st_size < file.size:
                raise WeightsError(
                    f"{file.url} could not be fetched: {first_line(error)}. The same command goes "
                    "on from what has arrived."
                ) from error
        if sha256(part) != file.sha256:
            part.unlink()
            raise WeightsError(
                f"{file.url} is not the file that was expected (its SHA-256 is not {file.sha256}); "
                "it was removed."
            )
        return part.replace(target)
