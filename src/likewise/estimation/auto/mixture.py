"""A weighted mixture of estimates, as one estimate, and the estimator that finds its weights by held-out observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.base import clone

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.checks import checked_instance
from likewise.errors import EstimatorError, InputError, ShapeError
from likewise.estimation.als.solver import AlternatingLeastSquares
from likewise.estimation.als.sources import checked_sources
from likewise.estimation.auto.stacking import Pool, held_out_folds, later_fold
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.mixture_folding import MixtureFolding, MixturePart
from likewise.estimation.biases import Biases
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.randomness import generator_of

_MOST = 3
_ROUNDING = 1e-10
"""Of the largest singular value: what a weaker component adds is rounding; it is kept where rows that are folded in may use it."""


def mixed_estimate(estimates: Sequence[LowRankEstimate], weights: ArrayLike) -> LowRankEstimate:
    """Mix estimates of one matrix: ``clip(sum_p weight_p A_p)``, with A_p before clipping.

    The mixture is an estimate like any other: factors and offsets are the weighted sums, and a row is folded in by folding it into each part. Where the rows of all parts are
    regressions it has a constant in the metric in which the empty entry is a point, at most the same mixture of theirs (`LipschitzCertificates.regression`); where all parts are
    `SVT` without centre or weights it has K*, at most the same mixture of theirs.

    Parameters
    ----------
    estimates : sequence of LowRankEstimate
        Of the same observations, on the same working range.
    weights : array-like, shape (k,)
        >= 0; they sum to 1.

    Returns
    -------
    LowRankEstimate

    Raises
    ------
    ShapeError
        Estimates of different individuals or features, or on different ranges; another number of weights.
    InputError
        Weights below 0, or that do not sum to 1.

    Examples
    --------
    >>> Z = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 1.0], [1.0, 1.0, 5.0]])
    >>> one, other = (
    ...     AlternatingLeastSquares(1, lam, value_range=(1, 5), random_state=0).fit(Z).estimate_ for lam in (0.1, 1.0)
    ... )
    >>> both = mixed_estimate([one, other], [0.25, 0.75])
    >>> bool(np.allclose(both.unclipped().to_dense(), 0.25 * one.unclipped().to_dense() + 0.75 * other.unclipped().to_dense()))
    True
    """
    checked_instance("estimates", estimates, list | tuple, "a list of estimates")
    if not estimates:
        raise ShapeError("a mixture of no estimates", "one at least")
    for each in estimates:
        checked_instance("estimates", each, LowRankEstimate, "a list of LowRankEstimate")
    shares = checked_weights(weights, len(estimates))
    first = estimates[0]
    for other in estimates[1:]:
        _check_alike(first, other)
    # sum_p w_p L_p R_p^T = [w_1 L_1, ..., w_k L_k] [R_1, ..., R_k]^T, decomposed again.
    rows = np.hstack([w * each.left * each.shrunk_values for w, each in zip(shares, estimates, strict=True)])
    left, values, right = _decomposed(rows, np.hstack([each.right for each in estimates]))
    parts = [
        part for w, each in zip(shares, estimates, strict=True) for part in _parts(float(w), each, right)
    ]
    return LowRankEstimate(
        left=left,
        singular_values=values,
        shrunk_values=values,
        right=right,
        scale=first.scale,
        row_ids=first.row_ids,
        column_ids=first.column_ids,
        row_offsets=_mixed_offsets(shares, [each.row_offsets for each in estimates]),
        column_offsets=_mixed_offsets(shares, [each.column_offsets for each in estimates]),
        folding=MixtureFolding(parts=tuple(parts)),
    )


def _check_alike(one: LowRankEstimate, other: LowRankEstimate) -> None:
    same_ids = all(
        np.array_equal(getattr(one, ids), getattr(other, ids)) for ids in ("row_ids", "column_ids")
    )
    ranges = [
        (*each.scale.bounds, each.scale.shift.tolist(), each.scale.factor.tolist()) for each in (one, other)
    ]
    if one.shape != other.shape or not same_ids or ranges[0] != ranges[1]:
        raise ShapeError(
            f"a mixture of {one!r} and {other!r}",
            "estimates of the same individuals and features, on the same range",
        )


def _parts(weight: float, estimate: LowRankEstimate, right: Floats) -> list[MixturePart]:
    """Return what folds in to an estimate: its parts where it is a mixture itself."""
    turn = estimate.right.T @ right
    if isinstance(estimate.folding, MixtureFolding):
        return [
            MixturePart(
                weight * part.weight,
                part.right,
                part.gains,
                part.column_offsets,
                part.folding,
                part.turn @ turn,
            )
            for part in estimate.folding.parts
        ]
    return [
        MixturePart(weight, estimate.right, estimate.gains, estimate.column_offsets, estimate.folding, turn)
    ]


def _decomposed(rows: Floats, columns: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the singular value decomposition of ``rows columns^T`` with a V that spans all columns: rows that are folded in may use any."""
    if not columns.size:
        return rows[:, :0], np.zeros(0), columns[:, :0]
    # Pivoting puts directions that the columns span already behind all others, where they are rounding.
    basis, triangle, order = linalg.qr(columns, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    kept = int(np.count_nonzero(sizes > _ROUNDING * sizes.max(initial=0.0)))
    left, values, turn = linalg.svd(rows[:, order] @ triangle[:kept].T, full_matrices=False)
    # Directions of V that no row of the fit uses are kept, with values of next to nothing, for rows that are folded in.
    rest = linalg.null_space(turn) if turn.shape[0] < kept else np.zeros((kept, 0))
    lengths = np.concatenate([values, np.zeros(rest.shape[1])])
    left = np.hstack([left, np.zeros((left.shape[0], rest.shape[1]))])
    right = np.asarray(basis[:, :kept] @ np.hstack([turn.T, rest]), dtype=np.float64)
    return left, np.maximum(lengths, _ROUNDING * (lengths.max() or 1.0)), right


def _mixed_offsets(weights: Floats, offsets: Sequence[Floats | None]) -> Floats | None:
    known = [w * each for w, each in zip(weights, offsets, strict=True) if each is not None]
    return np.asarray(np.sum(known, axis=0)) if known else None


def checked_weights(weights: ArrayLike, k: int) -> Floats:
    """Return weights of a mixture of k parts, or raise InputError."""
    found = as_floats(weights, "weights")
    if found.ndim != 1 or found.size != k or not k:
        raise ShapeError(
            f"weights of shape {found.shape}", f"({k},): one for each part, of which there is one at least"
        )
    if not (found >= 0).all() or abs(found.sum() - 1) > 1e-9:
        raise InputError(
            f"weights={found.tolist()}", "numbers >= 0 that sum to 1", "divide them by their sum"
        )
    return found


class Mixture(MatrixEstimator):
    """Complete a sparse, noisy matrix by a weighted mixture of two or three estimators, weights by held-out observations.

    A tenth of the observations is held out (several times where they are fewer than 50,000, as in `Auto`) and each part is fitted on the others; the weights are those of
    `stacking_weights`. Where a part has time for a source it is the latest tenth, once: what drifts is predicted for what is later. Then every part is fitted on all observations.

    Parameters
    ----------
    estimators : sequence of MatrixEstimator or None, default None
        Up to three. By default least squares of rank 10, the same with three fifths of the variance for noise, and biases.
    weights : sequence of float or None, default None
        Given ones, >= 0, that sum to 1; found by default.
    max_lipschitz : float or None, default None
        L, as in `Biases`: the priors of all parts are made stronger by one factor. All parts have to be regressions.
    value_range, working_range
        As in `SVT`; they hold for all parts.
    random_state : int, Generator or None, default None
        For what is held out, and for parts that have no seed of their own.

    Attributes
    ----------
    estimators_ : tuple of MatrixEstimator
        Fitted on all observations.
    weights_ : ndarray, shape (k,)
    budget_ : StrongerPrior or None
        What `max_lipschitz` did.
    estimate_, observed_, rank_, singular_values_, threshold_, converged_, n_iter_, notes_, n_features_in_
        As in `MatrixEstimator`.

    References
    ----------
    Wolpert, "Stacked generalization", Neural Networks 5 (1992); Breiman, "Stacked regressions", Machine Learning 24 (1996).

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> data = clustered(60, 100, 3, observed_fraction=0.1, random_state=0)
    >>> parts = [AlternatingLeastSquares(5, noise=0.1), Biases()]
    >>> mixture = Mixture(parts, random_state=0).fit(data.observed)
    >>> bool((mixture.weights_ > 0.1).all()), mixture.estimate_.folding.kind
    (True, 'mixture')
    """

    _fits: tuple[MatrixEstimator, ...] | None = None

    def __init__(
        self,
        estimators: Sequence[MatrixEstimator] | None = None,
        weights: Sequence[float] | None = None,
        max_lipschitz: float | None = None,
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.max_lipschitz = max_lipschitz
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state

    def of(self, fits: Sequence[MatrixEstimator]) -> Self:
        """Take these for the parts at the next fit, already fitted on its observations."""
        self._fits = tuple(fits)
        return self

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        rng = generator_of(self.random_state)
        parts = self._checked_parts(rng)
        if self.weights is None:
            self.weights_ = self._found(observed, parts, rng)
        else:
            self.weights_ = checked_weights(self.weights, len(parts))
        fits, self._fits = self._fits, None  # of these observations, not of those of another fit
        self.estimators_ = fits or tuple(clone(part).fit(observed) for part in parts)
        ends = [part.converged_ for part in self.estimators_ if part.converged_ is not None]
        self.converged_ = all(ends) if ends else None
        shares = ", ".join(
            f"{w:.2f} {type(part).__name__}" for w, part in zip(self.weights_, self.estimators_, strict=True)
        )
        told = dict.fromkeys(note for part in self.estimators_ for note in part.notes_)
        self.notes_ = (f"a mixture: {shares}", *told)
        mixed = mixed_estimate([part.estimate_ for part in self.estimators_], self.weights_)
        return self._held_within(self.max_lipschitz, mixed, observed)

    def _features_left_out(self, observed: ObservedMatrix) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing: parts say it."""
        return ()

    def _checked_parts(self, rng: np.random.Generator) -> list[MatrixEstimator]:
        given: Any = _default_parts() if self.estimators is None else self.estimators
        if not isinstance(given, list | tuple) or not 1 <= len(given) <= _MOST:
            raise EstimatorError(f"estimators={given!r}", f"a list of up to {_MOST} estimators")
        parts = []
        for part in given:
            if not isinstance(part, MatrixEstimator):
                raise EstimatorError(
                    f"{part!r} in a mixture", "a MatrixEstimator, such as likewise.make_estimator('als')"
                )
            seed = int(rng.integers(2**31))
            own = part.get_params(deep=False)["random_state"]
            parts.append(
                clone(part).set_params(
                    working_range=self.working_range, random_state=seed if own is None else own
                )
            )
        return parts

    def _found(
        self, observed: ObservedMatrix, parts: Sequence[MatrixEstimator], rng: np.random.Generator
    ) -> Floats:
        """Return the weights by held-out observations; equal ones where those are too few."""
        # Whoever estimates the present is tried on what came last.
        folds = later_fold(observed) if _finds_drifts(parts, observed) else ()
        folds = folds or held_out_folds(observed.n_observed, rng)
        if not folds:
            return np.full(len(parts), 1 / len(parts))
        (rows, columns), values = observed.positions(), observed.scaled(self.working_range).values.data
        predictions = np.hstack(
            [
                [
                    clone(part)
                    .fit(observed.keep(~fold))
                    .estimate_.unclipped()
                    .entries(rows[fold], columns[fold])
                    for part in parts
                ]
                for fold in folds
            ]
        )
        actual = np.concatenate([values[fold] for fold in folds])
        bounds = observed.value_range.scale_to(self.working_range).bounds
        return Pool(predictions, actual, bounds).weights(range(len(parts)))


def _finds_drifts(parts: Sequence[MatrixEstimator], observed: ObservedMatrix) -> bool:
    """Return whether a part has time for a source, so that it estimates the present: earlier observations held out would not tell what it brings."""
    return any(
        "time" in checked_sources(part.get_params(deep=False).get("sources", "none"), observed)
        for part in parts
    )


def _default_parts() -> tuple[MatrixEstimator, ...]:
    return AlternatingLeastSquares(10), AlternatingLeastSquares(10, noise=0.6), Biases()
