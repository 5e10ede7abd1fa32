/* Regressions for one instruction set: wants SET, its name, and TARGET, which compiles a function for it.
 *
 * LANES rows lie side by side, so that a step on one entry of all their matrices is a step on one vector. A last group that is not full
 * repeats its last row, and counts it once. */

/* Gauss-Jordan elimination without exchanges (the sweep operator): the matrices become their inverses, all but the sign. */
TARGET static void JOIN(invert, SET, lanes)(double *restrict A, int64_t d, double lost, double *restrict diagonal, double *restrict column,
                                            double *restrict scaled, double *restrict pivots, int32_t *restrict singular)
{
    for (int64_t i = 0, start = 0; i < d; start += d - i++) COPY(diagonal + i * LANES, A + start * LANES, LANES);
    for (int64_t p = 0, pivot_start = 0; p < d; pivot_start += d - p++) {
        for (int64_t i = 0, at = p; i < p; at += d - ++i) COPY(column + i * LANES, A + at * LANES, LANES);
        COPY(column + p * LANES, A + pivot_start * LANES, (d - p) * LANES);
        double pivot[LANES];
        for (int l = 0; l < LANES; l++) {
            const double found = column[p * LANES + l];
            const int sound = found > lost * diagonal[p * LANES + l];
            singular[l] |= !sound;
            pivot[l] = singular[l] ? 1.0 : found; /* goes on without dividing by rounding, and adds nothing to the determinant's logarithm */
            pivots[p * LANES + l] = pivot[l];
            column[p * LANES + l] = 0.0; /* the row and the column of the pivot are written below */
        }
        for (int64_t i = 0; i < d; i++)
            for (int l = 0; l < LANES; l++) scaled[i * LANES + l] = column[i * LANES + l] / pivot[l];
        /* Take from every entry what the pivot explains: a_ij - a_ip a_pj / a_pp. */
        double *row = A;
        for (int64_t i = 0; i < d; i++) {
            double factor[LANES];
            COPY(factor, scaled + i * LANES, LANES);
            for (int64_t j = i; j < d; j++, row += LANES)
                for (int l = 0; l < LANES; l++) row[l] -= factor[l] * column[j * LANES + l];
        }
        for (int64_t i = 0, at = p; i < p; at += d - ++i) COPY(A + at * LANES, scaled + i * LANES, LANES);
        COPY(A + pivot_start * LANES, scaled + p * LANES, (d - p) * LANES);
        for (int l = 0; l < LANES; l++) A[pivot_start * LANES + l] = -1.0 / pivot[l];
    }
}

TARGET static int64_t JOIN(solve, SET, rows)(const struct regressions *R)
{
    const int64_t d = R->d, size = d * (d + 1) / 2;
    double *const A = R->room, *const diagonal = A + size * LANES, *const column = diagonal + d * LANES;
    double *const scaled = column + d * LANES, *const pivots = scaled + d * LANES;
    int64_t n_lost = 0;
    R->sums[0] = R->sums[1] = 0.0;
    for (int64_t first = 0; first < R->n_rows; first += LANES) {
        const int64_t used = R->n_rows - first < LANES ? R->n_rows - first : LANES;
        int32_t singular[LANES] = {0};
        /* 1. Precision of the posterior: that of the prior, and what the observations add. */
        for (int64_t l = 0; l < LANES; l++) {
            const int64_t i = first + (l < used ? l : used - 1);
            const double *const gram = R->grams + i * size, multiple = R->multiples[i];
            for (int64_t e = 0; e < size; e++) A[e * LANES + l] = gram[e] / R->noise + R->precision[e] * multiple;
        }
        /* 2. Its inverse is the covariance of the posterior, the mean is the covariance times the right-hand side. */
        JOIN(invert, SET, lanes)(A, d, R->lost, diagonal, column, scaled, pivots, singular);
        double *const means = scaled, *const sides = column;
        for (int64_t l = 0; l < LANES; l++) {
            const int64_t i = first + (l < used ? l : used - 1);
            for (int64_t j = 0; j < d; j++)
                sides[j * LANES + l] = R->sides[i * d + j] / R->noise + (R->drawn ? R->drawn[i * d + j] : 0.0);
        }
        for (int64_t e = 0; e < d * LANES; e++) means[e] = 0.0;
        const double *row = A;
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = i; j < d; j++, row += LANES)
                for (int l = 0; l < LANES; l++) {
                    means[j * LANES + l] -= row[l] * sides[i * LANES + l];
                    if (j > i) means[i * LANES + l] -= row[l] * sides[j * LANES + l];
                }
        /* 3. Second moments mean mean^T + covariance. 4. What is explained: 2 side^T x - <Gram, moments>; both triangles count. */
        for (int64_t l = 0; l < used; l++) {
            const double *const gram = R->grams + (first + l) * size, *const given = R->sides + (first + l) * d;
            double *const moments = R->moments + (first + l) * size, *const mean = R->means + (first + l) * d;
            double explained = 0.0, fit = 0.0, drawn = 0.0;
            for (int64_t j = 0; j < d; j++) {
                mean[j] = means[j * LANES + l];
                R->pivots[(first + l) * d + j] = pivots[j * LANES + l];
                explained += given[j] * mean[j];
            }
            for (int64_t i = 0, e = 0; i < d; i++)
                for (int64_t j = i; j < d; j++, e++) {
                    const double moment = mean[i] * mean[j] - (R->uncertain ? A[e * LANES + l] : 0.0);
                    const double counted = i == j ? moment : 2 * moment;
                    moments[e] = moment;
                    fit += counted * gram[e];
                    drawn += counted * R->precision[e];
                }
            R->sums[0] += 2 * explained - fit;
            R->sums[1] += drawn * R->multiples[first + l];
            n_lost += singular[l];
        }
    }
    return n_lost;
}
