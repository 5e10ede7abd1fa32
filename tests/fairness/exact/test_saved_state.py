"""A run that was interrupted goes on where it was; a state of other data, or a damaged one, is refused."""

import numpy as np
import pytest

from likewise.errors import FileFormatError, InputError, OutputError
from likewise.fairness import RowDistance, measure_arms
from likewise.fairness.exact import blocks, saved_state
from likewise.writing import write_npz


@pytest.fixture(autouse=True)
def saved_after_each_of_many_units(monkeypatch):
    monkeypatch.setattr(blocks, "tile_width", lambda _: 16)
    monkeypatch.setattr(blocks, "_LEAST_ROWS", 8)
    monkeypatch.setattr(saved_state, "_SECONDS_BETWEEN", -1.0)


class Counted(RowDistance):
    """Counts the blocks that it measures, and is interrupted at one of them."""

    measured, interrupt_at = 0, None

    def block(self, start, stop, first=0, last=None):
        self.measured += 1
        if self.measured == self.interrupt_at:
            raise KeyboardInterrupt
        return super().block(start, stop, first, last)


def case(seed=0, m=45, **options):
    rng = np.random.default_rng(seed)
    people, outputs = rng.integers(0, 4, (m, 2)).astype(float), rng.random((2, m))
    reference = Counted(people, "l1")
    settings = {"lipschitz": 0.5, "groups": np.arange(m) % 3, "nearest_share": 0.2, "quantiles": (0.5,)}
    return {"a": outputs[0], "b": outputs[1]}, reference, settings | options


def run(path, at=None, seed=0, **options):
    arms, reference, settings = case(seed, **options)
    reference.interrupt_at = at
    found = measure_arms(arms, reference, resume=path, **settings)
    return {name: figures.to_dict() for name, figures in found.items()}, reference.measured


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("at", [2, 9, 12, 17])
def test_an_interrupted_run_goes_on(tmp_path, monkeypatch, at, threads):
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", threads)
    whole, n_blocks = run(tmp_path / "whole.npz")
    assert n_blocks > 20
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "state.npz", at)
    resumed, n_left = run(tmp_path / "state.npz")
    assert resumed == whole
    assert n_left <= n_blocks
    again, n_again = run(tmp_path / "state.npz")
    assert again == whole
    assert n_again == 1  # what makes the working copies; no pair is measured again


def test_most_of_the_work_is_not_done_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", "1")
    n_blocks = run(tmp_path / "whole.npz")[1]
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "state.npz", n_blocks - 3)
    assert run(tmp_path / "state.npz")[1] <= 6


def test_other_quantiles_may_be_asked_of_the_same_state(tmp_path):
    run(tmp_path / "state.npz")
    again, n_blocks = run(tmp_path / "state.npz", quantiles=(0.1, 0.9))
    assert n_blocks == 1
    assert list(again["a"]["quantiles"]) == ["0.1", "0.9"]


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"lipschitz": 0.6},
        {"nearest_share": 0.3},
        {"groups": np.arange(45) % 2},
        {"bins": [0, 1, 2]},
        {"worst": 3},
    ],
)
def test_a_state_of_other_data_or_settings_is_refused(tmp_path, other):
    run(tmp_path / "state.npz")
    with pytest.raises(InputError, match="other data or settings"):
        run(tmp_path / "state.npz", **other)


@pytest.mark.parametrize("who", range(0, 45, 11))
def test_one_changed_row_is_noticed(tmp_path, who):
    run(tmp_path / "state.npz")
    arms, reference, settings = case()
    arms["b"] = arms["b"].copy()
    arms["b"][who] += 1e-9
    with pytest.raises(InputError, match="other data or settings"):
        measure_arms(arms, reference, resume=tmp_path / "state.npz", **settings)


def damaged_copies(content):
    yield b""
    yield b"not an archive"
    yield content[: len(content) // 2]
    middle = len(content) // 2
    yield content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def test_damage_is_said(tmp_path):
    path = tmp_path / "state.npz"
    run(path)
    for content in list(damaged_copies(path.read_bytes())):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match="damaged"):
            run(path)


def test_other_archives_are_no_states(tmp_path):
    write_npz(tmp_path / "other.npz", {"values": np.arange(3)})
    write_npz(tmp_path / "header.npz", {"header": np.array("[1]")})
    np.savez(tmp_path / "objects.npz", header=np.array([{}], dtype=object))
    for name in ("other", "header", "objects"):
        with pytest.raises(FileFormatError, match="no state of a computation"):
            run(tmp_path / f"{name}.npz")


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path):
    arms, reference, settings = case()
    with pytest.raises(OutputError):
        measure_arms(arms, reference, resume=tmp_path / "nowhere" / "state.npz", **settings)
    assert reference.measured == 0


def test_distances_in_memory_are_not_saved(tmp_path):
    arms, reference, settings = case()
    with pytest.raises(InputError, match=r"resume=\.\.\. with streaming=False"):
        measure_arms(arms, reference, resume=tmp_path / "x.npz", streaming=False, **settings)
