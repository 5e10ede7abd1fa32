"""An inference algorithm h, and what it has learnt from a matrix, handed on so that its Lipschitz constant can be proved."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.errors import LikewiseError, ModelError
from likewise.observations import ObservedMatrix
from likewise.observations.outputs import checked_outputs
from likewise.progress import Progress

Output = Literal["auto", "score", "probability", "class"]
"""The words of `likewise.certificates.model_constant`."""


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A function from the row of an individual to its outputs, in terms that `likewise.certificates.model_constant` understands.

    Parameters
    ----------
    model : object
        A fitted estimator, a trained net, or ``"identity"``.
    output : {"auto", "score", "probability", "class"}, default "auto"
        Which of its outputs was taken.
    function : callable or None, default None
        From complete rows, shape (k, n), to their outputs, where that can be said of rows that were not there.
    """

    model: Any
    output: Output = "auto"
    function: Callable[[Floats], Any] | None = None


Keep = Callable[[TrainedModel], None]
"""Takes what was trained."""


class Model(ABC):
    """An inference algorithm h: from a complete matrix B to an output for each individual.

    A model of your own has a `name`, says whether it `predicts_entries`, and does its work in `run`; `register_model` gives it a name
    on the command line. A plain function needs none of this: `as_model` takes it as it is.

    Attributes
    ----------
    name : str
        What it is called in a report.
    predicts_entries : bool
        Whether outputs of the matrix's own shape are predictions of its entries, so that they have an error.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in a report."""

    @property
    @abstractmethod
    def predicts_entries(self) -> bool:
        """Whether outputs of the matrix's own shape are predictions of its entries."""

    @abstractmethod
    def run(
        self, matrix: Any, observed: ObservedMatrix | None, progress: Progress | None
    ) -> tuple[Any, TrainedModel | None]:
        """Return the outputs, and what was learnt on the way, or None where that is not a function of a row; see `__call__`."""

    def ensure_usable(self) -> None:  # noqa: B027  most models need nothing that could be absent
        """Raise what `run` would raise before it looks at any data, such as that a library is not installed."""

    def __call__(
        self,
        matrix: Any,
        observed: ObservedMatrix | None = None,
        *,
        progress: Progress | None = None,
        keep: Keep | None = None,
    ) -> Floats:
        """Return the outputs h(i, B) of every individual.

        Parameters
        ----------
        matrix : ndarray or csr_array, shape (m, n)
            B, on the method's working range; rows are individuals. What a sparse one does not store is 0.
        observed : ObservedMatrix, shape (m, n), optional
            What was observed, on the same working range, for algorithms that learn it or can tell observed entries from filled ones.
        progress : callable, optional
            Called with (done, total) by algorithms that work in steps.
        keep : callable, optional
            Called with the `TrainedModel` by algorithms that have one.

        Returns
        -------
        ndarray, shape (m,) or (m, k)

        Raises
        ------
        ModelError
            If the algorithm fails, or its outputs are not one finite row for each individual.
        """
        outputs, trained = self.run(matrix, observed, progress)
        if keep is not None and trained is not None:
            keep(trained)
        return checked_outputs(outputs, matrix.shape[0], self.name)


class FunctionModel(Model):
    """A function of the dense matrix as a model; its errors are reported as `ModelError`.

    It is called with the matrix, and with ``observed=`` and ``keep=`` if it has parameters of these names. Outputs of the matrix's own shape are
    predictions of its entries, unless `predicts_entries` says not, as where a transformer puts out new features.
    """

    name = ""
    predicts_entries = True

    def __init__(self, name: str, function: Callable[..., Any], *, predicts_entries: bool = True) -> None:
        self.name, self.predicts_entries, self._function = name, predicts_entries, function

    def run(
        self,
        matrix: Any,
        observed: ObservedMatrix | None,
        progress: Progress | None,  # noqa: ARG002  a function of ours or of others reports nothing
    ) -> tuple[Any, TrainedModel | None]:
        """Return the function's outputs, and what it kept."""
        kept: list[TrainedModel] = []
        offered = {"observed": observed, "keep": kept.append}
        extra = {name: value for name, value in offered.items() if _takes(self._function, name)}
        try:
            outputs = self._function(as_array(matrix), **extra)
        except LikewiseError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ModelError(
                f"{self.name} failed on a matrix of shape {matrix.shape} with {reason}",
                "a model that runs on it",
            ) from error
        return outputs, kept[-1] if kept else None


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C
        return False
