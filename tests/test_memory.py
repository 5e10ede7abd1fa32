import math

import numpy as np
import pytest

from likewise import memory
from likewise.errors import MemoryLimitError


def test_available_memory_is_positive_and_below_what_no_machine_has():
    assert 0 < memory.available_memory() < 2**60


def test_what_fits_passes_and_what_does_not_is_refused_with_size_limit_and_alternative():
    memory.ensure_fits(2**30, "an array", "use blocks()", limit=2**30)
    with pytest.raises(
        MemoryLimitError, match=r"an array would need 2\.0 GiB, 1\.0 GiB may be used; use blocks\(\)"
    ):
        memory.ensure_fits(2**31, "an array", "use blocks()", limit=2**30)


def test_a_control_group_limits_what_the_machine_has(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    monkeypatch.setattr(memory, "_CONTROL_GROUP", tmp_path)
    assert memory.available_memory() == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_memory() > 600


def test_without_memory_information_the_physical_size_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_MEMORY_INFO", tmp_path / "absent")
    monkeypatch.setattr(memory, "_CONTROL_GROUP", tmp_path)
    assert 2**20 < memory.available_memory() < math.inf


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0.0 B"), (1023, "1023.0 B"), (1024, "1.0 KiB"), (3 * 2**30, "3.0 GiB"), (2**50, "1024.0 TiB")],
)
def test_sizes_are_written_in_binary_units(size, text):
    assert memory.format_bytes(size) == text


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [
        ("2Gi", 2**31),
        ("2GiB", 2**31),
        ("512 Mi", 2**29),
        (np.int64(5), 5),
        (np.float32(3), 3),
        (1e20, 1e20),
        ("7B", 7),
    ],
)
def test_sizes_as_clusters_and_numpy_write_them(size, n_bytes):
    assert memory.bytes_of(size) == n_bytes
