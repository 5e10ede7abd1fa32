"""SoftImpute where rows lie in blocks: what is held is a factor of the columns, of which the rows follow, block by block.

Of all factors ``A = U W^T`` with the same product those of least ``|U|^2 + |W|^2`` have twice the nuclear norm of A. So the problem is to
minimise ``1/2 sum (z - a)^2 + lambda/2 (|U|^2 + |W|^2)``, and given W each row of U is a regression on what is observed of it. In a pass each
block finds its rows and hands on what they give for the normal equations of the columns, and products of its residual with a few
columns, which show directions that are missing, and how far from the minimum the point is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from likewise._kernels import CompressedRows, forward_product, gram_product, sampled_entries
from likewise._kernels.backend import one_blas_thread
from likewise._typing import Floats
from likewise.estimation.base.block_preparation import (
    BlockPrepared,
    ResidualReader,
    ensure_room_for_factors,
)
from likewise.estimation.base.factor_update import (
    Factors,
    FactorUpdate,
    Prior,
    blocks,
    packed_size,
    solve_equations,
    unpacked,
)
from likewise.estimation.nuclear_norm.problem import DualityGap, Mixing, proved_gap
from likewise.observations.partitioned.blocks import RowBlock
from likewise.observations.table import Values, with_data
from likewise.spectrum.operators import BlockRows
from likewise.spectrum.orthonormal import orthogonal_factors, with_room

_RISEN = 1e-12
"""Share by which an objective may rise through rounding."""
_CLEARLY, _IDLE = 1 / 8, 1 / 16
"""Of the tolerance: by how much, against lambda, a direction has to be above it to be worth a component; and what a component must be worth to stay."""
_STILL = 0.1
"""Of the tolerance: the largest singular value of the residual is known once it moves by less."""
_ROUNDING = 1e-7
"""Of the largest singular value: what is below it is nothing, as it is the root of a computed square."""
_LOOK = 0.03
"""Of the tolerance: a smaller decrease of the objective ends a fit whose rank is limited."""


@dataclass(frozen=True, eq=False)
class FittedReader:
    """Reads what a factor of the columns leaves of the residuals of a block."""

    reader: ResidualReader
    basis: Floats  # (n, r), W
    regularization: float  # lambda

    def read(self, block: RowBlock, dtype: Any = np.float64) -> Values:
        """Return what is left of a block, shape (n_rows, n)."""
        left: Values = self.found(block)[1].astype(dtype, copy=False)
        return left

    def found(self, block: RowBlock) -> tuple[Values, Values, FactorUpdate]:
        """Return the residuals of a block after the centre, what is left of them, and the rows of U."""
        with one_blas_thread():
            values = self.reader.read(block)
            rows = regressed(values, Factors.certain(self.basis), self.regularization)
            left = values.data - sampled_entries(values, rows.factors.means, self.basis)
            return values, with_data(values, left), rows


def regressed(values: Values, columns: Factors, regularization: float) -> FactorUpdate:
    """Regress each row on the columns, without a bias, with the penalty lambda.

    >>> from scipy.sparse import csr_array
    >>> columns = Factors.certain(np.array([[1.0], [2.0]]))
    >>> regressed(csr_array([[2.0, 4.0]]), columns, 5.0).factors.means
    array([[1.]])
    """
    k = values.shape[0]
    if not columns.width:
        return FactorUpdate(Factors(np.zeros((k, 0)), np.zeros((k, 0))), 0.0, 0.0)
    prior = Prior(regularization * np.eye(columns.width))
    return solve_equations(equations(values, columns), np.diff(values.indptr), prior, columns.width)


def equations(values: Values, columns: Factors) -> list[tuple[slice, Floats, Floats]]:
    """Return the normal equations of all rows: positions, Gram matrices, packed, and right-hand sides."""
    pattern, d = with_data(values, np.ones(values.nnz)), columns.width
    return [
        (
            rows,
            _product(pattern[rows], columns.moments),
            _product(values[rows], columns.means),
        )
        for rows in blocks(values.shape[0], packed_size(d) + d + 1)
    ]


def _product(rows: Values, block: Floats) -> Floats:
    if not block.shape[1]:
        return np.zeros((rows.shape[0], 0))
    return np.asarray(forward_product(CompressedRows.from_csr(rows), np.ascontiguousarray(block)), np.float64)


@dataclass(frozen=True, eq=False)
class Sums:
    """What a pass finds of a point."""

    grams: Floats  # (n, r (r + 1) / 2), of the normal equations of the columns, packed
    sides: Floats  # (n, r)
    moment: Floats  # (r (r + 1) / 2,), U^T U, packed
    scalars: Floats  # (2,), <R, R> and <R, Z>, R the residual
    images: Floats  # (n, b), R^T R times the columns that were given


def _swept(block: RowBlock, told: tuple[FittedReader, Floats]) -> tuple[Any, ...]:
    reader, columns = told
    values, left, rows = reader.found(block)
    with one_blas_thread():
        images = gram_product(CompressedRows.from_csr(left), columns, 1)
        of_columns = equations(values.T.tocsr(), rows.factors)
        grams, sides = (np.concatenate([part[k] for part in of_columns]) for k in (1, 2))
        scalars = np.array([left.data @ left.data, left.data @ values.data])
        # Row by row: the order in which BLAS adds depends on how many threads it has.
        return grams, sides, np.add.reduce(rows.factors.moments, axis=0), scalars, images


def _rows_of(block: RowBlock, reader: FittedReader) -> Floats:
    return reader.found(block)[2].factors.means


@dataclass(frozen=True, eq=False)
class BlockFit:
    """``A = U diag(d) V^T`` but for U, which follows from W; see `NuclearNormFit`."""

    basis: Floats  # (n, r), W
    regularization: float
    objective: float
    gap: float  # estimated, never above the true one, where no proof was asked for
    converged: bool
    n_iter: int


class BlockDescent:
    """Regressions of rows and columns in turn, each step mixed with the last ones (Anderson 1965; Walker, Ni 2011) unless that leads uphill.

    `regularization` is lambda; `basis` is W of a larger lambda, (n, r), where there is one.
    """

    def __init__(
        self,
        prepared: BlockPrepared,
        regularization: float,
        max_rank: int,
        rng: np.random.Generator,
        basis: Floats | None = None,
    ) -> None:
        self.observed, self.reader = prepared.observed, prepared.reader
        self.regularization, self.max_rank, self.rng = regularization, max_rank, rng
        n = self.observed.shape[1]
        self.basis = np.zeros((n, 0)) if basis is None else basis
        self.probe = self._outside(np.zeros((n, 0)))
        self.passes, self.largest, self.gap, self.objective = 0, 0.0, 1.0, np.inf
        self.retreat: Floats | None = None
        self.least = np.inf
        self.mixing, self.trimmed = Mixing(), False

    def run(self, tol: float, max_iter: int, *, proved: bool = True) -> BlockFit:
        """Step until the gap is closed."""
        with one_blas_thread():
            return self._run(tol, max_iter, proved=proved)

    def _run(self, tol: float, max_iter: int, *, proved: bool) -> BlockFit:
        look_at, done, basis = 0, 0, self.basis
        for done in range(1, max_iter + 1):
            basis, fallen = self.basis, self.objective
            settled = self._advance(tol)
            fallen -= self.objective
            limited = self._limited(basis) and fallen <= _LOOK * tol * self.objective
            # At a limit of the rank the gap need not close: there the objective has to settle.
            if settled and done >= look_at and (limited or self._estimate.at(self.largest) <= tol):
                if self._trimmed(tol):
                    continue
                # A look that was in vain is repeated after a tenth more steps, since a proof costs passes.
                look_at = done + 1 + done // 10
                self._judge(basis, tol, proved=proved)
                if limited or self.gap <= tol:
                    return BlockFit(basis, self.regularization, self.objective, self.gap, True, done)
        self._judge(basis, tol, proved=proved)
        return BlockFit(basis, self.regularization, self.objective, self.gap, self.gap <= tol, done)

    def _limited(self, basis: Floats) -> bool:
        return bool(basis.shape[1] == self.max_rank < min(self.observed.shape))

    def _judge(self, basis: Floats, tol: float, *, proved: bool) -> None:
        """Find the gap of the last point."""
        self.gap = self._estimate.at(self.largest)
        if not proved or not self._estimate.quadratic:
            return
        observed, reader = self.observed, FittedReader(self.reader, basis, self.regularization)
        typical = (self._estimate.quadratic / observed.n_observed) ** 0.5
        residual = BlockRows(
            observed.blocks, reader, observed.shape, observed.engine, self._estimate.quadratic, typical
        )
        self.gap = proved_gap(self._estimate, residual, self.largest, tol, self.rng)
        self.passes += residual.passes

    def _advance(self, tol: float) -> bool:
        """Look at the point with a pass, and go on to the next; return whether all that a pass can see of it is known."""
        r = self.basis.shape[1]
        ensure_room_for_factors(self.observed, r, packed_size(r) + 2 * r, r)
        known, columns = self.basis, _orthonormal(self.basis)
        together = np.hstack([columns, self.probe])
        told = FittedReader(self.reader, known, self.regularization), together
        sums = Sums(*self.observed.engine.reduce(_swept, self.observed.blocks, told))
        self.passes += 1
        factored = self._measure(sums, known)
        before, self.largest = self.largest, float(_ritz(together, sums.images)[0].max(initial=0.0))
        # Mixing led uphill: back to the step without it.
        if self.retreat is not None and factored > self.least * (1 + _RISEN):
            self._begin_at(self.retreat)
            return False
        self.least = factored
        grown = self._step(sums, known, columns.shape[1], tol)
        return not grown and abs(self.largest - before) <= _STILL * tol * self.largest

    def _measure(self, sums: Sums, basis: Floats) -> float:
        """Take the objective, and return that of the factors, which is never below it."""
        r, (misfit, linear) = basis.shape[1], sums.scalars.tolist()
        moment = unpacked(sums.moment[None], r)[0] if r else np.zeros((0, 0))
        self._components = values, _ = _spectrum(moment, basis)
        self.objective = misfit / 2 + self.regularization * float(values.sum())
        # c R is feasible in the dual where its largest singular value is at most lambda: see `DualityGap`.
        self._estimate = DualityGap(self.objective, linear, misfit, self.regularization)
        size = float(np.trace(moment) + np.sum(basis * basis))
        return float(misfit / 2 + self.regularization / 2 * size)

    def _step(self, sums: Sums, basis: Floats, r: int, tol: float) -> bool:
        """Regress the columns; take in directions that are missing, or mix; return whether there were any."""
        lam = self.regularization
        after, counts = basis, np.ones(basis.shape[0], np.int64)
        if r:
            whole = [(slice(None), sums.grams, sums.sides)]
            after = solve_equations(whole, counts, Prior(lam * np.eye(r)), r).factors.means
        # Where a singular value of the residual is above lambda, a component along it lowers the objective.
        strengths, directions, images = _ritz(self.probe, sums.images[:, r:])
        missing = int(np.count_nonzero(strengths > lam * (1 + _CLEARLY * tol)))
        missing = min(missing, self.max_rank - r)
        if missing:
            # Along u v^T the objective is least at (sigma - lambda) / sum (u_i v_j)^2 over what is observed, about a share p of all.
            steps = (strengths[:missing] - lam) / self.observed.observed_fraction
            self._begin_at(np.hstack([after, directions[:, :missing] * np.sqrt(steps)]))
        else:
            self.basis, self.retreat = self.mixing.after(basis, after), after
        self.probe = self._outside(images[:, missing:])
        return missing > 0

    def _begin_at(self, basis: Floats) -> None:
        """Go on from a point that is none of a sequence of steps."""
        self.basis, self.retreat, self.mixing = basis, None, Mixing()

    def _trimmed(self, tol: float) -> bool:
        """Leave out, once, components that are worth less than the tolerance can tell; return whether there are any."""
        values, directions = self._components
        kept = values > _IDLE * tol * self.regularization / self.observed.observed_fraction
        if self.trimmed or kept.all():
            return False
        self._begin_at(directions[:, kept] * np.sqrt(values[kept]))
        self.trimmed = True
        return True

    def _outside(self, vectors: Floats) -> Floats:
        """Return an orthonormal probe outside the columns, as wide as half of them and a few."""
        columns = _orthonormal(self.basis)
        n, r = columns.shape
        wide = np.asarray(with_room(vectors, r, self.rng)[:, : n - r], np.float64)
        # Twice, as the first leaves rounding of what it takes out.
        for _ in range(2):
            wide = wide - columns @ (columns.T @ wide)
        return _orthonormal(wide)

    @property
    def components(self) -> tuple[Floats, Floats]:
        """Singular values and right singular vectors of the last point."""
        values, directions = self._components
        kept = values > _ROUNDING * values.max(initial=0.0)
        return values[kept], directions[:, kept]

    def factors(self, fit: BlockFit) -> tuple[Floats, Floats, Floats]:
        """Find the rows of a fit, in one pass; return U, d and V, orthonormal."""
        reader = FittedReader(self.reader, fit.basis, self.regularization)
        if not fit.basis.shape[1]:
            return np.zeros((self.observed.shape[0], 0)), np.zeros(0), fit.basis
        rows = np.concatenate(list(self.observed.engine.map(_rows_of, self.observed.blocks, reader)))
        self.passes += 1
        return orthogonal_factors(rows, fit.basis)[0]


def _orthonormal(columns: Floats) -> Floats:
    return np.asarray(linalg.qr(columns, mode="economic")[0]) if columns.shape[1] else columns


def _spectrum(moment: Floats, basis: Floats) -> tuple[Floats, Floats]:
    """Return the singular values of ``U W^T``, largest first, and its right singular vectors, from ``U^T U`` and W."""
    if not basis.shape[1]:
        return np.zeros(0), basis
    # With W = Q T, (U W^T)^T (U W^T) = Q (T U^T U T^T) Q^T: no row of U is needed.
    columns, triangle = linalg.qr(basis, mode="economic")
    squares, turn = linalg.eigh(triangle @ moment @ triangle.T)
    return np.sqrt(np.maximum(squares[::-1], 0.0)), columns @ turn[:, ::-1]


def _ritz(vectors: Floats, images: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the singular values that orthonormal vectors show of R, given ``R^T R`` times them, with the vectors and images turned to these."""
    if not vectors.shape[1]:
        return np.zeros(0), vectors, images
    squares, turn = linalg.eigh(vectors.T @ images)
    turn = turn[:, ::-1]
    return np.sqrt(np.maximum(squares[::-1], 0.0)), vectors @ turn, images @ turn
