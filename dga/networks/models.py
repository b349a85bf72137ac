"""The frozen networks of a profile, loaded and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path

import torch
from torch import nn

from dga.diffusion import Schedule
from dga.io.parsing import to_one_line
from dga.networks.classifier import build_classifier, load_classifier, load_packaged
from dga.networks.compute import Compute, isolate_numerics, use_one_thread_in_forks
from dga.networks.published import PublishedDiscriminator
from dga.networks.unet import ConditionalDenoiser, Denoiser, Discriminator
from dga.profiles import ClassifierConfig, Profile, ReleaseConfig, get_profile
from dga.weights.checkpoints import WeightsError
from dga.weights.classifiers import classifier_config
from dga.weights.sources import (
    CONDITIONAL,
    EXPLAINER,
    Sources,
    check_present,
    check_sum,
    find_packaged_checkpoint,
)
from dga.weights.store import (
    fill_network,
    load_weights,
    read_config,
    read_state,
    restore_differences,
    weights_folder,
    weights_id,
)


@dataclass(frozen=True)
class Models:
    """Everything :func:`dga.adapt` needs besides a picture.

    ``explainer``: the discriminator that DGA+ asks, its own or the same.
    """

    profile: Profile
    schedule: Schedule
    denoiser: nn.Module
    discriminator: nn.Module
    explainer: nn.Module
    classifier: nn.Module
    compute: Compute
    conditional: nn.Module | None = None
    """The denoiser that sees the damaged picture, for :mod:`dga.mending`."""
    weights: dict[str, str] = field(default_factory=dict)
    """Which exact weights these are, by network."""

    @property
    def networks(self) -> dict[str, nn.Module]:
        """Every network that there is, by the name of its field."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, nn.Module)}

    @property
    def device(self) -> torch.device:
        """Where the networks are."""
        networks = self.networks.values()
        return next(p for network in networks for p in network.parameters()).device

    @property
    def window_size(self) -> int:
        """Pixels a side of the windows that the discriminator was trained on and judges."""
        return self.profile.discriminator.image_size

    @isolate_numerics
    def to(self, device: torch.device | str) -> Models:
        """These models with their networks moved to ``device`` (in place, as PyTorch does).

        A precision that nobody asked for by name becomes the one that suits the new device.
        Raises ``ValueError`` for a device that is not there.
        """
        compute = replace(self.compute, device=torch.device(device))
        if compute.is_automatic and compute.device != self.compute.device:
            compute = Compute.choose(str(compute.device))
        for network in self.networks.values():
            compute.prepare(network)
        return replace(self, compute=compute)


@dataclass(frozen=True)
class ModelFiles:
    """A profile's networks, not loaded yet.

    ``paths``: by network (``diffusion``, ``discriminator``, ``classifier``, perhaps ``explainer``)
    a folder that we wrote, or another's checkpoint.
    """

    profile: Profile
    paths: dict[str, Path]

    @cached_property
    def weights(self) -> dict[str, str]:
        """Which exact weights these are, by network; a checkpoint is read for it."""
        public = self.profile.public
        # A published file's SHA-256 is compared on loading.
        return {
            name: public.sha256[:12] if public and path.name == public.name else weights_id(path)
            for name, path in self.paths.items()
        }

    @isolate_numerics
    def load(self, compute: Compute) -> Models:
        """Verify, load and freeze them. Raises ``WeightsError``."""
        use_one_thread_in_forks()
        networks = {
            name: compute.prepare(_LOAD[name](self.profile, path))
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
            weights=self.weights,
        )


def find_models(profile: str | Profile = "photo", sources: Sources = Sources()) -> ModelFiles:
    """What :func:`load_models` loads; of it only the classifier's config is read.

    Raises :class:`~dga.weights.checkpoints.WeightsError` naming what is missing or unsuited.
    """
    if isinstance(profile, str):
        profile = get_profile(profile)
    check_present(profile, sources)
    profile = fit_profile(profile, classifier_config(profile, sources))
    return ModelFiles(profile, sources.locate(profile))


