"""Steps towards a fixed point, mixed with the last ones: Anderson's acceleration."""

from __future__ import annotations

import numpy as np

from likewise._typing import Floats

_INDEPENDENT = 1e-10
"""Of the largest singular value: directions of steps below it are the same up to rounding."""


class Mixing:
    """Anderson's mixing of ``x -> g(x)``: the combination of the last steps of least residual ``g(x) - x``, as if g were linear.

    Parameters
    ----------
    memory : int
        How many differences of steps are kept.

    References
    ----------
    Walker, Ni, "Anderson acceleration for fixed-point iterations", SIAM Journal on Numerical Analysis 49 (2011).

    Examples
    --------
    Of a linear map of one number the second point is the fixed one:

    >>> mixing, x = Mixing(), np.array([0.0])
    >>> for _ in range(2):
    ...     x = mixing.after(x, 0.5 * x + 1)
    >>> x
    array([2.])
    """

    def __init__(self, memory: int = 5) -> None:
        self.memory = memory
        self._steps: list[Floats] = []
        self._images: list[Floats] = []

    def after(self, point: Floats, image: Floats) -> Floats:
        """Take a point with its image, and return the next point."""
        keep = self.memory + 1
        self._steps = [*self._steps, (image - point).ravel()][-keep:]
        self._images = [*self._images, image.ravel()][-keep:]
        if len(self._steps) == 1:
            return image
        steps, images = (np.diff(np.array(kept), axis=0).T for kept in (self._steps, self._images))
        weights = np.linalg.lstsq(steps, self._steps[-1], rcond=_INDEPENDENT)[0]
        return np.asarray((image.ravel() - images @ weights).reshape(image.shape))
