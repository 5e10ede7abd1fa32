/* Every individual against a range of others, by counting the bits in which they differ.
 *
 * native/pairs.py calls what is exported here from several threads, each on individuals of its own. */

#include "portable.h"

#ifdef SEVERAL_INSTRUCTION_SETS
#include <immintrin.h>
#endif

#define LANES 8 /* others side by side, as their words lie in memory: one cache line */
#define ROWS 8  /* individuals at a time, so that a word of others is read once for all of them */
#define CACHED_BYTES 24576

/* Word w of individual j is words[(j / LANES * n_words + w) * LANES + j % LANES]; there is room for whole LANES of
 * individuals. A bit of segment s, the words up to ends[s], counts gaps[s] where two individuals differ in it. */
struct planes {
    int64_t n_words, n_segments;
    const int64_t *ends;
    const double *gaps;
    const uint64_t *words;
    int64_t first, last; /* individuals first..last-1 are the others */
};

EXPORT_SIZE(planes)

typedef double lines[ROWS][LANES];

/* Add `gap` for each bit of words from..to-1 that differs; `own` are the first words of ROWS individuals, one every LANES. */
typedef void count_function(const uint64_t *const *own, const uint64_t *theirs, int64_t from, int64_t to, double gap,
                            lines distances);

INLINE int ones(uint64_t word)
{
#ifdef SCALAR_ONLY
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return (int)(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#else
    return __builtin_popcountll(word);
#endif
}

static void count_baseline(const uint64_t *const *own, const uint64_t *theirs, int64_t from, int64_t to, double gap,
                           lines distances)
{
    for (int r = 0; r < ROWS; r++)
        for (int lane = 0; lane < LANES; lane++) {
            int64_t count = 0;
            for (int64_t p = from * LANES; p < to * LANES; p += LANES) count += ones(own[r][p] ^ theirs[p + lane]);
            distances[r][lane] += gap * (double)count;
        }
}

#ifdef SEVERAL_INSTRUCTION_SETS
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vpopcntdq")))
#define HALF 4
#define BYTES_HOLD 31 /* times 8 ones of a byte are less than 256 */

/* Ones of each byte, by table of its halves. */
INLINE AVX2 __m256i ones_of_bytes(__m256i words)
{
    const __m256i low = _mm256_set1_epi8(15), table = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i halves[2] = {_mm256_and_si256(words, low), _mm256_and_si256(_mm256_srli_epi16(words, 4), low)};
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, halves[0]), _mm256_shuffle_epi8(table, halves[1]));
}

INLINE AVX2 __m256i count_half(const uint64_t *own, const uint64_t *theirs, int64_t from, int64_t to)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i total = zero;
    for (int64_t w = from; w < to;) {
        __m256i bytes = zero;
        for (const int64_t stop = w + BYTES_HOLD < to ? w + BYTES_HOLD : to; w < stop; w++) {
            const __m256i mine = _mm256_set1_epi64x((long long)own[w * LANES]);
            const __m256i others = _mm256_loadu_si256((const __m256i *)(theirs + w * LANES));
            bytes = _mm256_add_epi8(bytes, ones_of_bytes(_mm256_xor_si256(mine, others)));
        }
        total = _mm256_add_epi64(total, _mm256_sad_epu8(bytes, zero));
    }
    return total;
}

AVX2 static void count_avx2(const uint64_t *const *own, const uint64_t *theirs, int64_t from, int64_t to, double gap,
                            lines distances)
{
    int64_t counts[HALF];
    for (int r = 0; r < ROWS; r++)
        for (int half = 0; half < LANES; half += HALF) {
            _mm256_storeu_si256((__m256i *)counts, count_half(own[r], theirs + half, from, to));
            for (int lane = 0; lane < HALF; lane++) distances[r][half + lane] += gap * (double)counts[lane];
        }
}

