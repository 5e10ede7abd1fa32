"""All tables of a run in order, and what every output says of how it came about."""

from __future__ import annotations

from collections.abc import Iterator

from likewise.reproduction.agreement import agreement_table
from likewise.reproduction.arms import WITHOUT
from likewise.reproduction.published import SOURCE
from likewise.reproduction.results import Results
from likewise.reproduction.tables import (
    Table,
    cell_table,
    estimates_table,
    rate_table,
    ratings_table,
    theory_table,
)
from likewise.reproduction.units import SEEDING


def all_tables(found: Results) -> list[Table]:
    """Return the tables of a run: each experiment, then agreement and theorems."""
    return list(_tables(found))


def _tables(found: Results) -> Iterator[Table]:
    makers = {"synthetic": cell_table, "ratings": ratings_table, "rate": rate_table}
    for experiment in found.experiments:
        yield makers[experiment.kind](found, experiment)
        if experiment.kind == "ratings":
            yield estimates_table(found, experiment)
    if any(True for _ in found.cells()):
        yield agreement_table(found)
        yield theory_table(found)


def provenance(found: Results) -> dict[str, str]:
    """Return settings, seeds and versions in words, for every output."""
    settings, versions = found.settings, found.versions
    libraries = ", ".join(f"{name} {number}" for name, number in versions["libraries"].items() if number)
    arms = "; ".join(f"{arm.name}: {arm.title}" for arm in found.arms)
    return {
        "published numbers": SOURCE,
        "experiments": ", ".join(settings.experiments)
        + (" (quick: first and last level only, a look and not a result)" if settings.quick else ""),
        "simulations": str(settings.simulations),
        "arms": arms,
        "model": f"{settings.model} on generated data, 10 nearest neighbours in Experiment 2; without pre-processing ({WITHOUT}) it gets Z with "
        "missing entries as 0",
        "targets": "observed Z"
        if settings.targets == "observed"
        else "the truth A, as the released code has it",
        "seeds": f"random_state = {settings.random_state}; {SEEDING}",
        "versions": f"likewise {versions['likewise']}, Python {versions['python']}, {libraries}",
    }
