"""What is written comes back equal; what was cut, altered, or made by somebody else is refused, and runs nothing."""

import json
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import load, save, stored
from likewise.certificates import Certificate, Domain
from likewise.errors import FileFormatError, OutputError
from likewise.estimation import AlternatingLeastSquares
from likewise.stored import FORMAT, VERSION, as_json, read_record, write_record

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.dates(),
    st.datetimes(),
    st.sampled_from(list(Domain)),
)
KEYS = st.one_of(st.text(), st.integers(), st.tuples(st.text(), st.integers()))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=12,
)
ENDINGS = st.sampled_from(["npz", "json"])


def returned(value, path):
    write_record(path, value)
    return read_record(path)


def alike(one, other):
    """Equality that tells 1 from True and 1.0, takes NaN for NaN, and compares arrays by their bytes."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and (
            alike(one.tolist(), other.tolist()) if one.dtype.hasobject else one.tobytes() == other.tobytes()
        )
    return one == other or (one != one and other != other)


@given(tree=TREES, ending=ENDINGS)
def test_any_tree_comes_back(tmp_path_factory, tree, ending):
    assert alike(returned(tree, tmp_path_factory.mktemp("trees") / f"tree.{ending}"), tree)


@pytest.mark.parametrize("ending", ["npz", "json"])
@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, -0.0], [np.nan, -np.inf]]),
        np.arange(6, dtype=np.int32).reshape(2, 3)[:, ::-1],
        np.array([], dtype=np.float32),
        np.array(7.0),
        np.array(["Zoë", ""]),
        np.array([True, False]),
        np.array(["2024-05-01", "NaT"], dtype="datetime64[D]"),
        np.array(["ann", 3, None, date(2024, 5, 1)], dtype=object),
        np.array([[(1, 2), "x"]], dtype=object),
    ],
    ids=lambda array: array.dtype.str,
)
def test_any_array_comes_back(tmp_path, array, ending):
    assert alike(returned({"a": array}, tmp_path / f"array.{ending}"), {"a": array})


def test_a_sparse_array_comes_back_with_its_stored_zeros(tmp_path):
    values = sparse.csr_array((np.array([0.0, 2.0]), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 3))
    loaded = returned([values], tmp_path / "sparse.npz")[0]
    assert loaded.nnz == 2
    np.testing.assert_array_equal(loaded.toarray(), values.toarray())


def test_a_shared_array_is_stored_once(tmp_path):
    shared = np.arange(1000.0)
    write_record(tmp_path / "shared.npz", [shared, shared])
    with np.load(tmp_path / "shared.npz") as stored:
        assert sorted(stored.files) == ["array_0", "header"]


def test_a_record_comes_back_as_its_class(tmp_path):
    saved = Certificate(
        name="K1", value=0.1, from_norm="l1", to_norm="l2", proof=("because",), domain=Domain.SEEN
    )
    assert returned(saved, tmp_path / "certificate.json") == saved


@pytest.mark.parametrize(
    ("thing", "where"),
    [
        ({"rule": len}, r"dict\.rule, of type builtin"),
        ([1, object()], r"list\[1\], of type object"),
        (np.random.default_rng(0), "Generator"),
        (1 + 2j, "complex"),
    ],
)
@pytest.mark.parametrize("ending", ["npz", "json"])
def test_what_no_file_can_hold_is_named_and_nothing_is_written(tmp_path, thing, where, ending):
    with pytest.raises(OutputError, match=where):
        write_record(tmp_path / f"thing.{ending}", thing)
    assert list(tmp_path.iterdir()) == []


def a_record():
    return {
        "certificate": Certificate(name="K1", value=0.1, from_norm="l1", to_norm="l2"),
        "a": np.arange(5.0),
    }


def is_a_record(found):
    return found["certificate"] == a_record()["certificate"] and alike(found["a"], a_record()["a"])


@given(data=st.data(), ending=ENDINGS)
def test_a_changed_byte_changes_nothing_or_is_refused(tmp_path_factory, data, ending):
    """A zip has bytes that mean nothing, such as the time; whatever else is changed is noticed."""
    path = tmp_path_factory.mktemp("altered") / f"record.{ending}"
    write_record(path, a_record())
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        found = read_record(path)
    except FileFormatError:
        return
    assert is_a_record(found)


@given(data=st.data(), ending=ENDINGS)
def test_a_file_that_is_cut_short_is_refused(tmp_path_factory, data, ending):
    path = tmp_path_factory.mktemp("cut") / f"record.{ending}"
    write_record(path, a_record())
    content = path.read_bytes().rstrip(b"\n")
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(FileFormatError):
        read_record(path)


def test_an_array_that_was_replaced_is_noticed(tmp_path):
    path = tmp_path / "record.npz"
    write_record(path, a_record())
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(path, **(arrays | {"array_0": np.zeros(5)}))
    with pytest.raises(FileFormatError, match="was altered"):
        read_record(path)


def rewritten(path, **changes):
    """Write a record whose header was changed, with a checksum that fits where the content is changed."""
    from likewise.stored import _digest

    header = json.loads(as_json(0)) | changes
    if "content" in changes:
        header["sha256"] = _digest(changes["content"], {})
    path.write_text(json.dumps(header))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "is other"),
        ({"format": None}, "no result of likewise"),
        ({"version": VERSION + 1}, f"version {VERSION + 1}; .*newer likewise"),
        ({"version": "1"}, "version 1"),
        ({"sha256": "0"}, "was altered"),
        ({"content": {"unknown": 1}}, "cannot be used"),
        ({"content": {"record": "os.system", "fields": {"command": "true"}}}, "no record 'os.system'"),
        ({"content": {"record": "likewise.writing.Path", "fields": {}}}, "no record"),
        ({"content": {"record": "likewise.__main__.Main", "fields": {}}}, "no record"),
        ({"content": {"record": "likewise.nowhere.Thing", "fields": {}}}, "no record"),
        (
            {"content": {"record": "likewise.certificates.certificate.Certificate", "fields": {"x": 1}}},
            "cannot be used",
        ),
        ({"content": {"enum": "likewise.certificates.certificate.Domain", "value": "?"}}, "cannot be used"),
        ({"content": {"array": "array_7"}}, "cannot be used"),
        ({"content": {"tuple": 3}}, "cannot be used"),
        ({"content": {"values": [1], "dtype": "O", "shape": [2]}}, "cannot be used"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, changes, message):
    with pytest.raises(FileFormatError, match=message):
        read_record(rewritten(tmp_path / "record.json", **changes))


@pytest.mark.parametrize(
    "content", [b"", b"text", b"PK\x03\x04 cut short", b"\x93NUMPY", b"{", b"[1]", b"{}"]
)
def test_a_file_of_another_kind_is_named(tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"cannot be read|no result of likewise"):
        read_record(tmp_path / "other")


def test_a_pickle_in_a_file_is_not_run(tmp_path):
    class Harm:
        def __reduce__(self):
            return (tmp_path / "harm").touch, ()

    np.savez(tmp_path / "harm.npz", header=np.array([Harm()], dtype=object), allow_pickle=True)
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_record(tmp_path / "harm.npz")
    assert not (tmp_path / "harm").exists()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="no file"):
        read_record(tmp_path / "missing.npz")


def test_the_format_has_a_name_and_a_version():
    assert json.loads(as_json(None)).keys() == {"format", "version", "sha256", "content"}
    assert (FORMAT, VERSION) == ("likewise.record", 1)


def test_one_array_in_a_file_of_its_own_is_named(tmp_path):
    np.save(tmp_path / "one.npy", np.ones(3))
    with pytest.raises(FileFormatError, match=r"a \.npy file of one array of shape \(3,\)"):
        load(tmp_path / "one.npy")


@pytest.mark.parametrize("name", ["left", "right", "singular_values", "row_ids", "column_ids"])
def test_an_estimator_of_parts_that_do_not_fit_is_refused(tmp_path, name):
    """Saved with a checksum of its own, so that nothing but the parts tells."""
    Z = np.where(np.random.default_rng(0).random((6, 5)) < 0.7, np.arange(30.0).reshape(6, 5), np.nan)
    estimator = AlternatingLeastSquares(2, 0.1, random_state=0).fit(Z)
    object.__setattr__(estimator.estimate_, name, getattr(estimator.estimate_, name)[:-1])
    save(estimator, tmp_path / "forged.npz")
    with pytest.raises(FileFormatError, match=r"finite numbers|features of an estimator"):
        load(tmp_path / "forged.npz")


def test_classes_that_moved_are_where_earlier_files_are_told_to_look():
    assert [old for old in stored._MOVED if stored._of_the_package(old) is None] == []
