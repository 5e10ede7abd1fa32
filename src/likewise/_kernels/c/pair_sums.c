/* Sums, counts and largest values over pairs, each of which has a reference distance d and an output distance D.
 *
 * native/pairs.py calls what is exported here; what a call adds to belongs to its thread. The twin in NumPy makes the same
 * bits: additions are made in the order that pair_sums_kernel.h states, and no product is fused into one. */

#include "portable.h"

#define CHUNK 512 /* pairs at a time: what is made of them stays in the first cache */
#define LANES 32  /* sums that run side by side */
#define COPIES 4  /* of counts with few places */
#define TIE 3e-9  /* of D: that much, distances may be off by rounding; see ratios.py */

#define BIN_SHIFT 8 /* of the leading 32 bits of a double: twelve bits of the fraction are left */
#define BIN_ORIGIN ((1023 - 64) << 12)
#define LAST_BIN ((128 << 12) - 1)
#define TOGETHER 3 /* bins that edges are looked up for: what is looked up stays in the first cache */

/* Individuals start..stop-1 against first..last-1, of which only pairs i < j count. */
struct block {
    int64_t start, stop, first, last;
    const double *reference, *output; /* a line for each of start..stop-1; NaN where d is not defined */
    int32_t packed;                   /* whether a line has the pairs that count alone */
};

/* Increasing numbers, and how many of them lie in the bins before each 2^TOGETHER bins, and in all. */
struct edges {
    int64_t length;
    const double *values;
    const int32_t *before;
};

/* What pairs are held against. */
struct limits {
    double near, lipschitz, slack;
    struct edges epsilon, histogram; /* the histogram has none where ratios are counted in bins alone */
    const int32_t *groups;           /* everybody's, from 0 to n_groups - 1; or absent */
    int64_t n_groups;
    int32_t has_condition;
};

/* What is counted and added up, by the names that pair_sums.py has for it. Each list makes a structure, or an enumeration, and
 * a string that Python compares with its own names when the library is loaded: no place in memory is agreed on by order alone. */
#define COUNTS(FIELD) FIELD(pairs) FIELD(zero) FIELD(infinite) FIELD(near) FIELD(near_infinite) FIELD(violating)
#define TOTALS(FIELD) FIELD(reference) FIELD(output) FIELD(output_squared) FIELD(ratio) \
    FIELD(near_ratio) FIELD(near_output) FIELD(near_inverse) FIELD(excess)
#define MAXIMA(FIELD) FIELD(ratio) FIELD(near_ratio) FIELD(excess)
#define GROUP_SUMS(FIELD) FIELD(pairs) FIELD(infinite) FIELD(similar) FIELD(ratio) FIELD(gap) FIELD(distance) \
    FIELD(similar_infinite) FIELD(similar_ratio) FIELD(similar_gap)
#define PERSON_SUMS(FIELD) FIELD(pairs) FIELD(similar) FIELD(gap) FIELD(similar_gap)

#define INTEGER(name) int64_t name;
#define NUMBER(name) double name;
#define PERSON(name) PERSON_##name,
#define QUOTED(name) #name " "

struct counts { COUNTS(INTEGER) };
struct totals { TOTALS(NUMBER) };
struct maxima { MAXIMA(NUMBER) };
struct group_sums { GROUP_SUMS(NUMBER) };
enum person_column { PERSON_SUMS(PERSON) N_PERSON };

#define N_TOTALS ((int)(sizeof(struct totals) / sizeof(double)))

#define EXPORT_FIELDS(record, FIELDS) \
    EXPORT const char *likewise_fields_of_##record(void) { return FIELDS(QUOTED); }

EXPORT_FIELDS(counts, COUNTS)
EXPORT_FIELDS(totals, TOTALS)
EXPORT_FIELDS(maxima, MAXIMA)
EXPORT_FIELDS(group_sums, GROUP_SUMS)
EXPORT_FIELDS(person_sums, PERSON_SUMS)

/* What is added to; absent are the histogram without edges, bins that are not counted, groups without any, and individuals
 * that are not told apart. */
