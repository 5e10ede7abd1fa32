"""The figures of a cell: what each is called, against which reference it is measured, and what the paper prints for it."""

from __future__ import annotations

from dataclasses import dataclass

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
