"""``--distance-from``: d learned from a file of answers, and what the answers leave open told beside the verdict."""

import json

import numpy as np
import pytest

from likewise.cli.main import run


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    skill, height = rng.normal(size=(2, 60))
    job = rng.choice(["cook", "nurse"], 60)
    rows = "".join(f"p{i},{skill[i]:.6f},{height[i]:.6f},{job[i]}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("name,skill,height,job\n" + rows)
    (tmp_path / "scores.csv").write_text(
        "name,score\n" + "".join(f"p{i},{height[i]:.6f}\n" for i in range(60))
    )
    asked = [(i, k) for i in range(0, 60, 3) for k in range(i) if (i + k) % 2]
    answers = "".join(
        f"p{i},p{k},{'yes' if abs(skill[i] - skill[k]) < 1 else 'no'},{i % 9}\n" for i, k in asked
    )
    (tmp_path / "answers.csv").write_text("left,right,similar,judge\n" + answers)
    monkeypatch.chdir(tmp_path)
    return tmp_path


AUDIT = ["audit", "people.csv", "--id-columns", "name", "--outputs", "scores.csv"]


def test_a_learned_distance_judges(files, capsys):
    command = [*AUDIT, "--distance-from", "answers.csv", "--lipschitz", "1", "--json", "found.json"]
    assert run(command) == 0, capsys.readouterr().err
    found = json.loads((files / "found.json").read_text())
    verdict = found["arms"]["outputs"]["verdict"]
    assert verdict["status"] == "violated"
    assert "leave open of d" in verdict["reason"]
    assert "learned from" in found["reference"]["description"]
    said = " ".join(found["data"]["notes"])
    assert "skill" in said
    assert "held-out answers" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "people.csv", "--distance-from", "answers.csv"], "--distance-from without --outputs"),
        ([*AUDIT, "--distance-from", "answers.csv", "--norm", "l2"], "--norm beside --distance-from"),
        (
            [*AUDIT, "--distance-from", "answers.csv", "--reference", "gower"],
            "--reference beside --distance-from",
        ),
        ([*AUDIT, "--distance-from", "scores.csv"], "expected left, right, similar"),
        ([*AUDIT, "--distance-from", "answer.csv"], "did you mean answers.csv"),
    ],
)
@pytest.mark.usefixtures("files")
def test_what_cannot_be_used_is_told(arguments, message, capsys):
    assert run(arguments) == 1
    assert message in capsys.readouterr().err
