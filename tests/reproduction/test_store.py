"""A run that is killed, interrupted or damaged goes on where it stopped, and ends with the same tables."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from likewise.errors import DamagedStateWarning, InputError, OutputError
from likewise.reproduction import store
from likewise.reproduction.formats import as_markdown

pytestmark = pytest.mark.usefixtures("interruptible")

TABLES = ("tables.md", "tables.tex", "cells.csv", "tables.txt")
SIMULATIONS = 6


def start(driver, folder, jobs=1, simulations=SIMULATIONS):
    return subprocess.Popen(
        [sys.executable, str(driver), str(folder), str(jobs), str(simulations)],
        start_new_session=True,
        stderr=subprocess.PIPE,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


def finish(process):
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err.decode()


def tables(folder):
    return {name: (folder / name).read_bytes() for name in TABLES}


def kept(folder):
    return sorted((folder / "simulations").glob("*.json")) if folder.exists() else []


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.002)
    assert condition()


def is_gone(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
def test_killed_runs_end_with_the_same_tables_whatever_the_jobs(driver, tmp_path):
    chance, folder = random.Random(0), tmp_path / "killed"
    for jobs in (1, 1, 2):
        before, process = len(kept(folder)), start(driver, folder, jobs)
        wait_for(lambda before=before: len(kept(folder)) > before)
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        process.wait()
        wait_for(lambda group=process.pid: is_gone(group), 20)
    assert 0 < len(kept(folder)) <= 2 * SIMULATIONS
    finish(start(driver, folder))
    finish(start(driver, tmp_path / "undisturbed", jobs=2))
    assert tables(folder) == tables(tmp_path / "undisturbed")


@pytest.mark.slow
@pytest.mark.parametrize("later", [0, 0.005, 0.02])
def test_an_interrupted_run_leaves_no_process(driver, tmp_path, later):
    process = start(driver, tmp_path / "out", jobs=2, simulations=200)
    wait_for(lambda: kept(tmp_path / "out"))
    time.sleep(later)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert err.count(b"Traceback") == 1  # that of the script: its processes leave interruptions to it
    wait_for(lambda: is_gone(process.pid), 20)
    assert all(json.loads(file.read_text())["record"] for file in kept(tmp_path / "out"))


def test_what_is_kept_is_not_computed_again(run_tiny, tmp_path, monkeypatch):
    first = as_markdown(run_tiny(out=tmp_path / "out"))
    monkeypatch.setattr("likewise.reproduction.units.run_unit", None)
    assert as_markdown(run_tiny(out=tmp_path / "out")) == first


@pytest.mark.slow
def test_without_a_folder_the_same_is_found(run_tiny, tmp_path):
    assert as_markdown(run_tiny()) == as_markdown(run_tiny(out=tmp_path / "out"))


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["", "{", "[]", '{"unit": "x"}', "swap"])
def test_a_damaged_file_is_named_and_computed_again(run_tiny, tmp_path, damage):
    whole = as_markdown(run_tiny(out=tmp_path / "out"))
    file, other, *_ = kept(tmp_path / "out")
    before = file.read_text()
    file.write_text(other.read_text() if damage == "swap" else damage)
    with pytest.warns(DamagedStateWarning, match=file.name):
        again = run_tiny(out=tmp_path / "out")
    assert as_markdown(again) == whole
    assert file.read_text() == before


def test_what_a_killed_process_left_half_written_is_removed(run_tiny, tmp_path):
    run_tiny(out=tmp_path / "out")
    (tmp_path / "out" / ".likewise-0").mkdir()
    for name in ("simulations/.likewise-1", ".likewise-0/tables.md", "mine"):
        (tmp_path / "out" / name).write_text("x")
    run_tiny(out=tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"settings.json", "simulations", "mine"}
    assert not list(tmp_path.rglob(".likewise-*"))


def test_a_changed_number_is_noticed(run_tiny, tmp_path):
    run_tiny(out=tmp_path / "out")
    file = kept(tmp_path / "out")[0]
    content = json.loads(file.read_text())
    content["record"]["arms"]["h"]["metrics"]["mse"] += 1e-12
    file.write_text(json.dumps(content))
    with pytest.warns(DamagedStateWarning, match="checksum"):
        run_tiny(out=tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"noise": 0.2}, "noise"),
        ({"arms": "h"}, "arms"),
        ({"random_state": 1}, "random_state"),
        ({"targets": "truth"}, "targets"),
        ({"model": "identity"}, "model"),
        ({"quick": True}, "quick"),
        ({"experiments": "tiny,tiny-rate"}, "experiments"),
    ],
)
def test_another_run_in_the_same_folder_is_refused(run_tiny, tmp_path, change, named):
    run_tiny(out=tmp_path / "out")
    before = {file: file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()}
    with pytest.raises(InputError, match=f"holds a run with .*{named}.*never mixed"):
        run_tiny(**({"out": tmp_path / "out"} | change))
    assert {file: file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()} == before


@pytest.mark.slow
def test_more_simulations_go_on_from_those_that_are_there(run_tiny, tmp_path, monkeypatch):
    run_tiny(out=tmp_path / "out")
    before = {file: file.read_bytes() for file in kept(tmp_path / "out")}
    more = as_markdown(run_tiny(out=tmp_path / "out", simulations=3))
    assert {file: file.read_bytes() for file in before} == before
    assert len(kept(tmp_path / "out")) == 6
    assert more == as_markdown(run_tiny(simulations=3))
    monkeypatch.setattr("likewise.reproduction.units.run_unit", None)
    assert as_markdown(run_tiny(out=tmp_path / "out", simulations=3)) == more


@pytest.mark.slow
def test_other_versions_are_another_run(run_tiny, tmp_path, monkeypatch):
    run_tiny(out=tmp_path / "out")
    found = store.versions()
    monkeypatch.setattr(store, "versions", lambda: found | {"likewise": "0.0.0"})
    with pytest.raises(InputError, match=rf"likewise {found['likewise']}, not 0\.0\.0; expected"):
        run_tiny(out=tmp_path / "out")


@pytest.mark.parametrize("content", ["", "[]", "\x00"])
def test_settings_that_cannot_be_read_are_named(run_tiny, tmp_path, content):
    run_tiny(out=tmp_path / "out")
    (tmp_path / "out" / "settings.json").write_text(content)
    with pytest.raises(InputError, match="settings"):
        run_tiny(out=tmp_path / "out")


def test_simulations_of_unknown_settings_are_not_taken(run_tiny, tmp_path):
    run_tiny(out=tmp_path / "out")
    (tmp_path / "out" / "settings.json").unlink()
    with pytest.raises(InputError, match="unknown settings"):
        run_tiny(out=tmp_path / "out")


@pytest.mark.slow
def test_a_full_disk_is_told_and_what_was_kept_stays(run_tiny, tmp_path, monkeypatch):
    whole = as_markdown(run_tiny())
    flush, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")
        flush(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr("likewise.writing.os.fsync", full)
        with pytest.raises(OutputError, match="No space left"):
            run_tiny(out=tmp_path / "out")
    assert len(kept(tmp_path / "out")) == 1
    assert not list((tmp_path / "out").rglob(".likewise-*"))
    assert as_markdown(run_tiny(out=tmp_path / "out")) == whole


def test_a_file_in_the_way_is_told_before_the_work(run_tiny, tmp_path, monkeypatch):
    (tmp_path / "out").write_text("")
    monkeypatch.setattr("likewise.reproduction.units.run_unit", None)
    with pytest.raises(OutputError, match="out"):
        run_tiny(out=tmp_path / "out")
