/* Regressions of many rows on uncertain columns: each a small symmetric system, inverted.
 *
 * regressions.py calls what is exported here, from several threads at once on rows of their own. */

#include "portable.h"

#define LANES 8 /* rows that are solved side by side */

/* The normal equations of some rows, and where their solutions go. Triangles are upper ones, row by row, d (d + 1) / 2 numbers. */
struct regressions {
    int64_t n_rows, d;
    const double *grams;     /* a triangle a row */
    const double *sides;     /* d a row */
    const double *drawn;     /* d a row, added to the sides once they are over the noise; or absent */
    const double *precision; /* a triangle: of the prior of each row, times its multiple */
    const double *multiples;
    double noise;
    double lost;             /* a pivot up to this share of its diagonal entry is rounding */
    double *means;           /* d a row */
    double *moments;         /* a triangle a row */
    double *pivots;          /* d a row */
    double *sums;            /* what is explained, and x^T precision x */
    double *room;            /* LANES for each number of a triangle, and of four vectors */
    int32_t uncertain;
};

EXPORT_SIZE(regressions)

EXPORT int32_t likewise_lanes(void) { return LANES; }

typedef int64_t solve_function(const struct regressions *);

#define TEMPLATE "regress.h"
#include "each_instruction_set.h"

#define OF(set) solve_##set##_rows
static solve_function *const solve[] = EACH_INSTRUCTION_SET(OF);

/* Returns how many matrices are singular within rounding. */
EXPORT int64_t likewise_solve(int32_t set, const struct regressions *R)
{
    return solve[set](R);
}