struct sums {
    struct counts *counts;
    struct totals *totals;
    struct maxima *largest;
    int64_t *epsilon_counts; /* COPIES for each point, to be added up; one point more than edges */
    double *epsilon_largest;
    int64_t *histogram, *ratio_bins, *excess_bins;
    struct group_sums *groups; /* one for each two groups: the lower times n_groups plus the higher */
    double *group_largest;
    double *individuals; /* N_PERSON columns over the pairs that each stands first in, then as many over the others */
    int64_t n_individuals;
};

/* The pairs with the largest ratios: a heap whose root is the first to be left out. */
struct largest {
    int64_t room, length;
    double floor; /* of the ratio; others that are larger are known */
    double *ratio, *output, *reference;
    ptrdiff_t *left, *right;
};

EXPORT_SIZE(block)
EXPORT_SIZE(edges)
EXPORT_SIZE(limits)
EXPORT_SIZE(sums)
EXPORT_SIZE(largest)

/* A few pairs with a defined reference distance, and what was made of them. */
struct chunk {
    double reference[CHUNK], output[CHUNK], ratio[CHUNK], finite[CHUNK], made[CHUNK];
    int32_t left[CHUNK], right[CHUNK]; /* the two individuals */
    int32_t bins[CHUNK], labels[CHUNK];
    int64_t length;
};

/* Sums of chunks, added pairwise: level k holds the sum of 2^k chunks where bit k of their number is set. */
struct pairwise {
    struct totals levels[64];
    uint64_t n_chunks;
};

/* sum = earlier + sum, field by field. */
INLINE void add_to(struct totals *sum, const struct totals *earlier)
{
    double *into = (double *)sum;
    const double *from = (const double *)earlier;
    for (int k = 0; k < N_TOTALS; k++) into[k] = from[k] + into[k];
}

/* As 1 is added to a binary number: a sum is carried through the levels that are taken, each of as many chunks. */
static void add_chunk(struct pairwise *P, struct totals sum)
{
    int level = 0;
    for (; P->n_chunks >> level & 1; level++) add_to(&sum, &P->levels[level]);
    P->levels[level] = sum;
    P->n_chunks++;
}

static void add_all_chunks(const struct pairwise *P, struct totals *totals)
{
    struct totals sum = {0};
    for (int level = 0; level < 64; level++)
        if (P->n_chunks >> level & 1) add_to(&sum, &P->levels[level]);
    add_to(totals, &sum);
}

/* The larger of two numbers, as NumPy has it: NaN if one of them is. */
INLINE double larger(double a, double b)
{
    return (b > a) | (b != b) ? b : a;
}

/* An excess over a limit on D; 0 where it is none or may be rounding. */
INLINE double beyond_rounding(double excess, double output)
{
    return excess <= TIE * output ? 0 : excess;
}

/* Of numbers >= 0 the bits, read as an integer, are in the order of the numbers; the leading ones number the bin. */
INLINE int32_t bin_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int32_t bin = ((int32_t)(bits >> 32) >> BIN_SHIFT) - BIN_ORIGIN;
    bin = bin < 1 ? 1 : bin;
    bin = bin > LAST_BIN ? LAST_BIN : bin;
    return value == 0 ? 0 : bin;
}

