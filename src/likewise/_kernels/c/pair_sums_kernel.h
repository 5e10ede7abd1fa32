/* Sums over the pairs of a block for one instruction set: wants SET, its name, and TARGET, which compiles a function for it.
 *
 * Pairs with a defined d are taken in chunks, in order. In a chunk pair q is added to lane q modulo LANES, and
 * then lanes one after the other: a few pairs are added as by hand. Loops over arrays are written for the compiler to vectorise. */

#define NAME(x) JOIN(x, SET, pairs)

TARGET INLINE double NAME(sum)(const double *restrict x, int64_t length)
{
    double lanes[LANES] = {0};
    int64_t q = 0;
    for (; q + LANES <= length; q += LANES)
        for (int lane = 0; lane < LANES; lane++) lanes[lane] += x[q + lane];
    for (int lane = 0; q + lane < length; lane++) lanes[lane] += x[q + lane];
    for (int lane = 1; lane < LANES; lane++) lanes[0] += lanes[lane];
    return lanes[0];
}

TARGET INLINE double NAME(most)(const double *restrict x, int64_t length, double most)
{
    double lanes[LANES];
    int64_t q = 0;
    for (int lane = 0; lane < LANES; lane++) lanes[lane] = most;
    for (; q + LANES <= length; q += LANES)
        for (int lane = 0; lane < LANES; lane++) lanes[lane] = larger(lanes[lane], x[q + lane]);
    for (int lane = 0; q + lane < length; lane++) lanes[lane] = larger(lanes[lane], x[q + lane]);
    for (int lane = 1; lane < LANES; lane++) lanes[0] = larger(lanes[0], lanes[lane]);
    return lanes[0];
}

TARGET INLINE void NAME(find_bins)(int32_t *restrict bins, const double *restrict x, int64_t length)
{
    for (int64_t q = 0; q < length; q++) bins[q] = bin_of(x[q]);
}

TARGET INLINE void NAME(count_bins)(struct chunk *C, const double *x, int64_t *counts)
{
    NAME(find_bins)(C->bins, x, C->length);
    for (int64_t q = 0; q < C->length; q++) counts[C->bins[q]]++;
}

/* Ratios: 0 where both distances are 0; of the finite ones 0 stands for those that are not. */
TARGET INLINE void NAME(divide)(struct chunk *C)
{
    for (int64_t q = 0; q < C->length; q++) {
        const double ratio = C->output[q] / C->reference[q];
        C->ratio[q] = (C->reference[q] == 0) & (C->output[q] == 0) ? 0 : ratio;
        C->finite[q] = C->ratio[q] == INFINITY ? 0 : C->ratio[q];
    }
}

TARGET INLINE void NAME(add_totals)(struct chunk *C, const struct sums *S, struct totals *totals)
{
    int64_t zero = 0, infinite = 0;
    for (int64_t q = 0; q < C->length; q++) zero += C->reference[q] == 0;
    for (int64_t q = 0; q < C->length; q++) infinite += C->ratio[q] == INFINITY;
    for (int64_t q = 0; q < C->length; q++) C->made[q] = C->output[q] * C->output[q];
    S->counts->pairs += C->length;
    S->counts->zero += zero;
    S->counts->infinite += infinite;
    totals->reference = NAME(sum)(C->reference, C->length);
    totals->output = NAME(sum)(C->output, C->length);
    totals->output_squared = NAME(sum)(C->made, C->length);
    totals->ratio = NAME(sum)(C->finite, C->length);
    S->largest->ratio = NAME(most)(C->ratio, C->length, S->largest->ratio);
}

/* The same over pairs that are at most so far apart. */
TARGET INLINE void NAME(add_near)(struct chunk *C, double near, const struct sums *S, struct totals *totals)
{
    int64_t count = 0, infinite = 0;
    for (int64_t q = 0; q < C->length; q++) count += C->reference[q] <= near;
    if (!count) return;
    for (int64_t q = 0; q < C->length; q++) infinite += (C->reference[q] <= near) & (C->ratio[q] == INFINITY);
    S->counts->near += count;
    S->counts->near_infinite += infinite;
    for (int64_t q = 0; q < C->length; q++) C->made[q] = C->reference[q] <= near ? C->finite[q] : 0;
    totals->near_ratio = NAME(sum)(C->made, C->length);
    for (int64_t q = 0; q < C->length; q++) C->made[q] = C->reference[q] <= near ? C->output[q] : 0;
    totals->near_output = NAME(sum)(C->made, C->length);
    for (int64_t q = 0; q < C->length; q++)
        C->made[q] = (C->reference[q] <= near) & (C->reference[q] > 0) ? 1 / C->reference[q] : 0;
    totals->near_inverse = NAME(sum)(C->made, C->length);
    for (int64_t q = 0; q < C->length; q++) C->made[q] = C->reference[q] <= near ? C->ratio[q] : -INFINITY;
    S->largest->near_ratio = NAME(most)(C->made, C->length, S->largest->near_ratio);
}

