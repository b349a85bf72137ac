"""The loop that all trainers share: resume, progress, checkpoints, learning rate."""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader
from tqdm import tqdm

from dga.corruptions import CORRUPTIONS
from dga.folders.records import find_differences
from dga.io.files import CHECKPOINT, explain_writing, write_atomically
from dga.lab.data.imagenet_c import check_corruptions
from dga.profiles import Profile
from dga.weights.checkpoints import load_archive
from dga.weights.store import load_weights

CHECKPOINT_SECONDS = 60.0
"""The longest time between two checkpoints."""


@dataclass(frozen=True)
class TrainConfig:
    """What fixes a training run. Raises ``ValueError`` for numbers out of range."""

    images: int
    """How many pictures are shown in all, repeated ones counted each time."""
    batch: int
    lr: float
    """The peak learning rate. It climbs to this over ``warmup`` steps, stays, and falls linearly to
    zero over the last share ``decay`` of the run."""
    warmup: int = 200
    decay: float = 0.3
    weight_decay: float = 0.0
    ema: float = 0.995
    """Decay of the weights' moving average."""
    clip: float | None = 1.0
    """Largest norm of the gradient."""
    seed: int = 0
    bf16: bool = True
    window_share: float = 0.0
    """Share of the pictures (of a diffusion model: of the batches), 0 to 1, that are windows of
    photographs."""
    corruptions: tuple[str, ...] = CORRUPTIONS
    """Those of a discriminator's second class."""
    explanations: bool = False
    """Whether that class also holds right and wrong explanations
    (:mod:`~dga.lab.training.random_inverses`)."""
    max_depth: int | None = None
    """The depth up to which a diffusion model is mostly trained, see
    :class:`~dga.lab.training.diffusion_trainer.DiffusionBatches`; None: all of them."""
    features: str | None = None
    """timm's name of the classifier whose features a diffusion model shall keep."""
    chains: str = ""
    """Changes of the chains of damage that a conditional denoiser learns from
    (:func:`~dga.lab.training.chains.parse_chains`)."""
    rank: float = 0.24
    """Rank of what is saved of a conditional denoiser, its difference from what it began with, as a
    share of the smaller side of each matrix."""

    def __post_init__(self) -> None:
        if self.batch < 2 or self.images < self.batch:
            raise ValueError("A batch holds at least 2 pictures, and a run at least one batch.")
        if not self.lr > 0:
            raise ValueError("The learning rate must be above 0.")
        if not 0 <= self.window_share <= 1:
            raise ValueError(f"The share of windows is 0 to 1, not {self.window_share}.")
        if not 0 < self.rank <= 1:
            raise ValueError(f"The rank is a share above 0, at most 1, not {self.rank}.")
        check_corruptions(self.corruptions)

    @property
    def steps(self) -> int:
        return self.images // self.batch

    def compute_lr(self, step: int) -> float:
        """Learning rate of step 0...steps - 1."""
        rise = min(1.0, (step + 1) / max(1, self.warmup))
        fall = min(1.0, (self.steps - step) / max(1.0, self.decay * self.steps))
        return self.lr * rise * fall


