"""The one way from what a caller gives as `random_state` to a generator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.errors import InputError, option

RandomState = int | np.random.Generator | None
"""A seed, a generator that goes on, or None for a seed that nobody knows."""


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Return the generator that a seed stands for; a generator is returned as it is; text, a fraction or a negative number is refused.

    >>> generator_of(-1)
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: random_state=-1; expected a whole number >= 0, a numpy.random.Generator, or None.
    """
    expected = "a whole number >= 0, a numpy.random.Generator, or None"
    given: object = random_state
    # NumPy would take a list of seeds; a record of a run names one number.
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
        raise InputError(f"random_state of type {type(given).__name__}", expected)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InputError(option("random_state", repr(random_state)), expected) from error


def seed_of(random_state: RandomState) -> int | None:
    """Return a seed for what takes only a whole number: a generator draws one, so that its own seed decides all that follows.

    >>> seed_of(3), seed_of(None), seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    (3, None, True)
    """
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    generator_of(random_state)  # which refuses what is not a seed
    return int(random_state)
