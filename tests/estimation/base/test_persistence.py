"""An estimate comes back from its file as it was, and a file that is not one is refused by name."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from likewise.errors import FileFormatError, ObservationError, OutputError
from likewise.estimation import LowRankEstimate, svt
from likewise.observations import ObservedMatrix

VALUES = np.array([[1.0, np.nan, 5.0], [1.0, 2.0, np.nan], [4.0, 2.0, 5.0], [np.nan, 3.0, 1.0]])


def an_estimate(row_ids=("ann", "bob", "Zoë", ""), **settings):
    observed = ObservedMatrix(VALUES, row_ids=list(row_ids), column_ids=[10, 20, 30], **settings)
    return svt(observed, threshold=0.5)


@pytest.mark.parametrize("value_range", [(1, 5), ([0, 0, 0], [5, 6, 7]), None])
def test_everything_comes_back(tmp_path, value_range):
    saved = an_estimate(value_range=value_range)
    saved.save(tmp_path / "estimate.npz")
    loaded = LowRankEstimate.load(tmp_path / "estimate.npz")
    np.testing.assert_array_equal(loaded.to_dense(), saved.to_dense())
    assert loaded.row_ids.tolist() == ["ann", "bob", "Zoë", ""]
    assert loaded.column_ids.tolist() == [10, 20, 30]
    assert loaded.scale.bounds == saved.scale.bounds
    np.testing.assert_array_equal(loaded.fold_in(VALUES), saved.fold_in(VALUES))


def test_rank_zero_comes_back(tmp_path):
    with pytest.warns(match="no singular value"):
        empty = svt(ObservedMatrix(VALUES, value_range=(1, 5)), threshold=1e6)
    empty.save(tmp_path / "empty.npz")
    assert LowRankEstimate.load(tmp_path / "empty.npz").rank == 0


@pytest.mark.slow
@given(
    st.lists(
        st.one_of(st.integers(-(2**60), 2**60), st.text(max_size=5)), min_size=4, max_size=4, unique=True
    )
)
@example(["a", "b", "c", "d\0"])
def test_ids_come_back_or_are_refused(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("ids") / "estimate.npz"
    estimate = an_estimate(ids, value_range=(1, 5))
    if len({type(name) for name in ids}) > 1 or any(str(name).endswith("\0") for name in ids):
        with pytest.raises(OutputError, match="cannot store row_ids"):
            estimate.save(path)
    else:
        estimate.save(path)
        assert LowRankEstimate.load(path).row_ids.tolist() == ids


def test_the_file_holds_no_pickle(tmp_path):
    an_estimate(value_range=(1, 5)).save(tmp_path / "estimate.npz")
    with np.load(tmp_path / "estimate.npz", allow_pickle=False) as stored:
        assert all(not stored[name].dtype.hasobject for name in stored.files)
        assert json.loads(str(stored["header"]))["version"] == 2


def damage(arrays, **changes):
    return {name: value for name, value in (arrays | changes).items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"left": None}, "has no left"),
        ({"header": None}, "no header"),
        ({"header": np.array("{")}, "no header"),
        ({"header": np.array(json.dumps({"format": "other", "version": 1, "bounds": [0, 1]}))}, "is other"),
        (
            {
                "header": np.array(
                    json.dumps({"format": "likewise.low-rank-estimate", "version": 3, "bounds": [0, 1]})
                )
            },
            "version 3.*newer likewise",
        ),
        ({"right": np.zeros((2, 2))}, "right in .* shape"),
        ({"left": np.full((4, 3), np.nan)}, "left in"),
        ({"shift": np.zeros(7)}, "shift in"),
        ({"row_ids": np.array([{}, 1, 2, 3], dtype=object)}, "is not an estimate"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, changes, message):
    path = tmp_path / "estimate.npz"
    an_estimate(value_range=(1, 5)).save(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(path, **damage(arrays, **changes))
    with pytest.raises(FileFormatError, match=message):
        LowRankEstimate.load(path)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 cut short", b"\x93NUMPY"])
def test_a_file_of_another_kind_is_named(tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(FileFormatError, match="not an estimate"):
        LowRankEstimate.load(tmp_path / "other")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="no file"):
        LowRankEstimate.load(tmp_path / "missing.npz")


def test_entries_by_id_equal_entries_by_position():
    estimate = an_estimate(value_range=(1, 5))
    by_id = estimate.entries_of(["Zoë", "ann", "Zoë"], [30, 10, 20])
    np.testing.assert_array_equal(by_id, estimate.to_dense()[[2, 0, 2], [2, 0, 1]])


def test_an_id_is_also_found_by_its_text():
    estimate = an_estimate(("1", "2", "3", "x"), value_range=(1, 5))
    np.testing.assert_array_equal(estimate.entries_of([3], ["20"]), estimate.to_dense()[[2], [1]])


def test_unknown_ids_are_counted_and_named():
    estimate = an_estimate(value_range=(1, 5))
    with pytest.raises(ObservationError, match=r"2 unknown row ids: 'eve', 'sam'; expected .* such as 'ann'"):
        estimate.entries_of(["eve", "sam", "eve", "ann"], [10, 10, 10, 10])
    with pytest.raises(ObservationError, match="1 unknown column id: 40"):
        estimate.entries_of(["ann"], [40])