/* Neighbours often fall under the same point: counts in several copies need not wait for each other. */
TARGET INLINE void NAME(add_epsilon)(struct chunk *C, const struct edges *epsilon, const struct sums *S)
{
    NAME(find_bins)(C->bins, C->reference, C->length);
    for (int64_t q = 0; q < C->length; q++) {
        const int64_t point = edges_below(epsilon, C->reference[q], C->bins[q], 0);
        S->epsilon_counts[point * COPIES + q % COPIES]++;
        if (!(C->output[q] <= S->epsilon_largest[point]))
            S->epsilon_largest[point] = larger(S->epsilon_largest[point], C->output[q]);
    }
}

/* Infinite ratios are among those above the edges, and in no bin. */
TARGET INLINE void NAME(add_ratios)(struct chunk *C, const struct limits *M, const struct sums *S)
{
    NAME(find_bins)(C->bins, C->ratio, C->length);
    if (S->histogram)
        for (int64_t q = 0; q < C->length; q++)
            S->histogram[edges_below(&M->histogram, C->ratio[q], C->bins[q], 1)]++;
    if (S->ratio_bins)
        for (int64_t q = 0; q < C->length; q++) S->ratio_bins[C->bins[q]] += C->ratio[q] != INFINITY;
}

TARGET INLINE void NAME(add_excess)(struct chunk *C, const struct limits *M, const struct sums *S, struct totals *totals)
{
    int64_t violating = 0;
    for (int64_t q = 0; q < C->length; q++)
        C->made[q] = beyond_rounding(C->reference[q] * -M->lipschitz + C->output[q], C->output[q]);
    if (S->excess_bins) NAME(count_bins)(C, C->made, S->excess_bins);
    for (int64_t q = 0; q < C->length; q++) C->made[q] = beyond_rounding(C->made[q] - M->slack, C->output[q]);
    for (int64_t q = 0; q < C->length; q++) violating += C->made[q] != 0;
    S->counts->violating += violating;
    totals->excess = NAME(sum)(C->made, C->length);
    S->largest->excess = NAME(most)(C->made, C->length, S->largest->excess);
}

/* What each individual takes part in, pair after pair. The pairs of a run have the same first individual. */
TARGET INLINE void NAME(add_run)(struct chunk *C, int64_t from, int64_t to, double near, const struct sums *S)
{
    const int64_t m = S->n_individuals, length = to - from;
    const double *d = C->reference + from, *D = C->output + from;
    const int32_t *right = C->right + from;
    double *similar = C->made, *similar_gap = C->made + CHUNK / 2;
    double *first = S->individuals + C->left[from], *second = S->individuals + N_PERSON * m + right[0];
    double n_similar = 0, gap = first[PERSON_gap * m], gap_of_similar = first[PERSON_similar_gap * m];
    for (int64_t q = 0; q < length; q++) similar[q] = d[q] <= near, similar_gap[q] = similar[q] * D[q];
    /* One after the other onto what the individual has, as NumPy adds; whole numbers may be added in any order. */
    for (int64_t q = 0; q < length; q++) n_similar += similar[q], gap += D[q], gap_of_similar += similar_gap[q];
    first[PERSON_pairs * m] += (double)length;
    first[PERSON_similar * m] += n_similar;
    first[PERSON_gap * m] = gap;
    first[PERSON_similar_gap * m] = gap_of_similar;
    if (right[length - 1] - right[0] == length - 1) { /* side by side, as where every d is defined */
        for (int64_t q = 0; q < length; q++) second[PERSON_pairs * m + q] += 1;
        for (int64_t q = 0; q < length; q++) second[PERSON_similar * m + q] += similar[q];
        for (int64_t q = 0; q < length; q++) second[PERSON_gap * m + q] += D[q];
        for (int64_t q = 0; q < length; q++) second[PERSON_similar_gap * m + q] += similar_gap[q];
        return;
    }
    for (int64_t q = 0; q < length; q++) {
        double *one = second + (right[q] - right[0]);
        one[PERSON_pairs * m] += 1;
        one[PERSON_similar * m] += similar[q];
        one[PERSON_gap * m] += D[q];
        one[PERSON_similar_gap * m] += similar_gap[q];
    }
}

