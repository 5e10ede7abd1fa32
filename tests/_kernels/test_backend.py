import os
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise._kernels import CompressedRows, backend, kernel_info
from likewise._kernels.backend import equal_shares, run_together, thread_count, usable_processors
from likewise._kernels.native import library as native
from likewise.errors import InputError, KernelWarning, MissingDependencyError


@pytest.fixture
def not_built(monkeypatch):
    monkeypatch.setattr(native, "_load", lambda: None)
    monkeypatch.delenv("LIKEWISE_KERNELS", raising=False)
    backend._warn_once.cache_clear()
    yield
    backend._warn_once.cache_clear()


def test_without_a_compiler_scipy_runs_and_it_is_said_once(not_built):
    with pytest.warns(KernelWarning, match="install a C compiler"):
        rows = CompressedRows.from_csr(sparse.csr_array(np.eye(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CompressedRows.from_csr(sparse.csr_array(np.eye(2)))
        assert kernel_info().kernels == "scipy"
    assert type(rows.products).__name__ == "ScipyProducts"


def test_asking_for_kernels_that_are_not_built_is_an_error(not_built, monkeypatch):
    monkeypatch.setenv("LIKEWISE_KERNELS", "native")
    with pytest.raises(MissingDependencyError, match="not installed"):
        kernel_info()


def test_asking_for_scipy_is_silent(not_built, monkeypatch):
    monkeypatch.setenv("LIKEWISE_KERNELS", "scipy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel_info().instruction_set == "none"


def test_an_unknown_choice_is_an_error(monkeypatch):
    monkeypatch.setenv("LIKEWISE_KERNELS", "cuda")
    with pytest.raises(InputError, match="LIKEWISE_KERNELS 'cuda'"):
        kernel_info()


@pytest.mark.skipif(not native.is_built(), reason="the compiled kernels are not installed")
def test_a_library_from_other_sources_is_not_used():
    class Other:
        def __getattr__(self, name):
            return lambda: 1

    with pytest.raises(AttributeError, match="built for another"):
        native.declared(Other())


@pytest.mark.skipif(not native.is_built(), reason="the compiled kernels are not installed")
def test_a_library_whose_fields_have_another_order_is_not_used(monkeypatch):
    """Two fields of one size could be exchanged without any structure changing its size: names are compared."""
    names = native.FIELDS["totals"]
    monkeypatch.setitem(native.FIELDS, "totals", (names[1], names[0], *names[2:]))
    with pytest.raises(AttributeError, match="other totals"):
        native.declared(native.library())


@pytest.mark.skipif(not native.is_built(), reason="the compiled kernels are not installed")
@pytest.mark.parametrize(
    ("architecture", "instructions", "advised"),
    [
        ("Haswell", "avx512", True),
        ("SkylakeX", "avx512", False),
        ("Haswell", "avx2", False),
        (None, "avx512", False),
    ],
)
def test_info_tells_where_blas_takes_the_processor_for_an_older_one(
    monkeypatch, architecture, instructions, advised
):
    library = {"user_api": "blas", "internal_api": "openblas", "version": "0.3.31", "num_threads": 2}
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: [library | {"architecture": architecture}])
    monkeypatch.setattr("likewise._kernels.backend.use_native", lambda: True)
    monkeypatch.setattr(native, "instruction_set_name", lambda: instructions)
    info = kernel_info()
    assert info.blas == f"openblas 0.3.31 ({f'{architecture}, ' if architecture else ''}2 threads)"
    assert ("OPENBLAS_CORETYPE=SkylakeX" in info.advice) == advised


@pytest.mark.parametrize(
    ("told", "said"), [("Haswell", "environment instead of Haswell products"), (None, "environment products")]
)
def test_the_advice_names_what_the_environment_says_of_the_processor(monkeypatch, told, said):
    library = {"user_api": "blas", "internal_api": "openblas", "version": "0.3.31", "num_threads": 2}
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: [library | {"architecture": "Haswell"}])
    monkeypatch.setattr("likewise._kernels.backend.use_native", lambda: True)
    monkeypatch.setattr(native, "instruction_set_name", lambda: "avx512")
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    if told:
        monkeypatch.setenv("OPENBLAS_CORETYPE", told)
    assert said in kernel_info().advice


def test_info_names_the_instruction_set(monkeypatch):
    monkeypatch.setenv("LIKEWISE_KERNELS", "native")
    info = kernel_info()
    assert (info.kernels, info.instruction_set) == ("native", native.instruction_set_name())
    assert info.instruction_set in {"baseline", "avx2", "avx512"}


def test_threads_come_from_the_argument_then_the_environment_then_the_machine(monkeypatch):
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", "3")
    assert (thread_count(), thread_count(5)) == (3, 5)
    monkeypatch.delenv("LIKEWISE_NUM_THREADS")
    assert thread_count() == usable_processors() <= (os.cpu_count() or 1)


@pytest.mark.parametrize("text", ["0", "-2", "many", "1.5", "9" * 20])
def test_a_number_of_threads_that_is_none_is_an_error(monkeypatch, text):
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", text)
    with pytest.raises(InputError, match="LIKEWISE_NUM_THREADS"):
        thread_count()


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 8))
def test_shares_cover_all_rows_once_and_are_nearly_equal(work, n_shares):
    cumulative = np.concatenate([[0], np.cumsum(work, dtype=np.int64)]).astype(np.int64)
    shares = equal_shares(cumulative, n_shares)
    assert [row for start, stop in shares for row in range(start, stop)] == list(range(len(work)))
    assert 1 <= len(shares) <= n_shares
    fair = sum(work) / n_shares
    assert all(
        cumulative[stop] - cumulative[start] <= fair + max(work, default=0) + 1 for start, stop in shares
    )


def test_each_share_runs_once():
    seen = []
    run_together(lambda *share: seen.append(share), [(0, 2), (2, 3), (3, 7)])
    assert sorted(seen) == [(0, 0, 2), (1, 2, 3), (2, 3, 7)]
