"""Fairness figures by the definition, one pair at a time: what the package's blocked code is held against."""

from __future__ import annotations

import math

import numpy as np


def distance(x, y, order):
    """lq distance of two complete vectors."""
    return math.fsum(abs(float(a) - float(b)) ** order for a, b in zip(x, y, strict=True)) ** (1 / order)


def pair_table(rows, order):
    """All (i, j), i < j, with their distance."""
    m = len(rows)
    return {(i, j): distance(rows[i], rows[j], order) for i in range(m) for j in range(i + 1, m)}


def ratio(output, reference):
    """D / d, with 0 / 0 = 0."""
    if reference == 0:
        return 0.0 if output == 0 else math.inf
    return output / reference


def ordered_mean(d, D, m):
    """The double sum of Section 6, over i and j both from 0 to m - 1."""
    total = 0.0
    for i in range(m):
        for j in range(m):
            if i != j:
                pair = (min(i, j), max(i, j))
                total += ratio(D[pair], d[pair])
    return total / m**2


def quantile(values, share):
    """Smallest value that at least the share of all values do not exceed, by counting."""
    for value in sorted(values):
        if sum(other <= value for other in values) >= share * len(values) - 1e-9:
            return value
    raise AssertionError


def similar_pairs(d, share):
    """Pairs no further apart than the share-quantile of all distances."""
    radius = quantile(list(d.values()), share)
    return [pair for pair, value in d.items() if value <= radius]


def figures(d, D, m, share):
    """Every figure, in a dictionary."""
    ratios = {pair: ratio(D[pair], d[pair]) for pair in d}
    near = similar_pairs(d, share)
    mean_d, mean_D = (float(np.mean(list(values.values()))) for values in (d, D))
    defined = mean_d > 0 and mean_D > 0
    scale_free = {pair: ratio(D[pair] / mean_D, d[pair] / mean_d) if defined else math.nan for pair in d}
    return {
        "mean_ratio": ordered_mean(d, D, m),
        "pair_mean_ratio": float(np.mean(list(ratios.values()))),
        "max_ratio": max(ratios.values()),
        "scale_free_ratio": float(np.mean(list(scale_free.values()))),
        "mean_reference_distance": mean_d,
        "mean_output_distance": mean_D,
        "similar_mean_ratio": float(np.mean([ratios[pair] for pair in near])),
        "similar_max_ratio": max(ratios[pair] for pair in near),
        "similar_output_gap": float(np.mean([D[pair] for pair in near])),
        "similar_scale_free_ratio": float(np.mean([scale_free[pair] for pair in near])),
    }