@dataclass(frozen=True)
class Training:
    """One training run: the profile whose network is trained, its numbers, folder and device."""

    profile: Profile
    config: TrainConfig
    out: Path
    device: torch.device
    init: Path | None = None
    """Weights from which the run continues; None: it begins with random ones."""
    workers: int = 0
    """How many processes make batches ahead, which changes nothing but the speed."""

    def describe(self, model: str, **pictures: Any) -> dict[str, Any]:
        """What a checkpoint and the run that goes on from it must have in common.

        ``pictures``: sets of them, which have a fingerprint, or None.
        """
        fingerprints = {name: one and one.compute_fingerprint() for name, one in pictures.items()}
        run = {"model": model, "profile": self.profile.name, "init": str(self.init or "")}
        return run | fingerprints

    def start(
        self, build: Callable[[], nn.Module], load: Callable[..., nn.Module] = load_weights
    ) -> Any:
        """A new network, with the weights in ``init`` unless there is a checkpoint to go on from.

        Raises :class:`~dga.weights.checkpoints.WeightsError` for weights of another network.
        """
        torch.manual_seed(self.config.seed)
        network = build()
        if self.init is not None and not (self.out / CHECKPOINT).exists():
            load(network, self.init).train().requires_grad_()
        return network.to(self.device)

    def fit(
        self,
        model: nn.Module,
        loss: Callable[[Any], tuple[Tensor, dict[str, float]]],
        identity: dict[str, Any],
        batches: Any,
        optimizer: torch.optim.Optimizer | None = None,
    ) -> nn.Module:
        """Train ``model`` in place, and return the exponential moving average of its weights.

        - ``loss``: returns the loss of one batch, and other numbers for the progress bar.
        - ``identity``: what this run must have in common with a checkpoint, beside its config.
        - ``batches``: maps a step to its batch.
        - ``optimizer``: AdamW unless another one is given.

        Statistics of batch norms are not averaged: they have to be measured anew. A run that was
        killed goes on from its checkpoint, and on a CPU ends with the same bits as one that was
        not. Raises ``ValueError`` for a checkpoint of another run, and ``FloatingPointError`` for a
        loss that is not a number.
        """
        config = self.config
        self.out.mkdir(parents=True, exist_ok=True)
        if optimizer is None:
            optimizer = torch.optim.AdamW(model.parameters(), weight_decay=config.weight_decay)
        average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(config.ema))
        facts = {**identity, **dataclasses.asdict(config)}
        parts = {"model": model, "average": average, "optimizer": optimizer}
        checkpoint = Checkpoint(self.out / CHECKPOINT, facts, parts)
        first = checkpoint.resume()
        model.train()
        last_save, smooth = time.monotonic(), dict[str, float]()
        with self._load(batches, first) as bar:
            for step, batch in enumerate(bar, first):
                with torch.autocast(self.device.type, torch.bfloat16, enabled=config.bf16):
                    value, numbers = loss(batch)
                self._take_step(model, optimizer, value, step)
                average.update_parameters(model)
                for name, number in {"loss": value.item(), **numbers}.items():
                    smooth[name] = 0.98 * smooth.get(name, number) + 0.02 * number
                if step % 10 == 0:
                    bar.set_postfix({k: f"{v:.4f}" for k, v in smooth.items()}, refresh=False)
                is_last = step + 1 == config.steps
                if is_last or time.monotonic() - last_save > CHECKPOINT_SECONDS:
                    checkpoint.save(step + 1)
                    last_save = time.monotonic()
        network: nn.Module = average.module
        return network.eval()

    def _load(self, batches: Any, first: int) -> "tqdm[Any]":
        """Batches from step ``first`` on, made ahead by :attr:`workers`, with a progress bar."""
        steps = self.config.steps
        loader = DataLoader(
            batches,
            batch_size=None,
            sampler=range(first, steps),
            num_workers=self.workers,
            pin_memory=self.workers > 0 and torch.cuda.is_available(),
        )
        return tqdm(loader, total=steps, initial=first, unit="step", mininterval=1.0)

    def _take_step(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, value: Tensor, step: int
    ) -> None:
        """Change the weights by the gradient of the loss ``value``.

        Raises ``FloatingPointError`` for a loss that is not a number.
        """
        if not torch.isfinite(value):
            raise FloatingPointError(f"The loss became {value.item()} at step {step}.")
        for group in optimizer.param_groups:
            group["lr"] = self.config.compute_lr(step)
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        if self.config.clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), self.config.clip)
        optimizer.step()


@dataclass(frozen=True)
class Checkpoint:
    """The file from which a killed run goes on."""

    path: Path
    facts: dict[str, Any]
    """What fixes the run; a checkpoint with other facts is refused."""
    parts: dict[str, Any]
    """What has a state (model, optimizer ...), by its name in the file."""

    def save(self, step: int) -> None:
        """Write the state after ``step`` steps.

        Where that fails, as on a full disk, the checkpoint before it stays, and ``OSError`` is
        raised.
        """
        states = {name: part.state_dict() for name, part in self.parts.items()}
        with (
            explain_writing(self.path),
            write_atomically(self.path) as part,
            part.open("wb") as file,  # torch's own writer has no error of its own
        ):
            torch.save({"facts": self.facts, "step": step, **states}, file)

    def resume(self) -> int:
        """Restore the state of the file, and return how many steps are done; 0 without a file.

        Raises ``ValueError`` for a damaged file, and for one of another run, with what differs.
        """
        path = self.path
        if not path.exists():
            return 0
        try:
            state = load_archive(path)
            earlier = dict(state["facts"])
        except Exception as error:  # made to do harm, a file can bring its reader to raise anything
            raise ValueError(f"{path} cannot be resumed; delete it to start over.") from error
        if changes := find_differences(earlier, self.facts):
            raise ValueError(
                f"{path} belongs to another run ({changes[0]}). Choose another folder."
            )
        for name, part in self.parts.items():
            part.load_state_dict(state[name])
        return int(state["step"])
