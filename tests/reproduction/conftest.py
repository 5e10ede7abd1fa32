"""A small experiment and a fast algorithm, so that whole runs take no time and need no torch."""

import sys
from pathlib import Path

import pytest

from likewise.reproduction import EXPERIMENTS, Experiment, reproduce

MODEL = "standin:shrunk"
ARMS = "h,f-literal,f-released,f-noise-edge"

STANDIN = '''
import numpy as np

def shrunk(features, targets, *, random_state):
    """Half of what it is given, and where there is something to learn, half of that."""
    B = features if isinstance(features, np.ndarray) else features.toarray()
    return 0.5 * B + 0.5 * targets.toarray()
'''

TINY = {
    "tiny": Experiment("tiny", "Tiny: few people", "synthetic", "p", (0.3, 0.6), 24, 30, 3),
    "tiny-rate": Experiment("tiny-rate", "Tiny rate", "rate", "m", (12, 24), n_clusters=3),
}


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Register the small experiments, and go to a folder where the algorithm can be imported."""
    for key, experiment in TINY.items():
        monkeypatch.setitem(EXPERIMENTS, key, experiment)
    (tmp_path / "standin.py").write_text(STANDIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "standin", raising=False)
    return tmp_path


@pytest.fixture
def run_tiny(tiny):
    """Run the small experiment."""

    def run(experiments="tiny", **options):
        return reproduce(experiments, **({"simulations": 2, "arms": ARMS, "model": MODEL} | options))

    return run


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A run of the small experiments and the folder it was saved to, for tests that only read them."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "standin.py").write_text(STANDIN)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.delitem(sys.modules, "standin", raising=False)
        for key, experiment in TINY.items():
            patched.setitem(EXPERIMENTS, key, experiment)
        found = reproduce("tiny,tiny-rate", simulations=2, arms=ARMS, model=MODEL, out=folder / "out")
        assert found.save(folder / "out").name == "reproduction.html"
        yield found, folder / "out"


@pytest.fixture
def driver(tiny) -> Path:
    """Return a script that runs the small experiment as a process of its own and writes its tables."""
    script = tiny / "driver.py"
    script.write_text(
        f"""
import sys
from likewise.reproduction import EXPERIMENTS, Experiment, reproduce
from likewise.reproduction.formats import as_csv
from likewise.reproduction.formats import as_latex
from likewise.reproduction.formats import as_markdown
from likewise.writing import write_file

EXPERIMENTS["tiny"] = {TINY["tiny"]!r}

if __name__ == "__main__":
    folder, jobs, simulations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    found = reproduce("tiny", simulations=simulations, arms={ARMS!r}, model={MODEL!r}, out=folder, jobs=jobs)
    for name, write in (("tables.md", as_markdown), ("tables.tex", as_latex), ("cells.csv", as_csv), ("tables.txt", str)):
        write_file(f"{{folder}}/{{name}}", write(found))
"""
    )
    return script
