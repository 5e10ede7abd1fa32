"""Where iterations have come to rest: what should fall falls by no more than rounding, whatever tolerance was asked for."""

from __future__ import annotations

from math import inf

ROUNDED = 1e-8
"""What is left to gain, as a share: where nothing moves any more, so little of it is rounding, and the result as good as double precision has it."""


class Stall:
    """Tells that what should fall has not fallen by more than rounding for a while.

    Parameters
    ----------
    patience : int
        Of how many steps.
    """

    def __init__(self, patience: int = 20) -> None:
        self.patience, self.least, self.since = patience, inf, 0

    def after(self, value: float) -> bool:
        """Take the next value; return whether nothing moves any more."""
        fell = value < self.least * (1 - 1e-14)
        self.least, self.since = (value, 0) if fell else (self.least, self.since + 1)
        return self.over

    @property
    def over(self) -> bool:
        """Whether nothing moves any more."""
        return self.since >= self.patience


def note_on_rounding(tol: float, reached: float, n_iter: int) -> tuple[str, ...]:
    """Say that a tolerance was below what rounding leaves; nothing where it was reached."""
    if reached <= tol:
        return ()
    return (
        f"converged to double precision: after {n_iter:,} steps nothing changed any more, at {reached:.1g}; "
        f"the tolerance, {tol:.1g}, is below rounding",
    )
