"""Folding for factors that are found by regression: a new row is treated exactly as the rows of the fit were."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.certificates.regression_map import RegressionMap
from likewise.errors import FeatureWarning, InputError
from likewise.estimation.base.factor_update import (
    Factors,
    ObservedRows,
    Prior,
    packed_size,
    regress,
    unpacked,
)
from likewise.estimation.base.folding import (
    FEATURES_COUNT,
    PATTERN_COUNTS,
    PENALTY_BY_COUNT,
    TIME_COUNTS,
    Folding,
    RidgeFolding,
    shared_weights,
)
from likewise.estimation.base.folding import Factors as LowRankFactors
from likewise.estimation.base.prior_mean import PriorMean
from likewise.observations import Features
from likewise.observations.table import Values, with_data

_SCALARS = ("centre", "noise", "uncertain", "by_count")


@dataclass(frozen=True, eq=False)
class PosteriorFolding(Folding):
    """Coefficients and offset of a row together: its regression on the factors of the columns, as in `alternating_least_squares`.

    The penalty of an offset is part of the prior, so `row_penalty` is None.
    """

    # (v_j, b_j) and their second moments, and the prior of the rows. Given always: fields of the base have defaults.
    columns: Factors = None  # type: ignore[assignment]
    prior: Prior = None  # type: ignore[assignment]
    centre: float = 0.0  # mean that was subtracted from the observations
    # (d - 1, r), from coordinates to coefficients in terms of the columns V of the estimate.
    turn: Floats = None  # type: ignore[assignment]
    # How the mean of the prior of a row follows from its features and from which entries it observed; None where it is 0.
    mean: PriorMean | None = None
    # Whether the observations of the fit were brought to the present by their times. Rows that are folded in count as of the present.
    is_dated: bool = False
    features: Features | None = None  # of the rows that are folded in; see `knowing`

    kind: ClassVar[str] = "posterior"
    not_linear: ClassVar[str] = RidgeFolding.not_linear

    def fold(self, observations: Values, factors: LowRankFactors) -> tuple[Floats, Floats | None]:  # noqa: ARG002
        """Return the coefficients of rows, and their offsets."""
        weights = None if self.weighting is None else self.weighting.weights(observations)
        found = self._regressed(observations, observations.data - self.centre, weights)
        return found.coordinates @ self.turn, found.biases

    def coefficients(
        self,
        residuals: Values,
        weights: Floats | None,
        factors: LowRankFactors,  # noqa: ARG002
    ) -> Floats:
        """Return the coefficients of rows from which the offsets of the columns are subtracted, but none of their own."""
        data = residuals.data + self.columns.biases[residuals.indices]
        return self._regressed(residuals, data, weights).coordinates @ self.turn

    def knowing(self, features: Features | None) -> Self:
        """Return the folding of rows whose features are known; see `Folding.knowing`. Warns where the fit had some and these rows have none."""
        if features is None and self.mean is not None and self.mean.coding is not None:
            warnings.warn(
                FeatureWarning(
                    "the fit knows features of its rows and these rows have none, so all of them are taken to be at the mean; "
                    "likewise.observations.with_features(Z, rows=...) gives them"
                ),
                stacklevel=4,
            )
        return replace(self, features=features)

    def stronger(self, strength: float) -> Self:
        """Return the same with the precision of the prior so many times as large; see `Folding.stronger`."""
        return replace(self, prior=replace(self.prior, precision=strength * self.prior.precision))

    def regression(self, factors: LowRankFactors) -> RegressionMap | str:  # noqa: ARG002
        """Return the regression whitened, prior and noise taken into its regressors, as its constant needs it; or why it is none."""
        if self.prior.by_count:
            return PENALTY_BY_COUNT
        if self.is_dated:
            return TIME_COUNTS
        if self.mean is not None:
            return PATTERN_COUNTS if self.mean.uses_pattern else FEATURES_COUNT
        weights = shared_weights(self.weighting)
        if isinstance(weights, str):
            return weights
        n, d = self.columns.means.shape
        noise = float(np.sqrt(self.prior.noise))
        # P = L L^T makes u = L^T w standard normal, and f^T w = (L^-1 f)^T u.
        whitening = np.linalg.inv(np.linalg.cholesky(self.prior.precision)) / noise
        regressors = np.column_stack([self.columns.coordinates, np.ones(n)])
        spreads = shifts = None
        if self.prior.uncertain:
            means = self.columns.means
            covariances = unpacked(self.columns.moments, d) - means[:, :, None] * means[:, None, :]
            # E[(z - b) f] = (z - E b) E f - Cov(b, f): the covariance with the bias moves the right-hand side.
            shifts = np.column_stack([covariances[:, :-1, -1], np.zeros(n)]) @ whitening.T / noise
            # E[f f^T] = E f E f^T + Cov f, where the regressor of a row's own bias is 1, for certain.
            covariances[:, -1] = 0.0
            covariances[:, :, -1] = 0.0
            spreads = whitening @ covariances @ whitening.T
        return RegressionMap(
            regressors @ whitening.T,
            self.centre + self.columns.biases,
            noise,
            weights=weights,
            spreads=spreads,
            shifts=shifts,
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `from_arrays` needs, to be stored."""
        known = {name: getattr(self.prior, name, getattr(self, name, None)) for name in _SCALARS}
        arrays = {name: np.asarray(value, dtype=np.float64) for name, value in known.items()}
        arrays |= {"means": self.columns.means, "precision": self.prior.precision, "turn": self.turn}
        if self.prior.uncertain:
            arrays["moments"] = self.columns.moments
        arrays |= {"is_dated": np.ones(1)} if self.is_dated else {}
        return super().to_arrays() | arrays | ({} if self.mean is None else self.mean.to_arrays())

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return what was stored."""
        needed = {*_SCALARS, "means", "precision", "turn"}
        if not needed <= set(arrays):
            raise InputError("a posterior folding in part", f"{', '.join(sorted(needed))}")
        scalars = {name: float(arrays[name]) for name in _SCALARS}
        uncertain = bool(scalars["uncertain"])
        means = np.asarray(arrays["means"], dtype=np.float64)
        columns = Factors(means, arrays["moments"]) if uncertain else Factors.certain(means)
        prior = Prior(arrays["precision"], scalars["noise"], uncertain, bool(scalars["by_count"]))
        _check_shapes(columns, prior, arrays["turn"])
        return cls(
            **cls._common_fields(arrays),
            columns=columns,
            prior=prior,
            centre=scalars["centre"],
            turn=arrays["turn"],
            mean=PriorMean.from_arrays(arrays),
            is_dated="is_dated" in arrays,
        )

    def _regressed(self, pattern: Values, data: Floats, weights: Floats | None) -> Factors:
        values = with_data(pattern, np.asarray(data, dtype=np.float64))
        rows = ObservedRows(values, weights, self.columns.means.shape[1] - 1)
        means = None if self.mean is None else self.mean.of(pattern, self.features)
        return regress(rows, self.columns, replace(self.prior, means=means)).factors


def _check_shapes(columns: Factors, prior: Prior, turn: Floats) -> None:
    n, d = columns.means.shape
    shapes = (columns.moments.shape, prior.precision.shape, turn.shape[:1])
    if shapes != ((n, packed_size(d)), (d, d), (d - 1,)):
        raise InputError(f"a posterior folding of shapes {shapes}", "shapes that fit each other")
