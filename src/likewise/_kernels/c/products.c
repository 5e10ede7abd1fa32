/* Products of the rows of a sparse matrix with panels of columns.
 *
 * native/products.py calls what is exported here from several threads at once: no state is kept, nothing is
 * allocated, and every index and size was checked when the matrix was made. */

#include "portable.h"

/* Rows with sparse entries and then n_dense columns in which every row has an entry. */
struct rows {
    int64_t n_columns, n_dense;
    const int64_t *pointers;
    const void *columns; /* uint16_t or uint32_t; likewise_read_ahead() more than there are */
    const void *values;  /* float or double */
    const void *dense;   /* n_dense a row, in the type of the arithmetic */
    const uint32_t *dense_columns; /* n_columns, n_columns + 1, ...; as many more */
    int32_t column_bytes, value_bytes;
};

/* A few columns of the blocks, and room to unpack a row of the matrix into. */
struct panel {
    const void *X;         /* packed, n_columns + n_dense rows of `lines` cache lines; or absent */
    void *Y;               /* the same, to add to; or absent */
    const void *given;     /* stands for A X where X is absent: a row for each row of A, `stride` apart */
    void *product;         /* receives A X, in the same layout; or absent */
    int64_t stride, used;  /* of `given` and `product`, in elements */
    void *row_values;      /* room for the values of the longest row, where they are of another type */
    int32_t lines, element_bytes;
};

/* Between columns of a block and a panel; there may be one panel for each thread, to be added up. */
struct packing {
    void *block, *panel;
    const uint32_t *order; /* row of the block for each row of the panel */
    int64_t stride, used;  /* of the block */
    int64_t width, n_parts, part_stride;
    int32_t element_bytes;
};

INLINE uint32_t column(const void *columns, int64_t p, const int column_bytes)
{
    return column_bytes == 2 ? ((const uint16_t *)columns)[p] : ((const uint32_t *)columns)[p];
}

typedef void sweep_function(const struct rows *, int64_t start, int64_t stop, const struct panel *);

struct instruction_set {
    const char *name;
    sweep_function *sweep_float, *sweep_double;
};

#define TEMPLATE "instruction_set.h"
#include "each_instruction_set.h"

#define OF(set) &set
static const struct instruction_set *const instruction_sets[] = EACH_INSTRUCTION_SET(OF);

#define T float
#define NAME(x) x##_float
#include "panels.h"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_double
#include "panels.h"
#undef T
#undef NAME

EXPORT_SIZE(rows)
EXPORT_SIZE(panel)
EXPORT_SIZE(packing)

/* The number of instruction sets, the first ones of the list, that this processor has. */
EXPORT int32_t likewise_instruction_sets(void)
{
#ifdef SEVERAL_INSTRUCTION_SETS
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return 1;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") ? 3 : 2;
#else
    return 1;
#endif
}

/* The entries behind the last that `gather` looks at. */
EXPORT int32_t likewise_read_ahead(void)
{
    return AHEAD;
}

EXPORT const char *likewise_instruction_set_name(int32_t set)
{
    return instruction_sets[set]->name;
}

EXPORT void likewise_sweep(int32_t set, const struct rows *A, int64_t start, int64_t stop, const struct panel *panel)
{
    const size_t row_bytes = (size_t)panel->lines * CACHE_LINE;
    const struct instruction_set *chosen = instruction_sets[set];
    /* Each call starts from zero: what earlier ones collected was banked, or lies in the panel of another thread. */
    if (panel->Y) memset(panel->Y, 0, row_bytes * (size_t)(A->n_columns + A->n_dense));
    (panel->element_bytes == 4 ? chosen->sweep_float : chosen->sweep_double)(A, start, stop, panel);
}

EXPORT void likewise_pack(const struct packing *packing, int64_t start, int64_t stop)
{
    (packing->element_bytes == 4 ? pack_float : pack_double)(packing, start, stop);
}

EXPORT void likewise_unpack(const struct packing *packing, int64_t start, int64_t stop)
{
    (packing->element_bytes == 4 ? unpack_float : unpack_double)(packing, start, stop);
}
