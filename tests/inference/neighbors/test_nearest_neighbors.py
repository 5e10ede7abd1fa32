"""Nearest neighbours: hand-computed tables, the definition written as loops, and properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from likewise.errors import ModelError, ShapeError
from likewise.inference import nearest_neighbor_outputs
from likewise.inference.neighbors.training_rows import CentredRows

RATINGS = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])


def loops(B, k, observed=None):
    """Write the definition down entry by entry; `observed` is a mask for co-raters."""
    m, n = B.shape
    mask = np.ones(B.shape, bool) if observed is None else observed
    overall = np.mean([B[i, j] for i in range(m) for j in range(n) if mask[i, j]])
    mean = np.array([B[mask[:, j], j].mean() if mask[:, j].any() else overall for j in range(n)])
    centred = np.where(mask, B - mean, 0.0)
    outputs = np.empty((m, n))
    for i in range(m):
        similarity = []
        for j in range(m):
            lengths = np.linalg.norm(centred[i]) * np.linalg.norm(centred[j])
            similarity.append(0.0 if lengths < 1e-13 else round(centred[i] @ centred[j] / lengths, 12))
        others = sorted((j for j in range(m) if j != i), key=lambda j: (-similarity[j], j))
        neighbors = [j for j in others[: k or m] if similarity[j] > 0]
        for c in range(n):
            weights = [similarity[j] for j in neighbors if mask[j, c]]
            values = [B[j, c] for j in neighbors if mask[j, c]]
            outputs[i, c] = np.average(values, weights=weights) if weights else mean[c]
    return outputs


class TestByHand:
    B = np.array([[3.0, 1.0, 0.0], [4.0, 1.0, -1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    # Item means 2, 1, 0; centred rows (1,0,0), (2,0,-1), (-2,0,1), (-1,0,0).
    # Cosines: s01 = 2/sqrt(5), s02 = -2/sqrt(5), s03 = -1, s12 = -1, s13 = -2/sqrt(5), s23 = 2/sqrt(5).

    def test_one_neighbor_hands_over_its_row(self):
        np.testing.assert_allclose(nearest_neighbor_outputs(self.B, 1), self.B[[1, 0, 3, 2]], atol=1e-12)

    def test_negative_similarities_have_no_weight(self):
        for k in (2, 3, None):
            np.testing.assert_allclose(nearest_neighbor_outputs(self.B, k), self.B[[1, 0, 3, 2]], atol=1e-12)

    def test_weights_are_similarities(self):
        B = np.array([[4.0, 0.0], [4.0, 3.0], [3.0, 0.0], [-11.0, -3.0]])
        # Item means 0, 0. Row 0: cosine 4/5 with row 1, 1 with row 2, below 0 with row 3.
        expected = (0.8 * B[1] + 1.0 * B[2]) / 1.8
        np.testing.assert_allclose(nearest_neighbor_outputs(B, 2)[0], expected, atol=1e-12)

    def test_only_co_raters_count_and_means_are_over_those_who_observed(self):
        nan = np.nan
        Z = np.array([[5.0, 1.0, nan], [5.0, nan, 4.0], [1.0, 3.0, nan], [1.0, nan, 2.0]])
        # Item means 3, 2, 3; deviations (2,-1,.), (2,.,1), (-2,1,.), (-2,.,-1). Row 0 is similar to row 1 (4/5), row 2
        # to row 3 (4/5). Item 1 was observed by neither of 1 and 3, so 0 and 2 get its mean; item 2 likewise.
        expected = np.array([[5.0, 2.0, 4.0], [5.0, 1.0, 3.0], [1.0, 2.0, 2.0], [1.0, 3.0, 3.0]])
        outputs = nearest_neighbor_outputs(Z, 1, average="co-raters")
        np.testing.assert_allclose(outputs, expected, atol=1e-12)

    def test_targets_are_averaged_instead_of_rows(self):
        targets = np.array([10.0, 20.0, 30.0, 40.0])
        np.testing.assert_allclose(nearest_neighbor_outputs(self.B, 1, targets=targets), [20, 10, 40, 30])
        two = nearest_neighbor_outputs(self.B, 1, targets=np.column_stack((targets, -targets)))
        np.testing.assert_allclose(two, [[20, -20], [10, -10], [40, -40], [30, -30]])


class TestCorners:
    def test_equal_rows_have_no_direction_and_get_the_item_means(self):
        B = np.full((5, 3), 0.1)
        np.testing.assert_allclose(nearest_neighbor_outputs(B, 2), B)

    def test_a_row_at_the_means_gets_the_means(self):
        B = np.array([[1.0, 2.0], [3.0, 6.0], [2.0, 4.0]])
        np.testing.assert_allclose(nearest_neighbor_outputs(B, 1)[2], [2.0, 4.0])

    def test_rounding_is_no_direction(self):
        """0.1 + 0.2 is not 0.3, and a mean of equal numbers need not equal them; neither is a taste."""
        B = np.tile([0.1, 1 / 3, 0.7], (7, 1))
        B[3] = [0.1 + 1e-17, 1 / 3, 0.7]
        centred = CentredRows.of(B, B.mean(axis=0))
        assert not centred.inverse_lengths.any()

    def test_ties_go_to_the_first_row(self):
        B = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [-6.0, 0.0]])
        # Rows 0, 1, 2 have cosine 1 with one another.
        np.testing.assert_allclose(nearest_neighbor_outputs(B, 1), [B[1], B[0], B[0], [0.0, 0.0]])

    def test_an_item_that_nobody_observed_has_the_mean_of_everything(self):
        Z = np.array([[1.0, np.nan], [3.0, np.nan], [5.0, np.nan]])
        outputs = nearest_neighbor_outputs(Z, 1, average="co-raters")
        np.testing.assert_allclose(outputs[:, 1], 3.0)

    def test_stored_zeros_are_observations(self):
        stored = sparse.csr_array(
            (np.array([0.0, 4.0, 0.0, 4.0]), np.array([0, 1, 0, 1]), [0, 2, 4]), shape=(2, 2)
        )
        dense = stored.toarray()
        outputs = nearest_neighbor_outputs(stored, 1, average="co-raters")
        np.testing.assert_array_equal(outputs, nearest_neighbor_outputs(dense, 1, average="co-raters"))
        np.testing.assert_allclose(outputs, [[0.0, 4.0], [0.0, 4.0]])

    @pytest.mark.parametrize("k", [0, -1, 3, 10, 1.5, True, "10"])
    def test_number_of_neighbors_must_fit(self, k):
        with pytest.raises(ModelError, match="n_neighbors"):
            nearest_neighbor_outputs(np.eye(3), k)

    @pytest.mark.parametrize("k", [1, 10, None])
    def test_one_individual_has_no_neighbor(self, k):
        with pytest.raises(ModelError, match="n_samples = 1"):
            nearest_neighbor_outputs(np.ones((1, 4)), k)

    def test_unknown_average_names_the_nearest(self):
        with pytest.raises(ModelError, match="did you mean 'co-raters'"):
            nearest_neighbor_outputs(np.eye(3), 1, average="coraters")

    def test_nothing_observed(self):
        with pytest.raises(ModelError, match="without an observation"):
            nearest_neighbor_outputs(sparse.csr_array((3, 3)), 1, average="co-raters")

    def test_new_rows_and_targets_must_fit(self):
        with pytest.raises(ShapeError, match=r"new rows of shape \(2, 4\)"):
            nearest_neighbor_outputs(np.eye(3), 1, new_rows=np.ones((2, 4)))
        with pytest.raises(ShapeError, match=r"targets of shape \(2,\)"):
            nearest_neighbor_outputs(np.eye(3), 1, targets=[1, 2])


complete = st.integers(2, 7).flatmap(
    lambda m: st.integers(1, 5).flatmap(lambda n: arrays(float, (m, n), elements=RATINGS))
)


@st.composite
def partly_observed(draw):
    B = draw(complete)
    observed = draw(arrays(bool, B.shape))
    observed.flat[0] = True
    return B, observed


@given(complete, st.data())
def test_equals_the_loops(B, data):
    k = data.draw(st.one_of(st.none(), st.integers(1, B.shape[0] - 1)))
    expected = loops(B, k)
    np.testing.assert_allclose(nearest_neighbor_outputs(B, k), expected, atol=1e-9)
    np.testing.assert_allclose(nearest_neighbor_outputs(sparse.csr_array(B), k), expected, atol=1e-9)


@given(partly_observed(), st.data())
def test_equals_the_loops_over_co_raters(matrix, data):
    B, observed = matrix
    k = data.draw(st.one_of(st.none(), st.integers(1, B.shape[0] - 1)))
    stored = sparse.coo_array((B[observed], np.nonzero(observed)), shape=B.shape).tocsr()
    expected = loops(B, k, observed)
    np.testing.assert_allclose(nearest_neighbor_outputs(stored, k, average="co-raters"), expected, atol=1e-9)
    marked = np.where(observed, B, np.nan)
    np.testing.assert_allclose(nearest_neighbor_outputs(marked, k, average="co-raters"), expected, atol=1e-9)


@given(complete, st.integers(1, 6))
def test_co_raters_of_a_complete_matrix_are_all(B, k):
    k = min(k, B.shape[0] - 1)
    everyone = nearest_neighbor_outputs(B, k)
    np.testing.assert_allclose(nearest_neighbor_outputs(B, k, average="co-raters"), everyone, atol=1e-9)


@given(complete, st.integers(1, 6))
def test_outputs_are_within_the_range_of_each_item(B, k):
    outputs = nearest_neighbor_outputs(B, min(k, B.shape[0] - 1))
    assert (outputs >= B.min(axis=0) - 1e-12).all()
    assert (outputs <= B.max(axis=0) + 1e-12).all()


@given(complete, st.integers(1, 6), st.floats(0.5, 4), st.floats(-3, 3))
def test_units_do_not_matter(B, k, factor, shift):
    """Adjusted cosine ignores an affine change of the scale, so that outputs change with it."""
    k = min(k, B.shape[0] - 1)
    mapped = nearest_neighbor_outputs(factor * B + shift, k)
    np.testing.assert_allclose(mapped, factor * nearest_neighbor_outputs(B, k) + shift, atol=1e-9)


@pytest.fixture
def blocks_of_seven(monkeypatch):
    def slices(self, _):
        m = self.matrix.shape[0]
        return [slice(start, min(start + 7, m)) for start in range(0, m, 7)]

    monkeypatch.setattr(CentredRows, "slices", slices)


@pytest.mark.parametrize("average", ["all", "co-raters"])
@pytest.mark.parametrize("k", [4, None])
def test_blocks_do_not_change_the_outputs(average, k, request):
    rng = np.random.default_rng(3)
    B = sparse.random_array((40, 12), density=0.4, rng=rng, format="csr")
    B.data = np.round(B.data * 4) / 2
    whole = nearest_neighbor_outputs(B, k, average=average)
    request.getfixturevalue("blocks_of_seven")
    seen = []
    in_blocks = nearest_neighbor_outputs(B, k, average=average, progress=lambda *done: seen.append(done))
    np.testing.assert_allclose(in_blocks, whole, atol=1e-12)
    assert seen == [(7, 40), (14, 40), (21, 40), (28, 40), (35, 40), (40, 40)]


@pytest.mark.parametrize("average", ["all", "co-raters"])
def test_a_new_row_is_answered_as_if_it_had_been_left_out(average):
    """With the item means held, a new row's neighbours are those that it had among the others."""
    rng = np.random.default_rng(4)
    B = rng.normal(size=(30, 6))
    B = np.vstack((B, -B.sum(axis=0)))  # item means 0 with and without the new row
    new = np.zeros((1, 6)) + rng.normal(size=6)
    balanced = np.vstack((B, new, -new))
    # -new is the least similar row to new, so it is no neighbour and only keeps the means.
    inside = nearest_neighbor_outputs(balanced, 5, average=average)[-2]
    np.testing.assert_allclose(
        nearest_neighbor_outputs(B, 5, average=average, new_rows=new)[0], inside, atol=1e-9
    )


def test_float32_and_integers_are_taken():
    B = np.array([[3, 1, 0], [4, 1, -1], [0, 1, 1], [1, 1, 0]])
    expected = nearest_neighbor_outputs(B.astype(float), 2)
    for kind in (np.float32, np.int64):
        for matrix in (B.astype(kind), sparse.csr_array(B.astype(kind))):
            outputs = nearest_neighbor_outputs(matrix, 2)
            assert outputs.dtype == np.float64
            np.testing.assert_allclose(outputs, expected, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8])
@pytest.mark.filterwarnings("error")
def test_sparse_rows_of_every_type_are_held_against_the_limit(kind):
    rows = sparse.csr_array(np.array([[1, 0, 2], [1, 0, 3], [0, 1, 1]], dtype=kind))
    np.testing.assert_allclose(
        nearest_neighbor_outputs(rows, n_neighbors=1),
        nearest_neighbor_outputs(rows.astype(np.float64), n_neighbors=1),
    )
