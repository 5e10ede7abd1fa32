"""Units of work, their seeds and names; and processes of a run: whatever goes wrong in one is told, and all of them end whenever the run does."""

import copyreg
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

from likewise.errors import InputError, LikewiseError, MemoryLimitError, ModelError, option, spelled
from likewise.reproduction import Settings, reproduce, units
from likewise.reproduction.units import Unit, _portable, not_inherited, put_off, units_of

pytestmark = pytest.mark.usefixtures("interruptible")
posix = pytest.mark.skipif(os.name != "posix", reason="signals and processes of POSIX")


def run(model, jobs=2):
    """Run two small units in two processes; the second of them is handed over while the first is computed."""
    return reproduce("4", quick=True, simulations=1, arms="h", model=model, jobs=jobs)


def test_seeds_depend_on_the_cell_and_the_simulation_alone():
    few, many = units_of(Settings(("1",), 2, quick=True)), units_of(Settings(("1", "3", "4"), 5))
    assert set(few) <= set(many)
    drawn = [unit.seeds(0)[0].random() for unit in many]
    assert len(set(drawn)) == len(drawn)
    assert Unit("1", 0.1, 2).seeds(0)[1] == Unit("1", 0.1, 2).seeds(0)[1]
    assert Unit("1", 0.1, 2).seeds(0)[1] != Unit("1", 0.1, 2).seeds(1)[1]


def test_units_have_names_of_their_own():
    units = units_of(Settings())
    assert len({unit.name for unit in units}) == len(units)


# --- errors


class TwoParts(Exception):
    """It can be sent, but not be made again of its message."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def test_errors_that_another_process_cannot_rebuild_say_the_same(monkeypatch):
    # Dask, where another test has imported it, teaches pickle to rebuild every class of errors.
    monkeypatch.delitem(copyreg.dispatch_table, TwoParts, raising=False)
    sent, unsent = TwoParts("a", "b"), ValueError(lambda: 0)
    for error, start in ((sent, "TwoParts: a and b"), (unsent, "ValueError: <function")):
        error.add_note("where")
        found = _portable(error)
        assert type(found) is RuntimeError
        assert str(found).startswith(start)
        assert found.__notes__ == ["where"]
    same = ModelError("given", "expected")
    assert _portable(same) is same


def test_an_error_that_is_sent_keeps_its_marks_and_notes():
    error = InputError(option("jobs", "0"), "one", f"give {option('jobs')}")
    error.add_note("where")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.__notes__ == ["where"]
    shouted = spelled(again, lambda name, value: f"{name.upper()} {value}")
    assert shouted == "JOBS 0; expected one. Hint: give JOBS ..."


ODD = """
import sys
from likewise.errors import LikewiseError

class Odd(LikewiseError):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")

def fails(features, targets):
    raise Odd("this", "that")

def leaves(features, targets):
    sys.exit(3)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "said"), [("fails", "Odd: this and that"), ("leaves", "SystemExit: 3")])
def test_any_error_of_a_process_is_told(tiny, name, said):
    (tiny / "odd.py").write_text(ODD)
    with pytest.raises(RuntimeError, match=said) as caught:
        run(f"odd:{name}")
    assert f"in {name}" in "".join(caught.value.__notes__)  # where it was raised
    assert not isinstance(caught.value, LikewiseError)


KILLED = """
import os, struct, time
from multiprocessing.connection import Connection

def while_sending(features, targets):
    def half(line, message):
        os.write(line.fileno(), struct.pack("!i", len(message)) + bytes(message[: len(message) // 2]))
        os._exit(9)

    Connection._send_bytes = half
    return features.toarray() if hasattr(features, "toarray") else features

def with_a_child_that_lives_on(features, targets):
    if os.fork() == 0:
        time.sleep(300)
        os._exit(0)
    os._exit(9)
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("name", ["while_sending", "with_a_child_that_lives_on"])
def test_a_process_that_is_killed_at_any_moment_is_told(tiny, name):
    (tiny / "killed.py").write_text(KILLED)
    began = time.monotonic()
    with pytest.raises(MemoryLimitError, match="ended before its work"):
        run(f"killed:{name}")
    assert time.monotonic() - began < 200


STUBBORN = """
import os, signal, time

def stays(features, targets):
    try:
        os.close(os.open("first", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        while not os.path.exists("deaf"):
            time.sleep(0.01)
        raise ValueError("the other one fails")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.close(os.open("deaf", os.O_CREAT))
    time.sleep(300)
"""


@pytest.mark.slow
@posix
def test_a_process_that_hears_nothing_is_ended_too(tiny):
    (tiny / "stubborn.py").write_text(STUBBORN)
    began = time.monotonic()
    with pytest.raises(ModelError, match="the other one fails"):
        run("stubborn:stays")
    assert time.monotonic() - began < 200


@pytest.mark.slow
def test_an_error_in_another_process_is_the_same_error(tiny):
    (tiny / "broken.py").write_text("def fails(features, targets):\n    raise KeyError('x')\n")
    with pytest.raises(ModelError, match="broken:fails failed with KeyError"):
        reproduce("4", quick=True, simulations=1, model="broken:fails", jobs=2)


@pytest.mark.slow
def test_the_end_of_another_process_is_told(tiny):
    (tiny / "ending.py").write_text("import os\n\ndef ends(features, targets):\n    os._exit(9)\n")
    with pytest.raises(MemoryLimitError, match="killed from outside"):
        reproduce("4", quick=True, simulations=1, model="ending:ends", jobs=2)


# --- interruptions


def test_what_is_put_off_comes_afterwards():
    steps = []

    def step():
        with put_off():
            signal.raise_signal(signal.SIGINT)
            steps.append("to its end")

    with pytest.raises(KeyboardInterrupt):
        step()
    assert steps == ["to its end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_comes_afterwards_where_nothing_came():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with put_off():
        pass
    with pytest.raises(ZeroDivisionError), put_off():
        raise ZeroDivisionError
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_other_threads_need_no_protection():
    found = []

    def inside():
        with put_off(), not_inherited():
            found.append("done")

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert found == ["done"]


@posix
def test_a_process_that_is_started_hears_no_interruption_and_this_one_does_again():
    code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with not_inherited():
        within = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert within.stdout == "True\n"
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask


@pytest.mark.slow
@pytest.mark.parametrize("at", ["start", "give", "take", "kill"])
def test_an_interruption_at_any_step_leaves_no_process(monkeypatch, at):
    made = []

    class Interrupted(units.Worker):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)
            self.interrupt("start")

        def interrupt(self, step):
            if step == at:
                signal.raise_signal(signal.SIGINT)

        def give(self, unit):
            super().give(unit)
            self.interrupt("give")

        def take(self):
            self.interrupt("take")
            return super().take()

        def kill(self):
            self.interrupt("kill")
            super().kill()

    monkeypatch.setattr(units, "Worker", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("identity")
    assert len(made) == 2
    assert all(worker._process.exitcode is not None for worker in made)


def test_a_process_that_cannot_be_started_ends_the_others(monkeypatch):
    made = []

    class Second(units.Worker):
        def __init__(self, *arguments):
            if made:
                raise OSError(24, "Too many open files")
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(units, "Worker", Second)
    with pytest.raises(OSError, match="Too many open files"):
        run("identity")
    assert made[0]._process.exitcode is not None
