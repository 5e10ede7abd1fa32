"""What was written is read again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise import ObservedMatrix, read_ratings
from likewise.observations import write_ratings


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12, unique=True), st.booleans())
def test_observations_come_back(tmp_path_factory, numbers, named):
    file = tmp_path_factory.mktemp("w") / "ratings.csv"
    rows, columns = np.divmod(np.arange(len(numbers)), 3)
    ids = [f'row "{k}", {k}' for k in rows] if named else rows
    observed = ObservedMatrix.from_triplets(ids, columns, numbers)
    write_ratings(file, observed)
    found = read_ratings(file)
    assert found.row_ids.tolist() == observed.row_ids.tolist()
    assert (found.values != observed.values).nnz == 0


def test_no_id_is_run_by_a_spreadsheet(tmp_path):
    ids = ["=1+1", "@sum", "-3", "+7 sins", "ann"]
    write_ratings(tmp_path / "r.csv", ObservedMatrix([[5.0], [4.0], [3.0], [2.0], [1.0]], row_ids=ids))
    lines = (tmp_path / "r.csv").read_text().splitlines()[1:]
    assert [line.partition(",")[0] for line in lines] == ["'=1+1", "'@sum", "-3", "'+7 sins", "ann"]