AVX512 static void count_avx512(const uint64_t *const *own, const uint64_t *theirs, int64_t from, int64_t to,
                                double gap, lines distances)
{
    __m512i counts[ROWS];
    for (int r = 0; r < ROWS; r++) counts[r] = _mm512_setzero_si512();
    for (int64_t p = from * LANES; p < to * LANES; p += LANES) {
        const __m512i others = _mm512_loadu_si512(theirs + p);
        for (int r = 0; r < ROWS; r++) {
            const __m512i differ = _mm512_xor_si512(_mm512_set1_epi64((long long)own[r][p]), others);
            counts[r] = _mm512_add_epi64(counts[r], _mm512_popcnt_epi64(differ));
        }
    }
    for (int r = 0; r < ROWS; r++) {
        const __m512d added = _mm512_mul_pd(_mm512_set1_pd(gap), _mm512_cvtepi64_pd(counts[r]));
        _mm512_storeu_pd(distances[r], _mm512_add_pd(_mm512_loadu_pd(distances[r]), added));
    }
}
#endif

/* `set` is the number of an instruction set of products.c. */
static count_function *count_function_of(int32_t set)
{
#ifdef SEVERAL_INSTRUCTION_SETS
    if (set >= 2 && __builtin_cpu_supports("avx512vpopcntdq")) return count_avx512;
    if (set >= 1) return count_avx2;
#endif
    (void)set;
    return count_baseline;
}

/* Individuals i..i+n_rows-1 against the LANES others from j on. */
static void compare(const struct planes *P, count_function *count, int64_t i, int64_t n_rows, int64_t j,
                    lines distances)
{
    const uint64_t *own[ROWS], *theirs = P->words + j * P->n_words;
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t row = i + (r < n_rows ? r : 0); /* beyond the last the first is compared again, and not added */
        own[r] = P->words + row / LANES * LANES * P->n_words + row % LANES;
    }
    memset(distances, 0, sizeof(lines));
    for (int64_t s = 0; s < P->n_segments; s++)
        count(own, theirs, s ? P->ends[s - 1] : 0, P->ends[s], P->gaps[s], distances);
}

/* line[lane] for lane from..to-1; mostly that is all of them. */
INLINE void add_lanes(double *restrict line, const double *restrict distances, int64_t from, int64_t to)
{
    if (from == 0 && to == LANES)
        for (int lane = 0; lane < LANES; lane++) line[lane] += distances[lane];
    else
        for (int64_t lane = from; lane < to; lane++) line[lane] += distances[lane];
}

/* Individuals start..stop-1 against others from..to-1; a line for each individual from `row` on. */
static void compare_rows(const struct planes *P, count_function *count, int64_t row, int64_t start, int64_t stop,
                         int64_t from, int64_t to, double *sums)
{
    lines distances;
    for (int64_t i = start; i < stop; i += ROWS) {
        const int64_t n_rows = i + ROWS < stop ? ROWS : stop - i;
        for (int64_t j = from / LANES * LANES; j < to; j += LANES) {
            compare(P, count, i, n_rows, j, distances);
            for (int64_t r = 0; r < n_rows; r++)
                add_lanes(sums + (i + r - row) * (P->last - P->first) + (j - P->first), distances[r],
                          from > j ? from - j : 0, to - j < LANES ? to - j : LANES);
        }
    }
}

/* Add to the sums what individuals start..stop-1 and the others differ by. */
EXPORT void likewise_compare_planes(int32_t set, const struct planes *P, int64_t row, int64_t start, int64_t stop,
                                    double *sums)
{
    count_function *count = count_function_of(set);
    /* As many others at a time as the first cache holds the words of: they are read anew for every ROWS individuals. */
    const int64_t fitting = CACHED_BYTES / (P->n_words * (int64_t)sizeof *P->words) / LANES;
    const int64_t step = (fitting > 1 ? fitting : 1) * LANES;
    for (int64_t from = P->first; from < P->last;) {
        const int64_t whole = from / LANES * LANES + step, to = whole < P->last ? whole : P->last;
        compare_rows(P, count, row, start, stop, from, to, sums);
        from = to;
    }
}