/* How many edges lie below a value, or where `or_at` at or below it. */
INLINE int64_t edges_below(const struct edges *E, double value, int32_t bin, const int or_at)
{
    /* Only edges in the value's own bins can lie on either side of it. */
    int64_t low = E->before[bin >> TOGETHER], high = E->before[(bin >> TOGETHER) + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (or_at ? E->values[middle] <= value : E->values[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Where the pairs of line i begin that count. */
INLINE int64_t first_of_line(const struct block *B, int64_t i)
{
    const int64_t from = i < B->first ? 0 : i + 1 - B->first, width = B->last - B->first;
    return from < width ? from : width;
}

/* Which two groups each pair joins. */
static void label_chunk(struct chunk *C, const struct limits *M)
{
    const int32_t n = (int32_t)M->n_groups;
    for (int64_t q = 0; q < C->length; q++) {
        const int32_t one = M->groups[C->left[q]], other = M->groups[C->right[q]];
        C->labels[q] = one < other ? one * n + other : other * n + one;
    }
}

/* One after the other, as NumPy adds up by label. */
static void add_groups(const struct chunk *C, double near, const struct sums *S)
{
    for (int64_t q = 0; q < C->length; q++) {
        struct group_sums *two = S->groups + C->labels[q];
        double *largest = S->group_largest + C->labels[q];
        const double infinite = C->ratio[q] == INFINITY, similar = C->reference[q] <= near;
        two->pairs += 1;
        two->infinite += infinite;
        two->similar += similar;
        two->ratio += C->finite[q];
        two->gap += C->output[q];
        two->distance += C->reference[q];
        two->similar_infinite += infinite * similar;
        two->similar_ratio += C->finite[q] * similar;
        two->similar_gap += C->output[q] * similar;
        *largest = larger(*largest, C->ratio[q]);
    }
}

struct candidate {
    double ratio, output, reference;
    int64_t left, right;
};

INLINE struct candidate held(const struct largest *W, int64_t k)
{
    return (struct candidate){W->ratio[k], W->output[k], W->reference[k], W->left[k], W->right[k]};
}

INLINE void hold(const struct largest *W, int64_t k, struct candidate c)
{
    W->ratio[k] = c.ratio, W->output[k] = c.output, W->reference[k] = c.reference;
    W->left[k] = c.left, W->right[k] = c.right;
}

/* Whether a goes before b: ties by output distance, then by position. */
INLINE int before(struct candidate a, struct candidate b)
{
    if (a.ratio != b.ratio) return a.ratio > b.ratio;
    if (a.output != b.output) return a.output > b.output;
    return a.left != b.left ? a.left < b.left : a.right < b.right;
}

/* A new last leaf rises past every parent that goes before it: the root is the least of those that are held. */
static void sift_up(struct largest *W, struct candidate c)
{
    int64_t k = W->length++;
    for (; k && before(held(W, (k - 1) / 2), c); k = (k - 1) / 2) hold(W, k, held(W, (k - 1) / 2));
    hold(W, k, c);
}

/* In the place of the least, c sinks below every child that it goes before. */
static void replace_root(struct largest *W, struct candidate c)
{
    int64_t k = 0;
    for (int64_t child = 1; child < W->length; child = 2 * k + 1) {
        if (child + 1 < W->length && before(held(W, child), held(W, child + 1))) child++;
        if (!before(c, held(W, child))) break;
        hold(W, k, held(W, child));
        k = child;
    }
    hold(W, k, c);
}

static void offer(struct largest *W, struct candidate c)
{
    if (W->length < W->room) sift_up(W, c);
    else if (before(c, held(W, 0))) replace_root(W, c);
}

static void offer_chunk(struct largest *W, const struct chunk *C)
{
    for (int64_t q = 0; q < C->length; q++)
        if (C->ratio[q] >= W->floor) {
            offer(W, (struct candidate){C->ratio[q], C->output[q], C->reference[q], C->left[q], C->right[q]});
            /* Once all places are taken, nothing below the least of them is looked at again. */
            if (W->length == W->room && W->ratio[0] > W->floor) W->floor = W->ratio[0];
        }
}

typedef void add_function(const struct block *, const struct limits *, const struct sums *, struct largest *);
typedef int64_t count_function(const struct block *, int64_t *counts, double *most);

struct sums_set {
    add_function *add;
    count_function *count;
};

#define TEMPLATE "pair_sums_kernel.h"
#include "each_instruction_set.h"

#define OF(set) &set
static const struct sums_set *const sums_sets[] = EACH_INSTRUCTION_SET(OF);

/* How many copies there are of counts with few places. */
EXPORT int32_t likewise_copies(void)
{
    return COPIES;
}

/* Add all pairs of a block, and put those with the largest ratios into W. */
EXPORT void likewise_add_pairs(int32_t set, const struct block *B, const struct limits *M, const struct sums *S,
                               struct largest *W)
{
    sums_sets[set]->add(B, M, S, W);
}

/* Count d by bin, and take the largest of each; returns how many are not defined. */
EXPORT int64_t likewise_count_pairs(int32_t set, const struct block *B, int64_t *counts, double *most)
{
    return sums_sets[set]->count(B, counts, most);
}
