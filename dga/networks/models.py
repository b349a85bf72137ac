"""The frozen networks of a profile, loaded and checked."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from dga.diffusion import Schedule
from dga.io.parsing import to_one_line
from dga.networks.classifier import build_classifier, load_classifier, load_packaged_classifier
from dga.networks.compute import Compute, isolate_numerics, use_one_thread_in_forks
from dga.networks.unet import ConditionalDenoiser, Denoiser, Discriminator
from dga.profiles import ClassifierConfig, Profile, ReleaseConfig, get_profile
from dga.weights.checkpoints import WeightsError
from dga.weights.classifiers import choose_classifier_config
from dga.weights.sources import (
    CONDITIONAL,
    DEWARPER,
    EXPLAINER,
    Sources,
    check_present,
    check_public_sha256,
    find_packaged_checkpoint,
)
from dga.weights.store import (
    compute_weights_id,
    fill_network,
    find_weights_folder,
    load_weights,
    read_config,
    read_state,
    restore_differences,
)

CONDITIONAL_TITLES = {
    CONDITIONAL: "denoiser that sees the damaged picture",
    DEWARPER: "denoiser for warped pictures",
}


@dataclass(frozen=True)
class Models:
    """The networks of a profile, loaded, and what is needed to run them."""

    profile: Profile
    schedule: Schedule
    denoiser: nn.Module
    """The diffusion model."""
    discriminator: nn.Module
    explainer: nn.Module
    """The discriminator that DGA+ asks; where it has none of its own, ``discriminator``."""
    classifier: nn.Module
    compute: Compute
    conditional: nn.Module | None = None
    """The denoiser that sees the damaged picture, for :mod:`dga.mending`."""
    dewarper: nn.Module | None = None
    """Such a denoiser for pictures that glass, uneven or rough, has moved the pixels of."""
    weights: dict[str, str] = field(default_factory=dict)
    """A short name of the exact weights of each network."""

    @property
    def networks(self) -> dict[str, nn.Module]:
        """The networks that are there, by the names of their fields."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, nn.Module)}

    @property
    def device(self) -> torch.device:
        """The device of the networks."""
        return next(
            parameter for network in self.networks.values() for parameter in network.parameters()
        ).device

    @property
    def window_size(self) -> int:
        """Pixels a side of the windows that the discriminator was trained on and judges."""
        return self.profile.discriminator.image_size

    @isolate_numerics
    def to(self, device: torch.device | str) -> Self:
        """Move the networks to ``device``, in place as PyTorch does, and return the models.

        Where the device had chosen float32, the new one chooses anew. A lower precision stays,
        since weights that were rounded cannot become float32 again. Raises ``ValueError`` for a
        device that is not there.
        """
        old = self.compute
        is_free = old.is_automatic and old.dtype == torch.float32
        compute = Compute.choose(str(device), "auto" if is_free else old.precision)
        for network in self.networks.values():
            compute.prepare(network)
        return replace(self, compute=compute)


@dataclass(frozen=True)
class ModelFiles:
    """The files of a profile's networks, not loaded yet."""

    profile: Profile
    paths: dict[str, Path]
    """By network (``diffusion``, ``discriminator``, ``classifier``, perhaps ``explainer``,
    ``conditional`` and ``dewarper``) a folder that our trainer wrote, or a checkpoint of others."""

    @cached_property
    def weights(self) -> dict[str, str]:
        """A short name of the exact weights of each network, for which checkpoints are read."""
        public = self.profile.public
        # The SHA-256 of a published file is compared on loading.
        return {
            name: public.sha256[:12]
            if public and path.name == public.name
            else compute_weights_id(path)
            for name, path in self.paths.items()
        }

    @isolate_numerics
    def load(self, compute: Compute) -> Models:
        """Verify, load and freeze the networks. Raises ``WeightsError``."""
        use_one_thread_in_forks()
        networks = {
            name: compute.prepare(_LOADERS[name](self.profile, path))
            for name, path in self.paths.items()
        }
        return Models(
            profile=self.profile,
            schedule=Schedule.from_config(self.profile.schedule),
            denoiser=networks["diffusion"],
            discriminator=networks["discriminator"],
            explainer=networks.get(EXPLAINER, networks["discriminator"]),
            classifier=networks["classifier"],
            compute=compute,
            conditional=networks.get(CONDITIONAL),
            dewarper=networks.get(DEWARPER),
            weights=self.weights,
        )


def find_models(profile: str | Profile = "photo", sources: Sources = Sources()) -> ModelFiles:
    """Find the files of a profile's networks; only the classifier's configuration is read.

    Raises :class:`~dga.weights.checkpoints.WeightsError` naming what is missing or does not fit.
    """
    if isinstance(profile, str):
        profile = get_profile(profile)
    check_present(profile, sources)
    profile = fit_profile(profile, choose_classifier_config(profile, sources))
    return ModelFiles(profile, sources.locate(profile))


