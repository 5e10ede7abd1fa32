/* A sweep over the rows of a sparse matrix: a template, included once per instruction set and element type.
 *
 * Wants T, the element type of the arithmetic; NAME(x), the name of x for this set and type; TARGET, the attribute
 * that compiles a function for the set; VECTOR_BYTES, the width of its registers.
 *
 * Parameters named n_vectors and column_bytes are constants wherever these functions are inlined: loops over them
 * unroll, and t stays in registers. */

#ifdef SCALAR_ONLY
typedef T NAME(vector);
#else
typedef T NAME(vector) __attribute__((vector_size(VECTOR_BYTES), may_alias));
#endif

#define VECTOR NAME(vector)
#define PER_LINE (CACHE_LINE / (int)sizeof(VECTOR))

TARGET INLINE VECTOR *NAME(row)(const T *panel, uint32_t row, const int n_vectors)
{
    return (VECTOR *)panel + (size_t)row * n_vectors;
}

/* t += sum of values[p] X[columns[p]], in two chains, which hide the latency of an addition. */
TARGET INLINE void NAME(gather)(VECTOR *t, const void *columns, const T *values, int64_t length, const T *X,
                                const int n_vectors, const int column_bytes)
{
    VECTOR odd[2 * PER_LINE] = {0};
    int64_t p = 0;
    for (; p + 1 < length; p += 2) {
        prefetch(NAME(row)(X, column(columns, p + AHEAD, column_bytes), n_vectors), n_vectors * sizeof(VECTOR));
        prefetch(NAME(row)(X, column(columns, p + AHEAD + 1, column_bytes), n_vectors), n_vectors * sizeof(VECTOR));
        const VECTOR *x = NAME(row)(X, column(columns, p, column_bytes), n_vectors);
        const VECTOR *y = NAME(row)(X, column(columns, p + 1, column_bytes), n_vectors);
        for (int k = 0; k < n_vectors; k++) t[k] += values[p] * x[k];
        for (int k = 0; k < n_vectors; k++) odd[k] += values[p + 1] * y[k];
    }
    if (p < length) {
        const VECTOR *x = NAME(row)(X, column(columns, p, column_bytes), n_vectors);
        for (int k = 0; k < n_vectors; k++) t[k] += values[p] * x[k];
    }
    for (int k = 0; k < n_vectors; k++) t[k] += odd[k];
}

/* Y[columns[p]] += values[p] t for each p. */
TARGET INLINE void NAME(scatter)(const VECTOR *t, const void *columns, const T *values, int64_t length, T *Y,
                                 const int n_vectors, const int column_bytes)
{
    for (int64_t p = 0; p < length; p++) {
        prefetch(NAME(row)(Y, column(columns, p + AHEAD, column_bytes), n_vectors), n_vectors * sizeof(VECTOR));
        VECTOR *y = NAME(row)(Y, column(columns, p, column_bytes), n_vectors);
        for (int k = 0; k < n_vectors; k++) y[k] += values[p] * t[k];
    }
}

/* The values of a row in the type of the arithmetic: where they are, or converted into the room given. */
TARGET static const T *NAME(values)(const struct rows *A, int64_t first, int64_t length, T *room)
{
    if (A->value_bytes == (int)sizeof(T)) return (const T *)A->values + first;
    if (sizeof(T) == sizeof(double)) COPY(room, (const float *)A->values + first, length);
    else COPY(room, (const double *)A->values + first, length);
    return room;
}

/* For each row: t = A_i X, or row i of `given`; into `product`; Y += A_i^T t. What is absent is left out. */
TARGET INLINE void NAME(sweep)(const struct rows *A, int64_t start, int64_t stop, const struct panel *panel,
                               const int n_vectors, const int column_bytes)
{
    const T *X = panel->X, *dense = A->dense;
    T *Y = panel->Y;
    for (int64_t i = start; i < stop; i++) {
        const int64_t first = A->pointers[i], length = A->pointers[i + 1] - first;
        const void *columns = (const char *)A->columns + first * column_bytes;
        const T *values = NAME(values)(A, first, length, panel->row_values);
        VECTOR t[2 * PER_LINE] = {0};
        if (X) {
            NAME(gather)(t, columns, values, length, X, n_vectors, column_bytes);
            NAME(gather)(t, A->dense_columns, dense + i * A->n_dense, A->n_dense, X, n_vectors, 4);
        } else memcpy(t, (const T *)panel->given + i * panel->stride, panel->used * sizeof(T));
        if (panel->product) memcpy((T *)panel->product + i * panel->stride, t, panel->used * sizeof(T));
        if (Y) {
            NAME(scatter)(t, columns, values, length, Y, n_vectors, column_bytes);
            NAME(scatter)(t, A->dense_columns, dense + i * A->n_dense, A->n_dense, Y, n_vectors, 4);
        }
    }
}

TARGET static void NAME(sweep_panel)(const struct rows *A, int64_t start, int64_t stop, const struct panel *panel)
{
    if (panel->lines == 1 && A->column_bytes == 2) NAME(sweep)(A, start, stop, panel, PER_LINE, 2);
    else if (panel->lines == 1) NAME(sweep)(A, start, stop, panel, PER_LINE, 4);
    else if (A->column_bytes == 2) NAME(sweep)(A, start, stop, panel, 2 * PER_LINE, 2);
    else NAME(sweep)(A, start, stop, panel, 2 * PER_LINE, 4);
}

#undef VECTOR
#undef PER_LINE
