"""What is proved of single individuals of an audit: of those of the sandwich, and of everybody where that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.certificates import Certificate, LipschitzCertificates, RegressionCertificate, Unavailable
from likewise.certificates.individual_constants import (
    IndividualConstants,
    OwnConstant,
    OwnConstants,
    constants_within,
)
from likewise.certificates.operator_norm import upward
from likewise.errors import InputError, option
from likewise.pipeline.run import Run
from likewise.pipeline.summaries import Proved
from likewise.writing import PathLike

_NAMED = 3
"""Individuals who are named, those of the largest constants of their own."""


def own_constants(
    regression: RegressionCertificate | None,
    constant: float | None,
    rows: sparse.csr_array,
    names: NDArray[Any],
) -> OwnConstants | None:
    """Return the median of K_i over some rows and the largest, with whom they are of; None where no constant of a regression is proved.

    The `constant` is what is proved of the arm: K1 K.
    """
    if regression is None or not constant:
        return None
    own = _of_arm(_of_estimate(regression, rows), regression, constant)
    covered = np.flatnonzero(~np.isnan(own))
    if not covered.size:
        return None
    largest = covered[np.argsort(-own[covered], kind="stable")[:_NAMED]].tolist()
    return OwnConstants(
        n_individuals=covered.size,
        median=float(np.median(own[covered])),
        largest=tuple(
            OwnConstant(name, float(own[place]))
            for place, name in zip(largest, names[largest].tolist(), strict=True)
        ),
    )


def check_own_constants(path: PathLike | None, certificates: LipschitzCertificates | None) -> None:
    """Raise InputError where constants of individuals were asked for, and the estimate has none."""
    if path is None:
        return
    found = None if certificates is None else certificates.regression
    if not isinstance(found, RegressionCertificate):
        given = f"{option('individual_constants', str(path))} of an estimate whose constant is the same for everybody, or which has none"
        why = f" ({found.reason})" if isinstance(found, Unavailable) else ""
        raise InputError(
            given,
            f"an estimate of which each row is a regression{why}",
            "als, soft-impute and biases make one",
        )


def everybodys_constants(
    run: Run, proved: Mapping[str, Proved], certificates: LipschitzCertificates | None
) -> IndividualConstants:
    """Return K_i of everybody; `check_own_constants` has made sure that there are any."""
    assert run.training is not None
    assert certificates is not None
    assert isinstance(certificates.regression, RegressionCertificate)
    rows = run.training.scaled(run.working_range).values
    of_estimate = _of_estimate(certificates.regression, rows)
    of_algorithm = proved.get("with")
    return IndividualConstants(
        run.training.row_ids,
        np.diff(rows.indptr).astype(np.int64),
        of_estimate,
        _of_arm(of_estimate, certificates.regression, of_algorithm.value)
        if isinstance(of_algorithm, Certificate)
        else None,
    )


def _of_estimate(regression: RegressionCertificate, rows: sparse.csr_array) -> Floats:
    """Return K_i of each row; NaN where it lies outside the domain."""
    found = np.full(rows.shape[0], np.nan)
    covered = np.flatnonzero(regression.covers(rows))
    found[covered] = constants_within(regression, rows[covered])
    return found


def _of_arm(of_estimate: Floats, regression: RegressionCertificate, constant: float) -> Floats:
    """Return the same of outputs: times the K1 of the model that runs on the estimate, and at most the constant for all."""
    of_model = constant / regression.certificate.value if regression.certificate.value else 0.0
    return np.minimum([upward(of_model * value, 4) for value in of_estimate.tolist()], constant)
