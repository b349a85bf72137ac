"""The systems of the paper's Table 1 that repair, their variants and ours.

A system is a repair, all that is done to a picture (:class:`~dga.profiles.Repair`: explain, noise,
stop, denoise), and how the frozen classifier reads the result; a new one is a line in
:func:`systems`. Those whose reader adapts are the laboratory's
(:mod:`dga.lab.readers.systems`).
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from torch import Tensor

from dga.diffusion import Schedule
from dga.io.settings import FieldPath, list_settings, override_settings
from dga.profiles import Diffusion, GuidanceConfig, Profile, Repair
from dga.profiles.configs import Bounded

DAMAGED_SHARE = 0.3
"""Weight of the damaged picture in DGA+'s ensemble (assets/results/photo/README.md)."""
DEFAULT_SYSTEMS = ("dga", "dga-guided", "dda", "dga-plus")
"""The systems that repair one picture, unless others are named."""
NOT_A_SETTING, ONLY_WITH_REPAIR = {"is_setting": False}, {"needs": "repair"}


@dataclass(frozen=True)
class System(Bounded):
    """A row of a table. Raises ``ValueError`` for numbers out of range."""

    name: str = field(metadata=NOT_A_SETTING)
    """As a user types it, settings included."""
    repair: Repair | None = None
    """None: the picture stays as it is."""
    ensemble: bool = field(default=False, metadata=ONLY_WITH_REPAIR)
    """Whether the damaged and the repaired picture are both read, and their probabilities averaged
    (DDA, section 3.3)."""
    share: float = field(default=0.5, metadata=ONLY_WITH_REPAIR | {"bounds": (0, 1)})
    """Weight of the damaged picture in that average, 0 to 1."""

    def average(self, repaired: Tensor, damaged: Tensor) -> Tensor:
        """Average an ensemble's probabilities, ``[B, classes]`` each: of the repaired pictures, and
        of those as they came."""
        return (1 - self.share) * repaired + self.share * damaged


AnySystem = TypeVar("AnySystem", bound=System)


def systems(profile: Profile) -> dict[str, System]:
    """Every system that has a name of its own, in the order of the paper's Table 1, but for those
    whose reader adapts.

    ``-ancestral``: every depth in turn. ``-published``: the settings of the papers (DDA: depth
    50 of 100, lambda 6 and self-ensemble; DiffPure: t = 0.15). The others were tuned for the
    profile.
    """
    rule, depth, ancestral = profile.stopping, profile.dda_depth, profile.ancestral_guidance
    sampling: dict[str, Any] = {"steps": profile.steps, "eta": profile.eta}
    guidance, dda_guidance = profile.guidance, profile.dda_guidance
    dda = Repair(Diffusion(depth=depth, guidance=dda_guidance, **sampling))
    dda_published = Repair(Diffusion(depth=50, guidance=GuidanceConfig(6.0)))
    plus = System("dga-plus", repair=profile.plus)
    named = (
        System("source"),
        System("diffpure", repair=Repair(Diffusion(depth=profile.diffpure_depth))),
        System("diffpure-published", repair=Repair(Diffusion(depth=16))),
        System("dda", repair=dda),
        System("dda-ensemble", repair=dda, ensemble=True),
        System("dda-published", repair=dda_published, ensemble=True),
        System(
            "dda-ancestral",
            repair=Repair(Diffusion(depth=depth, guidance=ancestral or dda_guidance)),
        ),
        System("dga", repair=Repair(Diffusion(rule, **sampling))),
        System("dga-ancestral", repair=Repair(Diffusion(rule))),
        System("dga-guided", repair=Repair(Diffusion(rule, guidance=guidance, **sampling))),
        System(
            "dga-guided-ancestral", repair=Repair(Diffusion(rule, guidance=ancestral or guidance))
        ),
        plus,
        replace(plus, name="dga-plus-ensemble", ensemble=True, share=DAMAGED_SHARE),
    )
    return {system.name: system for system in named}


