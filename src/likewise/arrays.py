"""Arrays of whatever callers hold: lists, frames, masked arrays, tensors; what cannot be one is told, not passed on from NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import AnyFloats, Floats
from likewise.errors import InputError
from likewise.memory import ensure_fits

_FAILURES = (TypeError, ValueError, OverflowError, RuntimeError)
"""What NumPy, and the libraries whose objects it reads, raise for what is not an array."""

_NO_NUMBERS = "USVcmMT"
"""Kinds of arrays that NumPy would cast to numbers although they are none: text, records, complex numbers, dates."""


def as_array(values: Any, what: str = "values", error: type[InputError] = InputError) -> NDArray[Any]:
    """Return an array: of a sparse matrix with its zeros, of a tensor without its gradient, of anything else as NumPy reads it.

    `what` is what the message calls the values; `error` is raised where NumPy cannot read them, such as rows of unequal length. A sparse matrix
    whose zeros would not fit raises a `MemoryLimitError`.

    >>> as_array([[1.0], [1.0, 2.0]], "outputs")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: outputs that are not an array (setting an array element with a sequence...
    """
    if sparse.issparse(values):
        return _filled(values)
    try:
        return np.asanyarray(without_gradient(values))
    except _FAILURES as failure:
        raise error(f"{what} that are not an array ({failure})", "a rectangular array") from failure


def without_gradient(values: Any) -> Any:
    """Return a tensor of PyTorch, on whatever device, as one that NumPy reads; anything else as it is."""
    return values.detach().cpu() if hasattr(values, "detach") and hasattr(values, "cpu") else values


def as_reals(
    values: Any, what: str = "values", error: type[InputError] = InputError, hint: str = ""
) -> AnyFloats:
    """Return an array of real numbers, NaN where one is masked or None; float32 stays float32, all else becomes float64.

    Text, dates, complex numbers, objects and numbers beyond the largest float are refused; the rest is as in `as_array`.

    >>> as_reals([1, None, 2.5])
    array([1. , nan, 2.5])
    """
    array = as_array(values, what, error)
    try:
        if array.dtype.kind in _NO_NUMBERS:
            raise TypeError(f"type {array.dtype}")
        with warnings.catch_warnings():
            # NumPy would drop imaginary parts with a warning alone.
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            numbers = array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False)
    except (*_FAILURES, np.exceptions.ComplexWarning) as failure:
        raise error(f"{what} that are not numbers ({failure})", "real numbers", hint) from failure
    # What is masked holds any number; NaN is how the rest of the package says missing.
    return numbers.filled(np.nan) if isinstance(numbers, np.ma.MaskedArray) else np.asarray(numbers)


def as_floats(
    values: Any, what: str = "values", error: type[InputError] = InputError, hint: str = ""
) -> Floats:
    """Return an array of real numbers in double precision; see `as_reals`."""
    return as_reals(values, what, error, hint).astype(np.float64, copy=False)


def checked_sparse(values: Any, what: str = "values", error: type[InputError] = InputError) -> Any:
    """Return observations in SciPy's compressed rows, as our pure functions take them: every stored entry is one, also a stored zero.

    Anything else is refused, and so are numbers that are not real or not finite, and a matrix that stores nothing.

    >>> checked_sparse([[1.0, 2.0]])
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: values of type list; expected a csr_array of real numbers. Hint: ObservedMatrix(...).scaled().values is one
    """
    expected, hint = "a csr_array of real numbers", "ObservedMatrix(...).scaled().values is one"
    if not sparse.issparse(values) or values.format != "csr":  # type: ignore[attr-defined]
        kind = f"{values.format} format" if sparse.issparse(values) else f"type {type(values).__name__}"  # type: ignore[attr-defined]
        raise error(f"{what} of {kind}", expected, hint)
    matrix: Any = values
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf" or not matrix.nnz:
        raise error(
            f"{what} of type {matrix.dtype}, shape {matrix.shape}, {matrix.nnz} stored", expected, hint
        )
    if not np.isfinite(matrix.data).all():
        raise error(f"{what} that are NaN or infinite", "finite numbers, what is missing not stored")
    return matrix


def ensure_axes_fit(matrix: Any) -> None:
    """Raise a `MemoryLimitError` where so many rows or columns do not fit, whatever is stored: a sparse matrix notes where each begins."""
    longest = max(matrix.shape)
    ensure_fits(16 * longest, f"an axis of {longest:,}", "number individuals and features without gaps")


def without_duplicates(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with sorted rows in which every entry is stored once, as the sum of what stands there: itself where it is so."""
    if matrix.has_canonical_format:
        return matrix
    summed = matrix.copy()
    summed.sum_duplicates()
    return summed


def _filled(matrix: Any) -> NDArray[Any]:
    rows, columns = matrix.shape[0], matrix.shape[-1]
    size = matrix.dtype.itemsize * rows * columns
    ensure_fits(size, f"a dense {rows:,} x {columns:,} matrix", "use fewer rows")
    return np.asarray(matrix.toarray())
