"""Engines by name, with an address where they have one: what the command line and `engine=` take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from likewise.checks import checked_name
from likewise.engines.clusters import Dask, Ray
from likewise.engines.engine import Engine
from likewise.engines.local import Processes, Serial, Threads
from likewise.errors import InputError, option

_CLUSTERS: dict[str, Callable[[Any], Engine]] = {"dask": Dask, "ray": Ray}
_LOCAL: dict[str, Callable[[], Engine]] = {"serial": Serial, "threads": Threads, "processes": Processes}
ENGINES = (*_LOCAL, *_CLUSTERS)
"""The names of the engines."""

EngineChoice = Any
"""A name of `ENGINES`, a cluster's name with an address, an `Engine`, or a ``distributed.Client``."""


def engine_of(engine: EngineChoice = "threads") -> Engine:
    """Return the engine that a name, an address or a client stands for.

    Parameters
    ----------
    engine : str, Engine or distributed.Client
        ``"serial"``, ``"threads"``, ``"processes"``; ``"dask"`` or ``"ray"``, which begin a cluster on this machine; ``"dask=ADDRESS"`` or
        ``"ray=ADDRESS"`` for one that runs; an engine or a client of Dask as it is.

    Returns
    -------
    Engine

    Raises
    ------
    InputError
        An unknown name; an address where there can be none, or none where there should be one.
    MissingDependencyError
        Dask or Ray is not installed.
    EngineError
        Nobody answers at the address.

    Examples
    --------
    >>> engine_of("serial").name
    'serial'
    >>> engine_of("thread")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: unknown engine 'thread'; expected one of 'serial', 'threads', 'processes', 'dask', 'ray'. Hint: did you mean 'threads'?
    """
    if isinstance(engine, Engine):
        return engine
    # By its name, so that Dask is not imported to ask.
    if type(engine).__module__.partition(".")[0] == "distributed":
        return Dask(engine)
    name, has_address, address = str(engine).partition("=")
    checked_name("engine", name if isinstance(engine, str) else engine, ENGINES)
    given = option("engine", repr(engine))
    if has_address and not address:
        raise InputError(given, f"an address after the =, or {name} alone, which begins what it needs here")
    if name in _CLUSTERS:
        return _CLUSTERS[name](address or None)
    if has_address:
        raise InputError(given, f"{name} alone: only {' and '.join(_CLUSTERS)} have an address")
    return _LOCAL[name]()