def parse(profile: Profile, text: str) -> System:
    """The system that a text such as ``dga-guided`` or ``dga:tau=0.3`` names.

    Raises ``ValueError`` naming the systems or settings that there are.
    """
    by_name, name = systems(profile), text.partition(":")[0]
    if name not in by_name:
        others = "Readers that adapt, and pairs with them, are for python -m dga evaluate."
        raise ValueError(f"{refuse_name(name, by_name)} {others}")
    return configure(profile, by_name[name], text)


def parse_all(
    profile: Profile, texts: Sequence[str], parse: Callable[[Profile, str], AnySystem]
) -> dict[str, AnySystem]:
    """Systems by the text that names them. Raises what ``parse`` does, of none as of no name."""
    return {text: parse(profile, text) for text in texts or [""]}


def refuse_name(name: str, known: Iterable[str]) -> str:
    """The sentence that there is no system of this name, and which there are."""
    words = f"Unknown method {name!r}" if name else "No method was named"
    return f"{words}. Known: {', '.join(known)}."


def configure(profile: Profile, system: AnySystem, text: str) -> AnySystem:
    """The system by the name ``text``, whose settings are changed as it says after the first colon.

    Raises ``ValueError`` for what is no setting or no value of it, and for a setting that decides
    nothing.
    """
    changes = _read_changes(text)
    changed: AnySystem = override_settings(replace(system, name=text), changes)
    paths = list_settings(changed)
    for name in changes:
        if reason := _find_idle_reason(changed, paths[name]):
            raise ValueError(f"{name} decides nothing here: {reason}.")
    schedule = Schedule.from_config(profile.schedule)
    for diffusion in changed.repair.diffusions.values() if changed.repair else ():
        schedule.check_depth(diffusion.depth or 0)
        if diffusion.stopping:
            schedule.check_depth(diffusion.stopping.deepest)
    return changed


def _find_idle_reason(system: System, path: FieldPath) -> str | None:
    """Why the setting at ``path`` decides nothing; None where it decides something."""
    repair, field_name = system.repair, path[-1]
    if field_name in ("share", "trust") and not system.ensemble:
        return "only an ensemble averages two readings (ensemble=true)"
    if path[0] != "repair" or repair is None:
        return None
    if path[1] == "noise_diffusion" and repair.mending:
        return (
            "noise in a photograph is mended, by a denoiser that sees it, whose settings begin "
            "with mend_"
        )
    owners = itertools.accumulate(path, getattr, initial=system)
    diffusion = next((owner for owner in owners if isinstance(owner, Diffusion)), None)
    if diffusion is None or field_name == "depth":
        return None
    if diffusion.depth == 0:
        return "from depth 0 nothing is denoised"
    if "stopping" in path and diffusion.depth is not None:
        return f"the depth is always {diffusion.depth}"
    if field_name.startswith("sharpen") and (path[1] == "mending" or not diffusion.sharpen):
        return "nothing is sharpened"
    return None


def _read_changes(text: str) -> dict[str, str]:
    """The settings that ``dga:tau=0.3`` names, as text.

    Raises ``ValueError`` for other text, and for a setting that is named twice.
    """
    name, *parts = text.split(":")
    pairs = [part.partition("=") for part in parts]
    if any(not sign for _, sign, _ in pairs):
        raise ValueError(f"Settings look like {name}:tau=0.3:scale=3, not {text!r}.")
    changes = {key: value for key, _, value in pairs}
    if len(changes) < len(pairs):
        raise ValueError(f"{text} names a setting twice: leave one of the two out.")
    return changes


def require_repair(system: System) -> Repair:
    """The system's repair, where one picture suffices and the frozen classifier reads.

    Raises ``ValueError`` for systems without a repair, and for an ensemble.
    """
    if system.repair is None or system.ensemble:
        raise ValueError(
            f"{system.name} is measured on many pictures (python -m dga evaluate); one picture is "
            "repaired, and read by the frozen classifier."
        )
    return system.repair
