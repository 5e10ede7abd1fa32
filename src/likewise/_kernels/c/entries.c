/* Entries of a low-rank matrix L R^T at the places of a sparse one.
 *
 * native/products.py calls what is exported here from several threads, each on rows of its own. */

#include "portable.h"

#define LANES 8 /* sums that run side by side hide the latency of an addition */
#define ENTRIES_AHEAD 4

struct places {
    int64_t rank;
    const int64_t *pointers;
    const int32_t *columns;
    const double *left, *right; /* `rank` numbers a row */
    double *entries;
};

EXPORT_SIZE(places)

INLINE double dot(const double *restrict a, const double *restrict b, int64_t length)
{
    double sums[LANES] = {0}, total = 0;
    int64_t k = 0;
    for (; k + LANES <= length; k += LANES)
        for (int lane = 0; lane < LANES; lane++) sums[lane] += a[k + lane] * b[k + lane];
    for (; k < length; k++) total += a[k] * b[k];
    for (int lane = 0; lane < LANES; lane++) total += sums[lane];
    return total;
}

/* Rows start..stop-1 of the sparse matrix. */
EXPORT void likewise_entries(const struct places *P, int64_t start, int64_t stop)
{
    const int64_t r = P->rank, last = P->pointers[stop];
    for (int64_t i = start; i < stop; i++)
        for (int64_t p = P->pointers[i]; p < P->pointers[i + 1]; p++) {
            if (p + ENTRIES_AHEAD < last)
                prefetch(P->right + P->columns[p + ENTRIES_AHEAD] * r, (size_t)r * sizeof *P->right);
            P->entries[p] = dot(P->left + i * r, P->right + P->columns[p] * r, r);
        }
}