def fit_profile(profile: Profile, classifier: ClassifierConfig) -> Profile:
    """Give a profile another classifier.

    Where the profile's other networks were made for another size anyway, its pictures get that of
    the classifier's input, but are no smaller than the discriminator's windows.
    """
    if classifier == profile.classifier or profile.networks is None:
        return replace(profile, classifier=classifier)
    size = max(classifier.input_size, profile.discriminator.image_size)
    release = ReleaseConfig(max(classifier.resize or size, size), size, quality=None, bicubic=True)
    classifier = replace(classifier, resize=None)
    return replace(profile, classifier=classifier, image_size=size, release=release)


def load_models(
    profile: str | Profile = "photo", sources: Sources = Sources(), compute: Compute | None = None
) -> Models:
    """Load, verify and freeze a profile's networks.

    ``sources``: by default the weights that ship or were fetched; ``compute``: by default a GPU if
    there is one. Nothing is downloaded. Raises ``ValueError`` for an unknown profile, and
    :class:`~dga.weights.checkpoints.WeightsError` naming what is missing, altered or does not fit.
    """
    return find_models(profile, sources).load(compute or Compute.choose())


@cache
def load_default_models() -> Models:
    """Load the models of the profile ``photo`` once, and return the same ones at every call."""
    return load_models()


def load_denoiser(profile: Profile, path: Path) -> nn.Module:
    """Load the diffusion model from a folder of ours or a guided-diffusion checkpoint.

    The network is built without memory, and then takes the tensors of the file themselves. Raises
    :class:`~dga.weights.checkpoints.WeightsError`.
    """
    check_public_sha256(profile, path)
    if is_conditional(path):
        raise WeightsError(
            f"{path} holds a denoiser that sees the damaged picture: name it with --conditional, "
            "and a diffusion model here."
        )
    with torch.device("meta"):
        network = Denoiser(profile.denoiser)
    return load_weights(network, path)


def is_conditional(path: Path, model: str = CONDITIONAL) -> bool:
    """Whether a folder holds a denoiser that sees the damaged picture; ``model``: which one."""
    return read_config(path).get("model") == model


def find_conditional_base(profile: Profile, model: str = CONDITIONAL) -> Path:
    """Find the weights to which the file of such a denoiser is the difference."""
    if model == DEWARPER:
        return find_weights_folder(profile.name, CONDITIONAL)
    return find_weights_folder(profile.networks or profile.name, "diffusion")


def load_conditional(profile: Profile, path: Path, model: str = CONDITIONAL) -> nn.Module:
    """Load a denoiser that sees the damaged picture from a folder of ours.

    The folder holds the difference from the network that ships and with which its training began:
    for ``model`` ``conditional`` the diffusion model, for ``dewarper`` the former. Raises
    :class:`~dga.weights.checkpoints.WeightsError`.
    """
    if not is_conditional(path, model):
        raise WeightsError(f"{path} holds no {CONDITIONAL_TITLES[model]}.")
    base = find_conditional_base(profile, model)
    if compute_weights_id(base) != read_config(path).get("base"):
        raise WeightsError(f"{path} was trained on from another network than {base}.")
    network = ConditionalDenoiser(profile.denoiser)
    try:
        state = restore_differences(read_state(path), load_origin(profile, base))
    except (KeyError, RuntimeError) as error:
        raise WeightsError(f"{path} does not fit {base} ({to_one_line(error)}).") from error
    return fill_network(network, path, state)


def load_origin(profile: Profile, base: Path) -> dict[str, Tensor]:
    """Load the weights, float32, with which such a denoiser's training begins.

    ``base``: a diffusion model, or a denoiser of this kind. Raises
    :class:`~dga.weights.checkpoints.WeightsError`.
    """
    for model in CONDITIONAL_TITLES:
        if is_conditional(base, model):
            return load_conditional(profile, base, model).state_dict()
    state = {name: value.float() for name, value in read_state(base).items()}
    return ConditionalDenoiser(profile.denoiser).widen(state)


def load_discriminator(profile: Profile, path: Path) -> nn.Module:
    """Load the discriminator from a folder of ours or a checkpoint.

    Raises :class:`~dga.weights.checkpoints.WeightsError`.
    """
    with torch.device("meta"):
        network = Discriminator(profile.discriminator)
    return load_weights(network, path)


def _load_classifier(profile: Profile, path: Path) -> nn.Module:
    """Load the classifier from a folder of ours, a Python package or a checkpoint of timm's."""
    if path.is_file():
        if path == find_packaged_checkpoint(profile.classifier.package):
            return load_packaged_classifier(profile.classifier, path)
        return load_classifier(profile.classifier, path)
    return load_weights(build_classifier(profile.classifier), path)


_LOADERS: dict[str, Callable[[Profile, Path], nn.Module]] = {
    "diffusion": load_denoiser,
    "discriminator": load_discriminator,
    EXPLAINER: load_discriminator,
    CONDITIONAL: load_conditional,
    DEWARPER: partial(load_conditional, model=DEWARPER),
    "classifier": _load_classifier,
}
