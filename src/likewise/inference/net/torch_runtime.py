"""PyTorch, imported only where a net is trained or applied; which device it uses, and how many threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from likewise.errors import MissingDependencyError, ModelError


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
