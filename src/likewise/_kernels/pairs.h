/* The walk from individual i through the lists of those who observed the same features: a template.
 *
 * Wants WALK, the name of the function, and TERM(a, b), what to do where i observed a and j observed b. Sums run
 * over features in increasing order, as the norms of the rows do: identical rows then cancel to exactly zero. */

static void WALK(const struct lists *L, int64_t i, int64_t from, double *sums, int32_t *counts)
{
    (void)counts;
    for (int64_t p = L->row_pointers[i]; p < L->row_pointers[i + 1]; p++) {
        const double a = L->row_values[p];
        const int64_t *list = L->column_pointers + L->row_columns[p];
        for (int64_t q = first_at_least(L->column_rows, list[0], list[1], from); q < list[1]; q++) {
            const int32_t j = L->column_rows[q];
            TERM(a, L->column_values[q]);
        }
    }
}

#undef WALK
#undef TERM
