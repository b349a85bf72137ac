"""The device and precision of networks, independent of what a program has set in PyTorch."""

import functools
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, Self, TypeVar

import torch
from torch import nn

from dga.io.parsing import check_choice, first_line
from dga.networks.unet import Denoiser, GuidedNetwork


@functools.cache
def use_one_thread_in_forks() -> None:
    """Let processes that are forked from now on run networks, each on one thread.

    A fork does not copy OpenMP's threads. Without this function the first large convolution of a
    forked process would wait for them for ever.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


P = ParamSpec("P")
R = TypeVar("R")
PRECISIONS = ("auto", "float32", "bfloat16", "float16")
FULL_SIZE = 30_000_000
"""A discriminator with so many parameters runs in the denoiser's precision on a processor."""
BFLOAT16_UNITS = ("amx_bf16", "avx512_bf16", "bf16", "sve_bf16")
"""Features of processors that multiply bfloat16 faster than float32."""
_dtype_lock = threading.Lock()
_callers, _callers_dtype = 0, torch.float32
"""How many callers need float32 as the default dtype, and the dtype that the last one restores."""


@dataclass(frozen=True)
class Compute:
    """A device, and the precision of the denoiser's convolutions."""

    device: torch.device
    dtype: torch.dtype
    is_automatic: bool = False
    """Whether the device decides on the precision, and from float32 anew when networks move."""

    @classmethod
    def choose(cls, device: str | None = None, precision: str = "auto") -> Self:
        """Choose a device, by default a GPU, and a precision, by default the faster one.

        ``device``: as PyTorch names it; ``precision``: one of :data:`PRECISIONS`. ``float32`` is
        the reference: the package's own networks, bit for bit, and on a GPU without TF32, which
        :meth:`prepare` switches off for the whole process. Raises ``ValueError`` for an unknown
        precision or a device that is not there.
        """
        check_choice("precision", precision, PRECISIONS)
        try:
            chosen = torch.device(device or choose_default_device())
            torch.zeros(1, device=chosen)
        except (RuntimeError, AssertionError) as error:
            raise ValueError(
                f"Device {device!r} cannot be used here: {first_line(error)}."
            ) from error
        dtype = choose_fastest_dtype(chosen) if precision == "auto" else getattr(torch, precision)
        return cls(chosen, dtype, is_automatic=precision == "auto")

    @property
    def precision(self) -> str:
        """``float32``, ``bfloat16`` or ``float16``."""
        return str(self.dtype).removeprefix("torch.")

    def prepare(self, network: nn.Module) -> nn.Module:
        """Move a network to the device, and a denoiser also to the precision and its kernels.

        The discriminator and the classifier stay in float32, so that t* and the label of a given
        picture do not depend on the precision. An exception is a discriminator of the full size on
        a processor, which takes seconds a call: it gets the denoiser's precision. A network may be
        prepared again, for another device; once its weights are rounded, it keeps its precision.
        """
        if self.device.type == "cuda" and self.dtype == torch.float32:
            torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        network.to(self.device)
        if not isinstance(network, GuidedNetwork) or network.dtype != torch.float32:
            return network
        size = sum(p.numel() for p in network.parameters())
        is_slow = isinstance(network, Denoiser) or (size >= FULL_SIZE and self.device.type == "cpu")
        if is_slow and self.dtype != torch.float32:
            network.convert_torso(self.dtype)
            for parameter in network.parameters():
                if parameter.dtype == torch.float32:
                    parameter.data = parameter.data.clone()  # no longer mapped from its file
            network.use_fast_blocks()
        return network


def choose_default_device() -> str:
    """``cuda`` if there is a GPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def choose_fastest_dtype(device: torch.device) -> torch.dtype:
    """Choose bfloat16 where the device has units for it, else float32.

    No time is measured, so that a busy machine chooses as an idle one does.
    """
    if device.type == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        abilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
        native = device.type == "cpu" and any(map(abilities.get, BFLOAT16_UNITS))
    return torch.bfloat16 if native else torch.float32


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that the memory of any device ran out."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    words = str(error).lower()
    return "out of memory" in words or "can't allocate memory" in words


@contextmanager
def _float32_by_default() -> Iterator[None]:
    """Make float32 the default dtype of the process for a while.

    Where threads overlap, the first one sets it and the last one restores what it was.
    """
    global _callers, _callers_dtype
    with _dtype_lock:
        dtype = torch.get_default_dtype()
        if not _callers or dtype != torch.float32:
            _callers_dtype = dtype
        _callers += 1
        torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        with _dtype_lock:
            _callers -= 1
            if not _callers and torch.get_default_dtype() == torch.float32:
                torch.set_default_dtype(_callers_dtype)


@contextmanager
def _default_numerics() -> Iterator[None]:
    """Restore PyTorch's own settings for a while; memory that runs out is a ``MemoryError``."""
    with torch.inference_mode(False), _float32_by_default(), ExitStack() as stack:
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        try:
            yield
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            raise MemoryError(
                f"Memory ran out ({first_line(error)}): take fewer pictures or methods at once, "
                "--precision bfloat16, another --device, or guidance with through_network=false."
            ) from error


def isolate_numerics(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that PyTorch's settings in a program around it change no result.

    While the function works, inference mode (guidance needs gradients) and autocast are off, and
    the default dtype (in all threads) and device are PyTorch's own. Raises ``MemoryError`` where
    memory runs out. A generator function has these settings only while it computes, not while its
    caller does.
    """
    if not inspect.isgeneratorfunction(function):
        return _default_numerics()(function)

    @functools.wraps(function)
    def steps(*args: P.args, **options: P.kwargs) -> Any:
        with closing(function(*args, **options)) as events:
            while True:
                with _default_numerics():
                    try:
                        event = next(events)
                    except StopIteration as end:
                        return end.value
                yield event

    return steps
