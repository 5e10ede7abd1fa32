"""What an algorithm has learnt from a matrix, handed on so that its Lipschitz constant can be proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Output = Literal["auto", "score", "probability", "class"]
"""The words of `likewise.fairness.model_constant`, a room that stands after this one."""


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A function from the row of an individual to its outputs, in terms that `likewise.fairness.model_constant` understands.

    Parameters
    ----------
    model : object
        A fitted estimator, a trained net, or ``"identity"``.
    output : {"auto", "score", "probability", "class"}, default "auto"
        Which of its outputs was taken.
    """

    model: Any
    output: Output = "auto"


Keep = Callable[[TrainedModel], None]
"""Takes what was trained."""
