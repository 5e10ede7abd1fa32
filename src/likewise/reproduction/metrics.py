"""Numbers to and from JSON, which has no NaN and no infinities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, isfinite, nan, sqrt
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Turn a record into what JSON has; NaN and infinities become their names, which ``float`` reads.

    Examples
    --------
    >>> plain({"a": np.float64("inf"), "b": (1, np.int64(2))})
    {'a': 'inf', 'b': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value) if isinstance(value, float) and not isfinite(value) else value


@dataclass(frozen=True)
class Summary:
    """A figure over the simulations of a cell.

    Parameters
    ----------
    mean : float
    two_sd : float
        Two standard deviations of single simulations; NaN where there is one.
    n : int
        How many simulations.
    """

    mean: float
    two_sd: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float | str | None]) -> Summary | None:
        """Summarise the simulations that have the figure; None if none has.

        Examples
        --------
        >>> Summary.of([1.0, 2.0, None, 3.0]), Summary.of([None])
        (Summary(mean=2.0, two_sd=2.0, n=3), None)
        """
        known = [float(value) for value in values if value is not None]
        if not known:
            return None
        n = len(known)
        mean = fsum(known) / n if all(map(isfinite, known)) else sum(known) / n
        spread = (
            sqrt(fsum((value - mean) ** 2 for value in known) / (n - 1)) if n > 1 and isfinite(mean) else nan
        )
        return cls(mean, 2 * spread, n)


ON_OBSERVED = "d = l1 on Z for every arm: one fixed reference, a valid comparison"
ON_INPUT = "d = l1 on what each arm was given, Z for h and A_hat for f: the released code's reference, not a valid comparison"
ON_TRUTH = "d = l2 on A for every arm"


@dataclass(frozen=True)
class Metric:
    """A figure of a cell.

    Parameters
    ----------
    title : str
    reference : str
        Against which distance it is measured; empty where against none.
    published_h, published_f : str
        The rows of the published table that it stands beside; empty where there is none.
    of_truth : bool
        Whether the figure of A itself, as outputs, tells the reader something.
    """

    title: str
    reference: str = ""
    published_h: str = ""
    published_f: str = ""
    of_truth: bool = False


METRICS: dict[str, Metric] = {
    "mse": Metric("Mean squared error of entries not observed", "", "mse_h", "mse_f"),
    "if1_observed": Metric("IF_1 (Z), mean ratio", ON_OBSERVED, "if1_h_Z", "if1_f_Z", of_truth=True),
    "if1_input": Metric("IF_1, mean ratio with d on A_hat", ON_INPUT, "if1_h_Z", "if1_f_Z"),
    "if2_truth": Metric("IF_2 (A), mean ratio", ON_TRUTH, "if2_h_A", "if2_f_A", of_truth=True),
    "similar_ratio": Metric("Mean ratio of the tenth of pairs most similar by A", ON_OBSERVED, of_truth=True),
    "scale_free_ratio": Metric("Scale-free mean ratio", ON_OBSERVED, of_truth=True),
    "similar_scale_free_ratio": Metric(
        "Scale-free mean ratio of the tenth of pairs most similar by A", ON_OBSERVED, of_truth=True
    ),
    "spread": Metric("Output spread", of_truth=True),
    "k2": Metric("K2 of Theorem 4.1", "l1 on Z to l2 on A_hat, proved", "", "k2"),
    "k_star": Metric("K*, the exact constant before clipping", "l1 on Z to l2 on A_hat, proved"),
    "rank": Metric("Rank: singular values kept"),
    "threshold": Metric("Threshold tau"),
    "clipped": Metric("Share of A_hat that clipping changes"),
}
"""The figures of a cell, in the order of a table; smaller ratios are stronger fairness."""
