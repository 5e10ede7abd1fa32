"""Fairness on what is held out, constants, completions and repair: each fault is one typed error, from files and from Python, and leaves no file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import likewise
from likewise import ObservedMatrix, make_estimator
from likewise.certificates import individual_constants
from likewise.errors import (
    DistanceError,
    InputError,
    LikewiseError,
    ObservationError,
    ShapeError,
)
from likewise.fairness import ObservedDistance, PatternDistance, judge_completions, repair
from likewise.observations import clustered

M, N = 30, 40


@cache
def ratings() -> ObservedMatrix:
    """Thirty people, forty features, half observed: 435 pairs of which, with half kept aside, most share fewer than 15."""
    return clustered(M, N, 3, observed_fraction=0.5, random_state=0).observed


@cache
def fitted() -> Any:
    return make_estimator("als", rank=2, random_state=0).fit(ratings())


def outside() -> Any:
    """Return rows within the range of values of which the last goes farther than any of the fit."""
    proved = fitted().certificate_.regression
    longest = np.linalg.norm(proved.map.regressors, axis=1)
    dense = np.full((2, N), np.nan)
    dense[0, 0] = 0.0
    dense[1] = np.sign(proved.map.regressors @ proved.map.regressors[longest.argmax()])
    dense[1, longest.argmin()] = np.nan
    return ObservedMatrix(dense, value_range=(-1, 1), row_ids=["inside", "outside"])


def numbers(values: Any) -> Callable[[], Any]:
    return lambda: repair(values, ObservedDistance(ratings()), lipschitz=1.0)


@dataclass(frozen=True)
class Fault:
    """What is wrong, how it is asked for in Python and on the command line (None where there is no such way), and what is said: in both, unless a line of its own is."""

    name: str
    kind: type[LikewiseError]
    said: str
    python: Callable[[], Any]
    command: tuple[str, ...] | None = None
    files: dict[str, str] = field(default_factory=dict)
    line: str | None = None


AUDIT = ("audit", "ratings.csv", "--value-range", "-1,1")
REPAIR = ("repair", "ratings.csv", "--value-range", "-1,1", "--out", "fair.csv")
SCORES = "id,score\n" + "".join(f"{i},{i / 10}\n" for i in range(M))


def scores(change: Callable[[str], str]) -> dict[str, str]:
    return {"scores.csv": change(SCORES)}


def held_out(**options: Any) -> Callable[[], Any]:
    return lambda: likewise.audit(ratings(), reference="held-out", progress=False, **options)


FAULTS = (
    Fault(
        "a share kept aside that leaves a row without observations",
        ObservationError,
        "leaves .* of 30 individuals less than one",
        held_out(hold_out=0.99),
        (*AUDIT, "--reference", "held-out", "--hold-out", "0.99"),
    ),
    Fault(
        "nothing kept aside",
        InputError,
        "without observations kept aside; expected a model to run here, and .*hold.out above 0",
        held_out(hold_out=0),
        (*AUDIT, "--reference", "held-out", "--hold-out", "0"),
    ),
    Fault(
        "fewer than 100 eligible pairs",
        DistanceError,
        "^(error: )?[0-9]+ pairs of 30 individuals that share 3 or more.*at least 100 pairs",
        held_out(hold_out=0.3),
        (*AUDIT, "--reference", "held-out", "--hold-out", "0.3"),
    ),
    Fault(
        "c below half the range, with the triangle that breaks",
        DistanceError,
        r"empty=0.9, for which d\(-1, 1\) = 2 exceeds d\(-1, empty\) \+ d\(empty, 1\) = 1.8",
        lambda: PatternDistance(ratings(), empty=0.9),
    ),
    Fault(
        "c that is not a number",
        DistanceError,
        "empty",
        lambda: PatternDistance(ratings(), empty=np.nan),
    ),
    Fault(
        "rows outside the domain of a constant, by name",
        ObservationError,
        "1 of 2 rows outside the domain of the constant: outside; expected pairs of which both rows predict",
        lambda: fitted().certificate_.regression.ensure_covers(
            outside().scaled("symmetric").values, outside().row_ids
        ),
    ),
    Fault(
        "constants of individuals outside the domain",
        ObservationError,
        "outside the domain of the constant: 1; ",
        lambda: individual_constants(fitted().certificate_.regression, outside().scaled("symmetric").values),
    ),
    Fault(
        "constants of individuals of an estimate that has one for all",
        InputError,
        "each row is a regression",
        lambda: likewise.audit(ratings(), estimator="svt", individual_constants="own.csv", progress=False),
        (*AUDIT, "--estimator", "svt", "--individual-constants", "own.csv"),
    ),
    Fault(
        "constants of individuals without an estimate",
        InputError,
        "each row is a regression",
        lambda: likewise.audit(
            ratings(), outputs=np.arange(M), individual_constants="own.csv", progress=False
        ),
        (*AUDIT, "--outputs", "scores.csv", "--individual-constants", "own.csv"),
        scores(str),
    ),
    Fault(
        "one individual for the sandwich",
        InputError,
        "sandwich.individuals[= ]1; expected a whole number >= 2",
        lambda: likewise.audit(ratings(), sandwich_individuals=1, progress=False),
        (*AUDIT, "--sandwich-individuals", "1"),
    ),
    *(
        Fault(
            f"L = {limit} in an audit",
            InputError,
            "lipschitz",
            lambda limit=limit: likewise.audit(
                ratings(), outputs=np.arange(M), lipschitz=float(limit), progress=False
            ),
            (*AUDIT, "--outputs", "scores.csv", "--lipschitz", limit),
            scores(str),
        )
        for limit in ("0", "-1", "nan", "inf")
    ),
    *(
        Fault(
            f"L = {limit} in a repair",
            InputError,
            "number above 0",
            lambda limit=limit: repair(np.arange(M), ObservedDistance(ratings()), lipschitz=float(limit)),
            (*REPAIR, "--outputs", "scores.csv", "--lipschitz", limit),
            scores(str),
        )
        for limit in ("0", "-1", "nan", "inf")
    ),
    *(
        Fault(
            f"a budget of {limit}",
            InputError,
            "max.lipschitz",
            lambda limit=limit: make_estimator("als", max_lipschitz=float(limit)).fit(ratings()),
            (*AUDIT, "--estimator", "als", "--max-lipschitz", limit),
        )
        for limit in ("0", "-1", "nan")
    ),
    Fault(
        "L = 0 over all completions",
        InputError,
        "lipschitz",
        lambda: judge_completions(np.arange(M), ratings(), lipschitz=0.0),
        (*AUDIT, "--outputs", "scores.csv", "--missing-entries", "any", "--lipschitz", "0"),
        scores(str),
    ),
    Fault(
        "outputs of other length to repair",
        ShapeError,
        "outputs of 29 individuals; expected those of the 30 individuals of d",
        numbers(np.arange(M - 1)),
        (*REPAIR, "--outputs", "scores.csv", "--lipschitz", "1"),
        scores(lambda text: "\n".join(text.splitlines()[:-1]) + "\n"),
        "scores.csv has outputs for 29 of 30 individuals, none for 29; expected a row for each",
    ),
    Fault(
        "outputs of other length to audit",
        ShapeError,
        "'outputs' has 29 individuals, the reference distance 30",
        lambda: likewise.audit(ratings(), outputs=np.arange(M - 1), progress=False),
        (*AUDIT, "--outputs", "scores.csv"),
        scores(lambda text: "\n".join(text.splitlines()[:-1]) + "\n"),
        "scores.csv has outputs for 29 of 30 individuals, none for 29; expected a row for each",
    ),
    Fault(
        "outputs of other length over all completions",
        ShapeError,
        "outputs of 29 individuals",
        lambda: judge_completions(np.arange(M - 1), ratings(), lipschitz=1.0),
    ),
    Fault(
        "outputs of somebody who is not there",
        ShapeError,
        "has 'stranger', not among the individuals",
        lambda: likewise.audit(
            ratings(), outputs={**dict.fromkeys(range(M - 1), 0.0), "stranger": 1.0}, progress=False
        ),
        (*REPAIR, "--outputs", "scores.csv", "--lipschitz", "1"),
        scores(lambda text: text.replace("29,", "stranger,")),
        "scores.csv has outputs for 29 of 30 individuals, none for 29; expected a row for each",
    ),
    Fault(
        "unseen rows of other columns, folded in",
        ShapeError,
        "39",
        lambda: fitted().transform(ObservedMatrix(np.ones((2, N - 1)), value_range=(-1, 1))),
    ),
    Fault(
        "unseen rows of other columns, their constants",
        ShapeError,
        "rows of 39 features; expected 40 features",
        lambda: individual_constants(
            fitted().certificate_.regression, ratings().scaled("symmetric").values[:, : N - 1]
        ),
    ),
    Fault(
        "unseen individuals with too few distances, after a repair",
        ShapeError,
        "a distance to each individual of the repair",
        lambda: numbers(np.arange(M))().predict(np.ones((1, M - 1))),
    ),
    Fault(
        "repair of classes",
        DistanceError,
        "values that are not numbers .*one-hot encode classes",
        numbers(["admit", "reject"] * (M // 2)),
        (*REPAIR, "--outputs", "scores.csv", "--lipschitz", "1"),
        scores(lambda text: text.replace(",0.", ",admit").replace(",1.", ",reject").replace(",2.", ",wait")),
        "line 2 of scores.csv, '0,admit0', has 'admit0' where a number should be, in column 'score'",
    ),
    Fault(
        "repair of lists",
        DistanceError,
        "values that are not numbers .*one-hot encode classes",
        lambda: repair([["a", "b"]] * M, ObservedDistance(ratings()), lipschitz=1.0),
    ),
    Fault(
        "a distance that is no metric",
        DistanceError,
        "exceeds",
        lambda: repair(
            np.arange(3),
            likewise.fairness.PrecomputedDistance([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]]),
            lipschitz=1.0,
        ),
    ),
    *(
        Fault(
            f"{name} among outputs to repair",
            InputError,
            said,
            numbers([value, *range(M - 1)]),
            (*REPAIR, "--outputs", "scores.csv", "--lipschitz", "1"),
            scores(lambda text, cell=cell: text.replace("0,0.0\n", f"0,{cell}\n", 1)),
            line,
        )
        for name, value, cell, said, line in (
            (
                "NaN",
                np.nan,
                "nan",
                "NaN or infinite values in 1 rows: 0",
                "1 of 30 lines have no output: those of 0",
            ),
            ("infinity", np.inf, "inf", "NaN or infinite values in 1 rows: 0", "'0,inf', has the value inf"),
            ("text", "good", "good", "values that are not numbers", "has 'good' where a number should be"),
            (
                "nothing",
                None,
                "",
                "NaN or infinite values in 1 rows: 0",
                "1 of 30 lines have no output: those of 0; expected one in every line",
            ),
        )
    ),
    Fault(
        "no outputs at all",
        ShapeError,
        r"rows of shape \(0,\); expected at least two individuals",
        numbers([]),
        (*REPAIR, "--outputs", "scores.csv", "--lipschitz", "1"),
        scores(lambda _: ""),
        "scores.csv is empty; expected a file of outputs",
    ),
    Fault(
        "no observations at all",
        InputError,
        "without an observation; expected at least one observation",
        lambda: likewise.audit(np.full((3, 3), np.nan), progress=False),
        (*AUDIT,),
        {"ratings.csv": ""},
        "ratings.csv is empty; expected a file of observations",
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_in_python(fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"(?s){fault.said}") as raised:
        fault.python()
    assert isinstance(raised.value, fault.kind)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.command], ids=lambda fault: fault.name)
def test_on_the_command_line(fault, tmp_path, monkeypatch, likewise):
    monkeypatch.chdir(tmp_path)
    rows, columns = ratings().positions()
    frame = pl.DataFrame({"user": rows, "item": columns, "rating": ratings().values.data})
    (tmp_path / "ratings.csv").write_text(frame.write_csv())
    for name, text in fault.files.items():
        (tmp_path / name).write_text(text)
    before = sorted(path.name for path in tmp_path.iterdir())
    ran = likewise(*fault.command)
    assert (ran.code, ran.out) == (1, "")
    (line,) = [line for line in ran.err.splitlines() if not line.startswith("warning: ")]
    assert line.startswith("error: ")
    assert re.search(fault.line or fault.said, line), line
    assert sorted(path.name for path in tmp_path.iterdir()) == before