/* Runs are at most half a chunk long: `made` has room for two numbers of each of their pairs. */
TARGET INLINE void NAME(add_individuals)(struct chunk *C, double near, const struct sums *S)
{
    for (int64_t from = 0, to = 0; from < C->length; from = to) {
        const int64_t end = from + CHUNK / 2 < C->length ? from + CHUNK / 2 : C->length;
        for (to = from; to < end && C->left[to] == C->left[from]; to++) continue;
        NAME(add_run)(C, from, to, near, S);
    }
}

TARGET static void NAME(add_chunk)(struct chunk *C, const struct limits *M,
                                const struct sums *S, struct largest *W, struct pairwise *P)
{
    struct totals totals = {0};
    NAME(divide)(C);
    NAME(add_totals)(C, S, &totals);
    NAME(add_near)(C, M->near, S, &totals);
    NAME(add_epsilon)(C, &M->epsilon, S);
    NAME(add_ratios)(C, M, S);
    if (M->groups) {
        label_chunk(C, M);
        add_groups(C, M->near, S);
    }
    if (S->individuals) NAME(add_individuals)(C, M->near, S);
    if (M->has_condition) NAME(add_excess)(C, M, S, &totals);
    /* In nearly every chunk no ratio comes near the largest so far: counting them first is a vector loop. */
    int64_t candidates = 0;
    for (int64_t q = 0; q < C->length; q++) candidates += C->ratio[q] >= W->floor;
    if (W->room && candidates) offer_chunk(W, C);
    add_chunk(P, totals);
    C->length = 0;
}

/* Put the pairs (i, j), (i, j + 1), ... into the chunk, which has room for them, without those whose d is not defined. */
TARGET INLINE void NAME(take)(struct chunk *C, const double *restrict d, const double *restrict D, int64_t i, int64_t j,
                              int64_t length)
{
    int64_t undefined = 0, end = C->length;
    for (int64_t q = 0; q < length; q++) undefined += d[q] != d[q];
    if (undefined) {
        /* Every pair is written, and the next one over it where its d was not defined: no branch to predict. */
        for (int64_t q = 0; q < length; q++) {
            C->reference[end] = d[q], C->output[end] = D[q];
            C->left[end] = (int32_t)i, C->right[end] = (int32_t)(j + q);
            end += d[q] == d[q];
        }
    } else {
        memcpy(C->reference + end, d, (size_t)length * sizeof *d);
        memcpy(C->output + end, D, (size_t)length * sizeof *D);
        for (int64_t q = 0; q < length; q++) C->left[end + q] = (int32_t)i, C->right[end + q] = (int32_t)(j + q);
        end += length;
    }
    C->length = end;
}

TARGET static void NAME(add)(const struct block *B, const struct limits *M, const struct sums *S, struct largest *W)
{
    const int64_t width = B->last - B->first;
    const double *d = B->reference, *D = B->output;
    struct pairwise sums_of_chunks;
    struct chunk chunk;
    sums_of_chunks.n_chunks = 0;
    chunk.length = 0;
    for (int64_t i = B->start; i < B->stop; i++) {
        const int64_t from = first_of_line(B, i), shift = B->packed ? from : 0;
        for (int64_t k = from, room; k < width; k += room) {
            room = width - k < CHUNK - chunk.length ? width - k : CHUNK - chunk.length;
            NAME(take)(&chunk, d + k - shift, D + k - shift, i, B->first + k, room);
            if (chunk.length == CHUNK) NAME(add_chunk)(&chunk, M, S, W, &sums_of_chunks);
        }
        d += width - shift, D += width - shift;
    }
    if (chunk.length) NAME(add_chunk)(&chunk, M, S, W, &sums_of_chunks);
    add_all_chunks(&sums_of_chunks, S->totals);
}

TARGET static int64_t NAME(count)(const struct block *B, int64_t *counts, double *most)
{
    const int64_t width = B->last - B->first;
    const double *d = B->reference;
    int64_t undefined = 0;
    int32_t bins[CHUNK];
    for (int64_t i = B->start; i < B->stop; i++) {
        const int64_t from = first_of_line(B, i), shift = B->packed ? from : 0;
        for (int64_t k = from, length; k < width; k += length) {
            const double *line = d + k - shift;
            length = width - k < CHUNK ? width - k : CHUNK;
            NAME(find_bins)(bins, line, length);
            for (int64_t q = 0; q < length; q++) {
                if (line[q] != line[q]) {
                    undefined++;
                    continue;
                }
                counts[bins[q]]++;
                if (line[q] > most[bins[q]]) most[bins[q]] = line[q];
            }
        }
        d += width - shift;
    }
    return undefined;
}

static const struct sums_set SET = {NAME(add), NAME(count)};

#undef NAME
