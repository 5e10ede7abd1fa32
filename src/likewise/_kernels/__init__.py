"""The few compiled functions, each with a twin on NumPy and SciPy; nothing else in the package calls C.

Products of a sparse (plus low rank) matrix A, m x n, with a block of b columns:

>>> import numpy as np, scipy.sparse
>>> from likewise import _kernels
>>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
>>> rows = _kernels.CompressedRows.from_csr(A)      # checked and laid out once
>>> _kernels.gram_product(rows, np.eye(3))          # A^T (A X) in one pass over A
array([[1., 0., 2.],
       [0., 9., 0.],
       [2., 0., 4.]])
>>> _kernels.forward_product(rows, np.ones((3, 1))) # A X
array([[3.],
       [3.]])
>>> _kernels.adjoint_product(rows, np.ones((2, 1))) # A^T Y
array([[1.],
       [3.],
       [2.]])
>>> biased = rows.plus_low_rank(np.ones((2, 1)), np.ones((3, 1)))  # A + L R^T, never made dense
>>> _kernels.forward_product(biased, np.ones((3, 1)))
array([[6.],
       [6.]])

The arithmetic and the result of a product have the dtype of the block (float32 or float64), whatever the
dtype of the stored values: one `CompressedRows` serves a float32 iteration and its float64 refinement.

Comparisons of every individual with every other, by walking through who shares a feature with whom:

>>> pairs = _kernels.PairWalk.from_csr(A)
>>> _kernels.absolute_differences(pairs, 0, 2)      # l1 distances of the zero-filled rows
array([[0., 6.],
       [6., 0.]])

Entries of a low-rank matrix where A has some:

>>> _kernels.sampled_entries(A, np.array([[1.0], [2.0]]), np.array([[3.0], [5.0], [7.0]]))
array([ 3.,  7., 10.])

Which kernels run: the compiled ones where they were built, else their twins (said once, `KernelWarning`).
``LIKEWISE_KERNELS=native`` or ``scipy`` asks for one of the two, ``LIKEWISE_NUM_THREADS`` limits the threads,
and `kernel_info` tells what is in use.
"""

from likewise._kernels.backend import KernelInfo, kernel_info, one_blas_thread, single_threaded, thread_count
from likewise._kernels.pair_lists import tile_width
from likewise._kernels.pair_sums import (
    COUNTS,
    GROUP_SUMS,
    MAXIMA,
    PERSON_COLUMNS,
    TOTALS,
    PairBlock,
    PairLimits,
    PairSums,
    by_name,
)
from likewise._kernels.pairs import (
    PairWalk,
    absolute_differences,
    add_pairs,
    count_pairs,
    distances_from_products,
    shared_differences,
    squared_differences,
)
from likewise._kernels.products import (
    CompressedRows,
    adjoint_product,
    forward_product,
    gram_product,
    sampled_entries,
)
from likewise._kernels.ratios import (
    N_BINS,
    PAIR_COLUMNS,
    RELATIVE_WIDTH,
    TIE,
    EdgeCounter,
    beyond_rounding,
    bin_ends,
    bins_of,
    excesses,
    largest_places,
    pair_ratios,
)
from likewise._kernels.regressions import solve_regressions

__all__ = [
    "COUNTS",
    "GROUP_SUMS",
    "MAXIMA",
    "N_BINS",
    "PAIR_COLUMNS",
    "PERSON_COLUMNS",
    "RELATIVE_WIDTH",
    "TIE",
    "TOTALS",
    "CompressedRows",
    "EdgeCounter",
    "KernelInfo",
    "PairBlock",
    "PairLimits",
    "PairSums",
    "PairWalk",
    "absolute_differences",
    "add_pairs",
    "adjoint_product",
    "beyond_rounding",
    "bin_ends",
    "bins_of",
    "by_name",
    "count_pairs",
    "distances_from_products",
    "excesses",
    "forward_product",
    "gram_product",
    "kernel_info",
    "largest_places",
    "one_blas_thread",
    "pair_ratios",
    "sampled_entries",
    "shared_differences",
    "single_threaded",
    "solve_regressions",
    "squared_differences",
    "thread_count",
    "tile_width",
]
