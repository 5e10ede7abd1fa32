"""How a dense net is built and trained, and on which device: PyTorch is imported only where a net is trained or applied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

from likewise.checks import checked_name, checked_positive, checked_share, checked_whole
from likewise.errors import MissingDependencyError, ModelError

Batches = Literal["epochs", "independent"]
"""Each observation once before any comes again, or every batch drawn anew."""


@dataclass(frozen=True)
class NetSettings:
    """Size and training of a dense net; the defaults are those of the paper's experiments.

    Parameters
    ----------
    hidden : tuple of int, default (300, 100)
        Units of each hidden layer, at least one layer.
    learning_rate : float, default 1e-3
        Of Adam.
    batch_size : int, default 128
        Observations in a step; all that train, if there are fewer.
    n_steps : int, default 2000
    validation_fraction : float, default 0.2
        Share of the observations that chooses the state to keep and trains nothing, in (0, 1).
    check_every : int, default 100
        Steps between two validations; the last step is validated too.
    device : str, default "auto"
        A CUDA device where there is one, else the CPU; or a device of torch by name.
    n_threads : int or None, default 1
        Threads of torch on the CPU while it trains and predicts; None leaves torch's setting. A batch is small: further threads save
        little where CPUs are idle, and wait for one another where they are not.
    batches : {"epochs", "independent"}, default "epochs"
        Each training observation once before any comes again; or every batch drawn anew from all of them, as the released code does.

    Raises
    ------
    ModelError
        Naming the setting that cannot be used.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6. The paper does not say how often it validates; 100 is
    the released code's.
    """

    hidden: tuple[int, ...] = (300, 100)
    learning_rate: float = 1e-3
    batch_size: int = 128
    n_steps: int = 2000
    validation_fraction: float = 0.2
    check_every: int = 100
    device: str = "auto"
    n_threads: int | None = 1
    batches: Batches = "epochs"

    def __post_init__(self) -> None:
        for name in ("batch_size", "n_steps", "check_every"):
            checked_whole(name, getattr(self, name), error=ModelError)
        if self.n_threads is not None:
            checked_whole("n_threads", self.n_threads, or_else="None", error=ModelError)
        _ensure_layers(self.hidden)
        checked_positive("learning_rate", self.learning_rate, error=ModelError)
        checked_share("validation_fraction", self.validation_fraction, error=ModelError)
        checked_name("batches", self.batches, get_args(Batches), ModelError)
        if not isinstance(self.device, str):
            raise ModelError(f"device is {self.device!r}", "'auto', 'cpu', or a device of torch by name")


def _ensure_layers(hidden: Any) -> None:
    if not isinstance(hidden, tuple | list) or not hidden:
        raise ModelError(f"hidden is {hidden!r}", "the units of each hidden layer, such as (300, 100)")
    for units in hidden:
        checked_whole("hidden", units, error=ModelError)


def import_torch() -> Any:
    """Return the torch module.

    Raises
    ------
    MissingDependencyError
        If it is not installed, with the command that installs it.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "a dense net needs PyTorch, which is not installed; run pip install '.[dnn]' in the checkout, or pip install torch"
        ) from error
    return torch


def device_of(name: str) -> Any:
    """Return the torch device of a name; ``"auto"`` is a CUDA device where there is one.

    Raises
    ------
    ModelError
        If there is no such device here.
    """
    torch = import_torch()
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ModelError(
            f"device {name!r}, which cannot be used here ({reason})", "'auto', 'cpu', or a device of torch"
        ) from error
    return device


@contextmanager
def threads(number: int | None) -> Iterator[None]:
    """Let torch use so many threads for a while; None leaves its setting alone."""
    if number is None:
        yield
        return
    torch = import_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
