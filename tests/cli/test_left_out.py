"""Who is in a file beside the observations, but not among their individuals, is counted where it is left out."""

import json

import numpy as np
import pytest

from likewise import audit
from likewise.observations import clustered, write_ratings
from likewise.observations.index_alignment import on_others
from likewise.observations.reading import read_groups_file, read_outputs_file, read_target_file
from likewise.observations.reading.outputs import read_reference_file

IDS = ["ann", "bea", "7"]

TOLD = "2 of 5 ids are not in the data and are left out"

LINES = {
    "numbers": (read_outputs_file, "id,score\nann,1\nbea,2\ncy,3\n7,4\n8,5\n"),
    "words": (read_outputs_file, "id,score\nann,yes\nbea,no\ncy,no\n7,yes\n8,no\n"),
    "lists": (read_outputs_file, "id,rec1,rec2\nann,1,2\nbea,2,3\ncy,3,4\n7,4,5\n8,5,6\n"),
    "lines": (read_outputs_file, "user,item,score\nann,1,2\nbea,1,3\ncy,1,4\n7,1,5\n8,1,6\n8,2,6\n"),
    "features": (read_reference_file, "id,age\nann,1\nbea,2\ncy,3\n7,4\n8,5\n"),
    "groups": (read_groups_file, "id,sex\nann,f\nbea,m\ncy,f\n7,m\n8,m\n"),
    "target": (read_target_file, "id,paid\nann,1\nbea,0\ncy,1\n7,0\n8,1\n"),
}


@pytest.mark.parametrize("kind", LINES)
def test_others_are_counted_with_the_columns_of_their_file(tmp_path, kind):
    read, lines = LINES[kind]
    (tmp_path / "file.csv").write_text(lines)
    found = read(tmp_path / "file.csv", IDS)
    assert found.roles.remarks[-1] == TOLD
    assert found.roles.sentence().endswith(f"; {TOLD}.")
    kept = "".join(line for line in lines.splitlines(keepends=True) if line.split(",")[0] not in ("cy", "8"))
    (tmp_path / "file.csv").write_text(kept)
    assert not any("left out" in remark for remark in read(tmp_path / "file.csv", IDS).roles.remarks)


def test_arrays_with_ids_count_others_too(tmp_path):
    np.savez(tmp_path / "a.npz", outputs=np.arange(4.0), row_ids=np.array(["ann", "bea", "7", "cy"]))
    remarks = read_outputs_file(tmp_path / "a.npz", IDS).roles.remarks
    assert remarks == ("1 of 4 ids is not in the data and is left out",)


def test_ids_are_counted_once_and_by_how_they_are_written():
    assert on_others(np.array([7, 8, 8], dtype=object), ["7"]) == (
        "1 of 2 ids is not in the data and is left out",
    )
    assert on_others(np.array([7, 8]), [8, 7]) == ()


def test_the_command_says_so_in_its_answer_and_on_the_page(likewise, tmp_path, quick):
    data = clustered(20, 10, 2, observed_fraction=0.6, random_state=0)
    write_ratings(tmp_path / "ratings.csv", data.observed)
    (tmp_path / "groups.csv").write_text("user,sex\n" + "".join(f"{i},{'fm'[i % 2]}\n" for i in range(23)))
    ran = likewise(
        "audit", tmp_path / "ratings.csv", "--value-range=-1,1", "--estimator", "biases",
        "--groups", tmp_path / "groups.csv", "--out", tmp_path / "report", "--details",
    )  # fmt: skip
    told = "3 of 23 ids are not in the data and are left out"
    assert ran.code == 0
    assert told in " ".join(ran.out.split())
    assert told in (tmp_path / "report" / "report.html").read_text()
    read = json.loads((tmp_path / "report" / "report.json").read_text())["data"]["columns"]
    assert told in next(file for file in read if file["source"] == "groups.csv")["remarks"]


def test_a_frame_of_lines_counts_others_in_a_note():
    pandas = pytest.importorskip("pandas")
    observed = clustered(20, 10, 2, observed_fraction=0.6, random_state=0).observed
    users = np.repeat(np.arange(22), 2)
    frame = pandas.DataFrame(
        {"user": users, "item": np.tile([0, 1], 22), "score": np.random.default_rng(0).normal(size=44)}
    )
    notes = audit(observed, outputs=frame).data.notes
    assert "outputs of 'outputs': 2 of 22 ids are not in the data and are left out" in notes


def test_ratings_of_strangers_and_of_other_items_are_counted(likewise, tmp_path):
    data = clustered(20, 10, 2, observed_fraction=0.6, random_state=0)
    write_ratings(tmp_path / "ratings.csv", data.observed)
    rng = np.random.default_rng(0)
    scores, lists = rng.normal(size=(20, 8)), [rng.permutation(8)[:2] for _ in range(20)]
    write(tmp_path / "scores.csv", ["user", *range(8)], [[i, *row] for i, row in enumerate(scores)])
    write(tmp_path / "lists.csv", ["user", "rec1", "rec2"], [[i, *row] for i, row in enumerate(lists)])
    rated = [*((i, 0, 0.5) for i in range(20)), (20, 1, 0.5), (21, 2, 0.25), (3, 9, 1.0)]
    write(tmp_path / "later.csv", ["user", "item", "rating"], rated)
    write(tmp_path / "genres.csv", ["item", "genre"], [[j, "AB"[j % 2]] for j in range(12)])

    def said(*options):
        of_target = "--target", tmp_path / "later.csv", "--details", "--value-range=-1,1"
        return " ".join(likewise("audit", tmp_path / "ratings.csv", *of_target, *options).out.split())

    strangers = "2 ratings of individuals who are not in the data are left out"
    of_scores = said("--outputs", tmp_path / "scores.csv")
    assert (
        "20 ratings, held against the outputs of their items; 1 of items without outputs is left out"
        in of_scores
    )
    assert strangers in of_scores
    of_lists = said("--outputs", tmp_path / "lists.csv", "--item-groups", tmp_path / "genres.csv")
    assert strangers in of_lists
    told = (
        "Read genres.csv: features from item, groups from genre; A: 5, B: 5; 2 of 12 ids are not in the data"
    )
    assert told in of_lists


def write(path, header, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in (header, *rows)) + "\n")
