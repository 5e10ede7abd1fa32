"""Both paths pass the same tests: SciPy's products, and the compiled kernels for each instruction set there is."""

import pytest

from likewise._kernels.native import library as native

INSTRUCTION_SETS = ("baseline", "avx2", "avx512")


@pytest.fixture(params=["scipy", *INSTRUCTION_SETS])
def kernels(request, monkeypatch):
    """Choose the kernels for one test."""
    name = request.param
    if name == "scipy":
        monkeypatch.setenv("LIKEWISE_KERNELS", "scipy")
        return name
    if not native.is_built():
        pytest.skip("the compiled kernels are not installed")
    number = INSTRUCTION_SETS.index(name)
    if number >= native.library().likewise_instruction_sets():
        pytest.skip(f"this processor has no {name}")
    monkeypatch.setenv("LIKEWISE_KERNELS", "native")
    monkeypatch.setattr(native, "instruction_set", lambda: number)
    return name


@pytest.fixture
def always_in_threads(monkeypatch):
    """Start threads for the smallest product too."""
    monkeypatch.setattr("likewise._kernels.native.products._WORK_PER_THREAD", 1)
