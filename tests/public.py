"""What the package makes public, for tests that try all of it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

ROOMS = [
    "engines",
    "observations",
    "datasets",
    "spectrum",
    "certificates",
    "estimation",
    "inference",
    "fairness",
    "sklearn",
    "report",
    "pipeline",
    "reproduction",
]
"""In the order the data walks through them; the command line, which comes last, has no public names."""


def public_callables() -> dict[str, Callable[..., Any]]:
    """Return every public function and class by its name in its first room, those of the package itself before all."""
    found: dict[str, Callable[..., Any]] = {}
    for room in ["likewise", *ROOMS]:
        module = importlib.import_module("likewise" if room == "likewise" else f"likewise.{room}")
        things = {name: getattr(module, name) for name in module.__all__}
        for name, thing in things.items():
            if (inspect.isfunction(thing) or inspect.isclass(thing)) and thing not in found.values():
                found[f"{room}.{name}"] = thing
    return found
