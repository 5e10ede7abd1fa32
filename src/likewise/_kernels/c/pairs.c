/* Every individual against a range of others, by walking through the lists of those who observed the same features.
 *
 * native/pairs.py calls what is exported here from several threads, each on individuals of its own. */

#include "portable.h"

enum walk { ABSOLUTE, SQUARED, SHARED };

/* The observations by individual, and by feature within each tile: a range of individuals whose sums stay in cache.
 * The list of feature k in tile t is number t * n_columns + k, in increasing order of its values. */
struct lists {
    int64_t n_rows, n_columns, tile;
    const int64_t *row_pointers, *list_pointers;
    const int32_t *row_columns;
    const double *row_values;
    const uint16_t *members;   /* counted from the first individual of the tile */
    const void *values;        /* float, where that is exact, or double */
    const double *norms;       /* of the rows, l1 or squared l2; absent for SHARED */
    int64_t first, last;       /* individuals first..last-1 are the others */
    int32_t value_bytes;
};

/* What one individual shares with each of a tile. */
struct line {
    double *restrict sums;
    int32_t *restrict counts;
};

EXPORT_SIZE(lists)

INLINE double value(const void *values, int64_t q, const int bytes)
{
    return bytes == 4 ? ((const float *)values)[q] : ((const double *)values)[q];
}

/* The first position of a list whose value is at least, or where `beyond` more than, a bound. */
INLINE int64_t first_from(const void *values, int64_t start, int64_t stop, double bound, const int beyond, const int bytes)
{
    while (start < stop) {
        const int64_t middle = start + (stop - start) / 2;
        const double b = value(values, middle, bytes);
        if (beyond ? b <= bound : b < bound) start = middle + 1;
        else stop = middle;
    }
    return start;
}

/* Add the smaller size of a and b where they agree in sign: half of |a| + |b| - |a - b|, without its rounding. Values
 * increase, so these b form one range, of which one part is as large as a or larger; all others share nothing. */
INLINE void walk_overlaps(const struct lists *L, int64_t start, int64_t stop, double a, double *restrict sums,
                          const int bytes)
{
    const int64_t zero = first_from(L->values, start, stop, 0, a > 0, bytes);
    const int64_t split = first_from(L->values, a > 0 ? zero : start, a > 0 ? stop : zero, a, a < 0, bytes);
    if (a > 0) {
        for (int64_t q = zero; q < split; q++) sums[L->members[q]] += value(L->values, q, bytes);
        for (int64_t q = split; q < stop; q++) sums[L->members[q]] += a;
    } else if (a < 0) {
        for (int64_t q = start; q < split; q++) sums[L->members[q]] -= a;
        for (int64_t q = split; q < zero; q++) sums[L->members[q]] -= value(L->values, q, bytes);
    }
}

/* Add up over one list what each individual there shares with the a of another. */
INLINE void walk_list(const struct lists *L, int64_t start, int64_t stop, double a, struct line line,
                      const enum walk walk, const int bytes)
{
    if (walk == ABSOLUTE) {
        walk_overlaps(L, start, stop, a, line.sums, bytes);
        return;
    }
    for (int64_t q = start; q < stop; q++) {
        const double b = value(L->values, q, bytes);
        if (walk == SQUARED) {
            line.sums[L->members[q]] += a * b;
        } else {
            line.sums[L->members[q]] += fabs(a - b);
            line.counts[L->members[q]]++;
        }
    }
}

/* The sums run over features in increasing order, as the norms do: what identical rows share cancels exactly. */
INLINE void walk_lists(const struct lists *L, int64_t i, const int64_t *pointers, struct line line,
                       const enum walk walk, const int bytes)
{
    for (int64_t p = L->row_pointers[i]; p < L->row_pointers[i + 1]; p++) {
        const int64_t *list = pointers + L->row_columns[p];
        walk_list(L, list[0], list[1], L->row_values[p], line, walk, bytes);
    }
}

static void walk_tile(const struct lists *L, int64_t i, const int64_t *pointers, struct line line, enum walk walk)
{
    /* What is constant in a call below makes a loop of its own there, without a branch on it in every step. */
    memset(line.sums, 0, (size_t)L->tile * sizeof *line.sums);
    if (line.counts) memset(line.counts, 0, (size_t)L->tile * sizeof *line.counts);
    if (walk == ABSOLUTE && L->value_bytes == 4) walk_lists(L, i, pointers, line, ABSOLUTE, 4);
    else if (walk == ABSOLUTE) walk_lists(L, i, pointers, line, ABSOLUTE, 8);
    else if (walk == SQUARED && L->value_bytes == 4) walk_lists(L, i, pointers, line, SQUARED, 4);
    else if (walk == SQUARED) walk_lists(L, i, pointers, line, SQUARED, 8);
    else if (L->value_bytes == 4) walk_lists(L, i, pointers, line, SHARED, 4);
    else walk_lists(L, i, pointers, line, SHARED, 8);
}

/* Add what the norms of i and j do not share: both terms are >= 0, up to rounding for SQUARED. */
static void add_unshared(double *restrict distances, const double *restrict sums, double norm,
                                const double *restrict norms, int64_t length)
{
    for (int64_t j = 0; j < length; j++) {
        const double distance = (norm - sums[j]) + (norms[j] - sums[j]);
        distances[j] += distance > 0 ? distance : 0;
    }
}

static void add(double *restrict sums, const double *restrict shared, int64_t length)
{
    for (int64_t j = 0; j < length; j++) sums[j] += shared[j];
}

/* Individuals start..stop-1 against the others in tile t. `sums` and `counts` have a line each from `row` on; `room` is
 * for one tile. */
static void walk_rows(const struct lists *L, int64_t t, enum walk walk, int64_t row, int64_t start, int64_t stop,
                      double *sums, int32_t *counts, struct line room)
{
    const int64_t origin = t * L->tile, from = origin < L->first ? L->first : origin;
    const int64_t end = origin + L->tile < L->last ? origin + L->tile : L->last, length = end - from;
    for (int64_t i = start; i < stop; i++) {
        walk_tile(L, i, L->list_pointers + t * L->n_columns, room, walk);
        const int64_t offset = (i - row) * (L->last - L->first) + from - L->first;
        const double *shared = room.sums + (from - origin);
        if (walk == SHARED) add(sums + offset, shared, length);
        else add_unshared(sums + offset, shared, L->norms[i], L->norms + from, length);
        if (counts) memcpy(counts + offset, room.counts + (from - origin), (size_t)length * sizeof *counts);
    }
}

/* Individuals start..stop-1 against the others. Sums are added to what the lines hold. */
EXPORT void likewise_walk(int32_t walk, const struct lists *L, int64_t row, int64_t start, int64_t stop,
                          double *sums, int32_t *counts, double *room, int32_t *room_for_counts)
{
    const struct line one_tile = {room, room_for_counts};
    for (int64_t t = L->first / L->tile; t * L->tile < L->last; t++)
        walk_rows(L, t, (enum walk)walk, row, start, stop, sums, counts, one_tile);
}
