/* Every individual against all others, by walking through the lists of those who observed the same features.
 *
 * native_pairs.py calls what is exported here from several threads, each on individuals of its own. */

#include "portable.h"

enum walk { ABSOLUTE, SQUARED, SHARED };

/* The observations by individual and by feature, both in increasing order. */
struct lists {
    int64_t n_rows;
    const int64_t *row_pointers, *column_pointers;
    const int32_t *row_columns;
    const void *column_rows;    /* uint16_t or int32_t */
    const double *row_values;
    const void *column_values;  /* float, where that is exact, or double */
    const double *norms;        /* of the rows, l1 or squared l2; absent for SHARED */
    int32_t member_bytes, value_bytes;
};

/* What is written for one individual, an entry for each of the others. */
struct line {
    double *restrict sums;
    int32_t *restrict counts;
};

EXPORT_SIZE(lists)

INLINE int32_t member(const void *members, int64_t q, const int bytes)
{
    return bytes == 2 ? ((const uint16_t *)members)[q] : ((const int32_t *)members)[q];
}

INLINE double value(const void *values, int64_t q, const int bytes)
{
    return bytes == 4 ? ((const float *)values)[q] : ((const double *)values)[q];
}

/* The first position in a list whose member is `least` or later. */
INLINE int64_t first_at_least(const void *members, int64_t start, int64_t stop, int64_t least, const int bytes)
{
    while (least && start < stop) {
        const int64_t middle = start + (stop - start) / 2;
        if (member(members, middle, bytes) < least) start = middle + 1;
        else stop = middle;
    }
    return start;
}

/* Add up over one list what each j there shares with the a of i. ABSOLUTE: where a and b agree in sign the smaller
 * size, which is half of |a| + |b| - |a - b| without its rounding; it is b cut to the interval from 0 to a. */
INLINE void walk_list(const struct lists *L, int64_t start, int64_t stop, double a, struct line line,
                      const enum walk walk, const int member_bytes, const int value_bytes)
{
    const double low = a < 0 ? a : 0, high = a < 0 ? 0 : a, sign = a < 0 ? -1 : 1;
    for (int64_t q = start; q < stop; q++) {
        const int32_t j = member(L->column_rows, q, member_bytes);
        const double b = value(L->column_values, q, value_bytes);
        if (walk == ABSOLUTE) {
            const double at_least = b < low ? low : b;
            line.sums[j] += sign * (at_least > high ? high : at_least);
        } else if (walk == SQUARED) {
            line.sums[j] += a * b;
        } else {
            line.sums[j] += fabs(a - b);
            line.counts[j]++;
        }
    }
}

/* The sums run over features in increasing order, as the norms do: what identical rows share cancels exactly. */
INLINE void walk_lists(const struct lists *L, int64_t i, int64_t from, struct line line, const enum walk walk,
                       const int member_bytes, const int value_bytes)
{
    for (int64_t p = L->row_pointers[i]; p < L->row_pointers[i + 1]; p++) {
        const int64_t *list = L->column_pointers + L->row_columns[p];
        const int64_t start = first_at_least(L->column_rows, list[0], list[1], from, member_bytes);
        walk_list(L, start, list[1], L->row_values[p], line, walk, member_bytes, value_bytes);
    }
}

INLINE void walk_from(const struct lists *L, int64_t i, int64_t from, struct line line, const enum walk walk)
{
    if (L->member_bytes == 2 && L->value_bytes == 4) walk_lists(L, i, from, line, walk, 2, 4);
    else if (L->member_bytes == 2) walk_lists(L, i, from, line, walk, 2, 8);
    else if (L->value_bytes == 4) walk_lists(L, i, from, line, walk, 4, 4);
    else walk_lists(L, i, from, line, walk, 4, 8);
}

/* sums[j] = what the norms of i and j do not share: both terms are >= 0, up to rounding for SQUARED. */
static void subtract_from_norms(const struct lists *L, int64_t i, int64_t from, double *sums)
{
    const double norm = L->norms[i];
    for (int64_t j = from; j < L->n_rows; j++) {
        const double distance = (norm - sums[j]) + (L->norms[j] - sums[j]);
        sums[j] = distance > 0 ? distance : 0;
    }
}

/* Individuals start..stop-1 against all, or later ones only; `sums` and `counts` have a line each from `first` on. */
EXPORT void likewise_walk(int32_t walk, const struct lists *L, int64_t first, int64_t start, int64_t stop,
                          int32_t later_only, double *sums, int32_t *counts)
{
    for (int64_t i = start; i < stop; i++) {
        const int64_t offset = (i - first) * L->n_rows, from = later_only ? i + 1 : 0;
        const struct line line = {sums + offset, counts ? counts + offset : NULL};
        memset(line.sums, 0, (size_t)L->n_rows * sizeof *sums);
        if (counts) memset(line.counts, 0, (size_t)L->n_rows * sizeof *counts);
        if (walk == ABSOLUTE) walk_from(L, i, from, line, ABSOLUTE);
        else if (walk == SQUARED) walk_from(L, i, from, line, SQUARED);
        else walk_from(L, i, from, line, SHARED);
        if (walk != SHARED) subtract_from_norms(L, i, from, line.sums);
    }
}
