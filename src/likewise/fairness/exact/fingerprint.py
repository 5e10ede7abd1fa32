"""A short text that tells whether a saved state belongs to the same data and settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np

from likewise.fairness.distance import PairwiseDistance
from likewise.fairness.exact.blocks import units
from likewise.fairness.exact.findings import Request
from likewise.fairness.sampling import measure_pairs


def fingerprint(
    reference: PairwiseDistance, distances: Mapping[str, PairwiseDistance], request: Request
) -> str:
    """Return a checksum of what the sums over all pairs depend on.

    Data count by the distance of everybody to the next individual under each distance: a change of any row, or of their order, changes
    two of them.

    Parameters
    ----------
    reference : PairwiseDistance
    distances : mapping of str to PairwiseDistance
    request : Request
    """
    settings = {
        "arms": list(distances),
        "distances": [distance.description.to_dict() for distance in (reference, *distances.values())],
        "nearest_share": request.nearest_share,
        "condition": request.condition,
        "worst": request.worst,
        "units": len(units(reference.n_individuals)),
    }
    summed = hashlib.sha256(json.dumps(settings).encode())
    everyone = np.arange(reference.n_individuals)
    for distance in (reference, *distances.values()):
        summed.update(measure_pairs(distance, everyone[:-1], everyone[1:]).tobytes())
    if request.groups is not None:
        summed.update(request.groups.numbers.astype(np.int64).tobytes())
    if not isinstance(request.bins, int):
        summed.update(request.bins.tobytes())
    return summed.hexdigest()
