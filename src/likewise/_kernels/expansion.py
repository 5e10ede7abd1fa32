"""l2 distances from inner products, in one sweep over them."""

from __future__ import annotations

from ctypes import byref

import numpy as np

from likewise._kernels.backend import use_native
from likewise._kernels.native import library as native
from likewise._typing import Floats
from likewise.errors import ShapeError


def distances_from_products(
    products: Floats, sizes: Floats, other_sizes: Floats, doubt: float, resolution: float = 0.0
) -> int:
    """Turn ``x.y`` into ``sqrt(||x||^2 + ||y||^2 - 2 x.y)``, in place, on one thread; return how many have cancelled and became NaN.

    `products` is (n_rows, n_others), `sizes` and `other_sizes` are ``||x||^2`` and ``||y||^2``, all C-contiguous and float64, or `ShapeError`. A square of
    at most the share `doubt` of ``||x||^2 + ||y||^2`` has cancelled. Distances of at most `resolution` become 0.

    >>> products = np.array([[25.0, 0.0]])                # (3, 4) with itself and with (-4, 3)
    >>> distances_from_products(products, np.array([25.0]), np.array([25.0, 25.0]), 1e-9)
    1
    >>> products[0, 1] == 50**0.5, products[0, 0]
    (np.True_, np.float64(nan))
    """
    arrays = (products, sizes, other_sizes)
    if products.shape != (sizes.size, other_sizes.size) or not all(
        array.dtype == np.float64 and array.flags.c_contiguous and array.ndim == n
        for array, n in zip(arrays, (2, 1, 1), strict=True)
    ):
        shapes = ", ".join(f"{array.dtype} {array.shape}" for array in arrays)
        raise ShapeError(f"products and sizes: {shapes}", "contiguous float64 (m, n), (m,) and (n,)")
    compute = _native if use_native() else _numpy
    return compute(products, sizes, other_sizes, doubt, resolution)


def _native(products: Floats, sizes: Floats, other_sizes: Floats, doubt: float, resolution: float) -> int:
    handed = native.Expansion(
        n_rows=sizes.size,
        n_others=other_sizes.size,
        products=native.address(products),
        sizes=native.address(sizes),
        other_sizes=native.address(other_sizes),
        doubt=doubt,
        resolution=resolution,
    )
    return int(native.library().likewise_expand(native.instruction_set(), byref(handed)))


def _numpy(products: Floats, sizes: Floats, other_sizes: Floats, doubt: float, resolution: float) -> int:
    # In the order of expand.h, so that both round alike: (-2 x.y + ||x||^2) + ||y||^2.
    products *= -2
    products += sizes[:, None]
    products += other_sizes
    limits = np.add.outer(sizes, other_sizes)
    limits *= doubt
    # Not "at most", so that a square that is NaN counts as cancelled too.
    cancelled = ~(products > limits)
    products[cancelled] = np.nan
    np.sqrt(products, out=products)
    if resolution:
        products[products <= resolution] = 0.0
    return int(np.count_nonzero(cancelled))
