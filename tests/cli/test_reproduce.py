"""The paper's experiments from the command line."""

import sys

import pytest

from likewise.reproduction import EXPERIMENTS, Experiment


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.setitem(
        EXPERIMENTS, "small", Experiment("small", "Small", "synthetic", "p", (0.3, 0.6), 20, 24, 2)
    )
    monkeypatch.chdir(tmp_path)
    return ("reproduce", "--experiment", "small", "--model", "identity", "--jobs", "1")


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr("likewise.reproduction.reproduction.to_files", lambda *_: {"svg": b"<svg></svg>"})


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_run_prints_its_tables_and_leaves_a_page(likewise, small, tmp_path):
    ran = likewise(*small, "--simulations", "2", "--out", "results")
    assert (ran.code, ran.err) == (0, "")
    assert "Small" in ran.out
    assert "f-noise-edge" in ran.out
    assert "mean +/- 2 standard deviations of 2 simulations" in " ".join(ran.out.split())
    assert (tmp_path / "results" / "reproduction.html").exists()
    again = likewise(*small, "--simulations", "2", "--out", "results")
    assert again.out == ran.out


@pytest.mark.usefixtures("undrawn")
def test_quick_is_one_simulation_of_two_arms(likewise, small):
    ran = likewise(*small, "--quick", "--out", "results")
    assert ran.code == 0
    assert "quick: first and last level only" in " ".join(ran.out.split())
    assert "f-noise-edge" not in ran.out


@pytest.mark.usefixtures("undrawn")
def test_quiet_prints_nothing(likewise, small):
    ran = likewise(*small, "--quick", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.usefixtures("undrawn")
def test_another_run_in_the_same_folder_is_refused(likewise, small):
    assert likewise(*small, "--quick", "--quiet").code == 0
    ran = likewise(*small, "--quick", "--quiet", "--random-state", "1")
    assert ran.code == 1
    assert "holds a run with random_state 0, not 1" in ran.err
    assert "--out" in ran.err


@pytest.mark.usefixtures("undrawn")
def test_a_damaged_file_is_named_in_a_line(likewise, small, tmp_path):
    likewise(*small, "--quick", "--quiet")
    file = min((tmp_path / "likewise-reproduction" / "simulations").iterdir())
    file.write_text("{")
    ran = likewise(*small, "--quick", "--quiet")
    assert ran.code == 0
    assert ran.err.startswith("warning: ")
    assert file.name in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--experiment", "7"), 1, "unknown experiment '7'"),
        (("--experiment", "all,1"), 1, "experiments 'all', '1'; expected 'all' alone, or some of 1, 2, 3"),
        (("--arms", "f-relased"), 1, "did you mean 'f-released'"),
        (("--simulations", "0"), 1, "--simulations 0"),
        (("--simulations", "2.5"), 2, "2.5"),
        (("--jobs", "0"), 1, "--jobs 0"),
        (("--targets", "thruth"), 2, "thruth"),
        (("--random-state", "-1"), 2, "-1"),
        (("--model", "knm"), 1, "did you mean 'knn'"),
    ],
)
def test_bad_input_is_one_line(likewise, small, tmp_path, options, code, message):
    given = dict(zip(small[1::2], small[2::2], strict=True)) | dict([options])
    ran = likewise("reproduce", *(part for option in given.items() for part in option))
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["tables.md", "reproduction.html", "simulations"])
def test_a_folder_that_cannot_hold_results_is_told_before_the_work(
    likewise, small, tmp_path, name, monkeypatch
):
    monkeypatch.setattr("likewise.reproduction.units.run_unit", None)
    if name == "simulations":
        (tmp_path / "likewise-reproduction").mkdir()
        (tmp_path / "likewise-reproduction" / name).write_text("")
    else:
        (tmp_path / "likewise-reproduction" / name).mkdir(parents=True)
    ran = likewise(*small)
    assert (ran.code, ran.out) == (1, "")
    assert name in ran.err


def test_torch_that_is_missing_comes_with_the_command_that_installs_it(likewise, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    ran = likewise("reproduce", "--experiment", "1")
    assert ran.code == 1
    assert "pip install" in ran.err
    assert not list(tmp_path.iterdir())
