/* Every individual against all others, by walking through the lists of those who observed the same features.
 *
 * pairs.py declares what is exported here and calls it from several threads, each on individuals of its own. */

#include "portable.h"

/* The observations by individual and by feature, both in increasing order. */
struct lists {
    int64_t n_rows;
    const int64_t *row_pointers, *column_pointers;
    const int32_t *row_columns, *column_rows;
    const double *row_values, *column_values;
    const double *norms; /* of the rows: l1 or squared l2 */
};

/* The first position in a list of individuals whose individual is `least` or later. */
static int64_t first_at_least(const int32_t *rows, int64_t start, int64_t stop, int64_t least)
{
    while (least && start < stop) {
        const int64_t middle = start + (stop - start) / 2;
        if (rows[middle] < least) start = middle + 1;
        else stop = middle;
    }
    return start;
}

/* What |a| and |b| have in common: half of |a| + |b| - |a - b|, without its rounding. */
static inline double overlap(double a, double b)
{
    const double toward = a < 0 ? -b : b, size = a < 0 ? -a : a;
    const double smaller = toward < size ? toward : size;
    return smaller > 0 ? smaller : 0;
}

static inline double absolute_difference(double a, double b)
{
    return a < b ? b - a : a - b;
}

#define WALK walk_overlap
#define TERM(a, b) sums[j] += overlap(a, b)
#include "pairs.h"

#define WALK walk_product
#define TERM(a, b) sums[j] += (a) * (b)
#include "pairs.h"

#define WALK walk_shared
#define TERM(a, b) (counts[j]++, sums[j] += absolute_difference(a, b))
#include "pairs.h"

/* sums[j] = what the norms of i and j do not share: a distance, since both terms are >= 0 up to rounding. */
static void subtract_from_norms(const struct lists *L, int64_t i, int64_t from, double *sums)
{
    const double norm = L->norms[i];
    for (int64_t j = from; j < L->n_rows; j++) {
        const double distance = (norm - sums[j]) + (L->norms[j] - sums[j]);
        sums[j] = distance > 0 ? distance : 0;
    }
}

enum walk { ABSOLUTE, SQUARED, SHARED };

/* Individuals start..stop-1 against all, or against later ones only; lines of `sums` and `counts` from i = first. */
EXPORT void likewise_walk(int32_t walk, const struct lists *L, int64_t first, int64_t start, int64_t stop,
                          int32_t later_only, double *sums, int32_t *counts)
{
    for (int64_t i = start; i < stop; i++) {
        const int64_t line = (i - first) * L->n_rows, from = later_only ? i + 1 : 0;
        memset(sums + line, 0, (size_t)L->n_rows * sizeof *sums);
        if (walk == SHARED) {
            memset(counts + line, 0, (size_t)L->n_rows * sizeof *counts);
            walk_shared(L, i, from, sums + line, counts + line);
        } else {
            (walk == ABSOLUTE ? walk_overlap : walk_product)(L, i, from, sums + line, NULL);
            subtract_from_norms(L, i, from, sums + line);
        }
    }
}
