"""The command as a process of its own: the shell's view of streams, signals and start-up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LIKEWISE = [sys.executable, "-m", "likewise"]


def shell(*arguments, **options):
    return subprocess.run(
        [*LIKEWISE, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=120, **options
    )


@pytest.mark.slow
def test_version_and_help():
    from likewise import __version__

    assert shell("--version").stdout.strip() == __version__
    ran = shell("audit", "--help")
    assert ran.returncode == 0
    for option in ("--threshold", "--reference", "--out", "--value-range", "--id-columns"):
        assert option in ran.stdout


@pytest.mark.slow
def test_help_loads_no_heavy_library():
    code = (
        "import sys; from likewise.cli.main import run; run(['audit', '--help']);"
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'polars', 'matplotlib', 'jinja2') if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("audit", "nothere.csv"),
        ("audit", "nothere/*.parquet"),
        ("audit", "here.csv", "--outputs", "nothere.csv"),
        ("estimate", "nothere.csv", "--out", "new.npz"),
        ("frontier", "nothere.csv", "--out", "new"),
    ],
)
def test_a_file_that_is_not_there_is_told_before_anything_heavy_is_loaded(tmp_path, command):
    """An error that takes seconds of imports is felt; a fifth of a second is not."""
    (tmp_path / "here.csv").write_text("id,a\nann,1\nbea,2\n")
    code = "import sys; from likewise.cli.main import run; run(sys.argv[1:]); print('numpy' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=True,
    )
    assert "error: no file 'nothere" in ran.stderr
    assert ran.stdout == "False\n"


def test_an_audit_from_end_to_end(ratings, tmp_path):
    options = ("--threshold", "noise-edge", "--value-range", "1,5", "--out", tmp_path / "report")
    ran = shell("audit", ratings, *options)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert ran.stdout.startswith("Individual fairness of knn on ratings.csv")
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000


def test_bad_input(tmp_path):
    ran = shell("audit", tmp_path / "missing")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("error: no file")


SVT = ("--estimator", "svt", "--threshold", "1", "--value-range", "1,5")
"""By default nothing is kept of so few ratings, which is a warning."""


@pytest.mark.slow
def test_nobody_reads_on(ratings):
    """As in `likewise audit ... | head -1`."""
    process = subprocess.Popen(
        [*LIKEWISE, "audit", str(ratings), *SVT, "--json", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141


@pytest.mark.slow
def test_a_full_standard_output(ratings):
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [*LIKEWISE, "audit", str(ratings), *SVT],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert ran.returncode == 1
    assert "No space left" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.slow
def test_ids_that_the_terminal_cannot_show(tmp_path):
    (tmp_path / "r.csv").write_text(
        "Zoë,1,5\nann,1,3\nZoë,2,1\nann,2,2\nbob,1,4\nbob,2,2\n", encoding="utf-8"
    )
    ran = shell(
        "audit", tmp_path / "r.csv", "--n-neighbors", "2", "--hold-out", "0", "--threshold", "0.1",
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "Zo\\xeb" in ran.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_behind(tmp_path, number):
    """Stop it while it writes, made slow by a sleep in the test's own process."""
    script = tmp_path / "slow.py"
    script.write_text(
        "import sys, time\n"
        "from likewise import writing\n"
        "from likewise.cli.main import run\n"
        "def slow(path, content):\n"
        "    path.write_text('half')\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "writing._write_through = slow\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    (tmp_path / "r.csv").write_text("1,1,5\n2,1,3\n1,2,1\n2,2,2\n3,1,4\n3,2,2\n")
    (tmp_path / "results").mkdir()
    process = subprocess.Popen(
        [
            sys.executable,
            str(script),
            "estimate",
            str(tmp_path / "r.csv"),
            "--out",
            str(tmp_path / "results" / "e.npz"),
            "--threshold",
            "0.1",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    time.sleep(0.1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors == "error: interrupted\n"
    assert list((tmp_path / "results").iterdir()) == []


def test_an_interruption_while_it_is_imported_is_one_line():
    code = """
import sys
import likewise.__main__ as start

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "likewise.cli.audit":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
sys.exit(start.main())
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "error: interrupted\n")


@pytest.mark.parametrize("moment", ["atexit.register(interrupt)", "sys.stdout.flush = interrupt"])
@pytest.mark.parametrize("ending", [["--version"], ["--no-such-option"]])
def test_an_interruption_when_it_is_over_leaves_no_traceback(moment, ending):
    """At exit nothing is left to interrupt; before, it is one line."""
    code = f"""
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import likewise.__main__ as start
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
{moment}
sys.argv = ["likewise", *{ending!r}]
sys.exit(start.main())
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Traceback" not in ran.stderr
    assert "KeyboardInterrupt" not in ran.stderr
    assert ran.returncode in ((0, 130) if ending == ["--version"] else (2, 130))
    assert len(ran.stderr.splitlines()) <= 1