def fit_profile(profile: Profile, classifier: ClassifierConfig) -> Profile:
    """The profile with another classifier, its pictures at that one's size where any will do."""
    if classifier == profile.classifier or not profile.explains_by_windows:
        return replace(profile, classifier=classifier)
    size = max(classifier.input_size, profile.discriminator.image_size)  # it reads them reduced
    release = ReleaseConfig(max(classifier.resize or size, size), size, quality=None, bicubic=True)
    classifier = replace(classifier, resize=None)
    return replace(profile, classifier=classifier, image_size=size, release=release)


def load_models(
    profile: str | Profile = "photo", sources: Sources = Sources(), compute: Compute | None = None
) -> Models:
    """Load, verify and freeze a profile's networks.

    ``sources``: by default the weights that ship or were fetched. Nothing is downloaded. Raises
    :class:`~dga.weights.checkpoints.WeightsError` naming what is missing, altered or unsuited.
    """
    return find_models(profile, sources).load(compute or Compute.choose())


@cache
def load_default_models() -> Models:
    """Those of the profile ``photo``, the same at every call."""
    return load_models()


def load_denoiser(profile: Profile, path: Path) -> nn.Module:
    """The diffusion model from a folder of ours or a guided-diffusion checkpoint.

    Built without memory, checked, and given the tensors of the file themselves.
    """
    check_sum(profile, path)
    if is_conditional(path):
        raise WeightsError(
            f"{path} holds a denoiser that sees the damaged picture: name it with --conditional, "
            "and a diffusion model here."
        )
    with torch.device("meta"):
        network = Denoiser(profile.denoiser)
    return load_weights(network, path)


def is_conditional(path: Path) -> bool:
    """Whether a folder holds a denoiser that sees the damaged picture."""
    return read_config(path).get("model") == CONDITIONAL


def base_of_conditional(profile: Profile) -> Path:
    """The diffusion model from which a conditional denoiser's file is a difference."""
    return weights_folder(profile.networks or profile.name, "diffusion")


def load_conditional(profile: Profile, path: Path) -> nn.Module:
    """The denoiser that sees the damaged picture, from a folder of ours.

    It is stored as what it learned beyond the diffusion model that ships.
    """
    if not is_conditional(path):
        raise WeightsError(f"{path} holds no denoiser that sees the damaged picture.")
    base = base_of_conditional(profile)
    if weights_id(base) != read_config(path).get("base"):
        raise WeightsError(f"{path} was trained on from another diffusion model than {base}.")
    network = ConditionalDenoiser(profile.denoiser)
    origin = network.widen({name: value.float() for name, value in read_state(base).items()})
    try:
        state = restore_differences(read_state(path), origin)
    except (KeyError, RuntimeError) as error:
        raise WeightsError(f"{path} does not fit {base} ({to_one_line(error)}).") from error
    return fill_network(network, path, state)


def load_discriminator(profile: Profile, path: Path) -> nn.Module:
    """The discriminator from a folder of ours or a checkpoint in the paper's layout."""
    config = profile.discriminator
    if path.is_file() and config.fold != 1:
        raise WeightsError(
            f"{path} does not suit {profile.name}: a checkpoint in the paper's layout needs a "
            "profile without folding."
        )
    with torch.device("meta"):
        network = (
            PublishedDiscriminator(config, profile.schedule)
            if path.is_file()
            else Discriminator(config)
        )
    return load_weights(network, path)


def _load_classifier(profile: Profile, path: Path) -> nn.Module:
    if path.is_file():
        if path == find_packaged_checkpoint(profile.classifier.package):
            return load_packaged(profile.classifier, path)
        return load_classifier(profile.classifier, path)
    return load_weights(build_classifier(profile.classifier), path)


_LOAD: dict[str, Callable[[Profile, Path], nn.Module]] = {
    "diffusion": load_denoiser,
    "discriminator": load_discriminator,
    EXPLAINER: load_discriminator,
    CONDITIONAL: load_conditional,
    "classifier": _load_classifier,
}
