"""Records as trees of plain values."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from likewise.plain import IN_MEMORY, json_tree, plain


@dataclass
class Measured:
    kind: ClassVar[str] = "measured"

    value: float
    ids: tuple[object, ...] = ()


def test_a_tree_of_records_becomes_dictionaries_lists_and_numbers():
    tree = {1: Measured(np.float32(0.5), (np.int64(3), "ann")), "rows": np.array([[1.0, np.inf]])}
    assert plain(tree) == {
        "1": {"kind": "measured", "value": 0.5, "ids": [3, "ann"]},
        "rows": [[1.0, float("inf")]],
    }


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), np.float64("inf")])
def test_what_json_lacks_is_text_that_float_reads(value):
    (written,) = json.loads(json.dumps(json_tree([value]), allow_nan=False))
    assert isinstance(written, str)
    assert np.array_equal(float(written), value, equal_nan=True)


def test_ids_of_other_types_stay_in_python_and_are_text_in_json():
    day = datetime.date(2024, 5, 1)
    assert plain({"id": day}) == {"id": day}
    assert json_tree({"id": day, "none": None, "yes": True}) == {
        "id": "2024-05-01",
        "none": None,
        "yes": True,
    }


def test_what_stays_in_memory_is_in_no_tree():
    @dataclass
    class Large:
        value: float
        parts: object = field(default=None, metadata=IN_MEMORY)

    assert plain(Large(1.0, np.ones(5))) == {"value": 1.0}
    assert json_tree((Large(2.0),)) == [{"value": 2.0}]
