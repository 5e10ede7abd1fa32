"""Small files of observations, and a way to run a command as the shell would see it."""

from dataclasses import dataclass

import numpy as np
import pytest

from likewise.cli.main import run


@dataclass
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def likewise(capsys):
    """Run a command in this process."""

    def command(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return command


@pytest.fixture(scope="session")
def ratings(tmp_path_factory):
    """Twelve users of two tastes, ten items, half of the ratings."""
    generator = np.random.default_rng(0)
    tastes = generator.integers(1, 6, (2, 10))
    lines = ["userId,movieId,rating"]
    for user in range(12):
        for item in np.flatnonzero(generator.random(10) < 0.6):
            lines.append(f"user-{user},{item * 10},{tastes[user % 2, item]}")
    path = tmp_path_factory.mktemp("data") / "ratings.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def quick(monkeypatch):
    """Draw nothing, for tests of what happens around the figures."""
    from likewise.report.plots import FORMATS

    monkeypatch.setattr("likewise.report.audit_report.draw", lambda *_: dict.fromkeys(FORMATS, b"a drawing"))
    monkeypatch.setattr("likewise.report.html.inline_svg", lambda *_: "<svg></svg>")
