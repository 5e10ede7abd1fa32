/* l2 distances from inner products: ||x - y||^2 = ||x||^2 + ||y||^2 - 2 x.y.
 *
 * native/pairs.py calls what is exported here, on one thread. */

#include "portable.h"

/* Inner products of some rows with others, which become distances. */
struct expansion {
    int64_t n_rows, n_others;
    double *products; /* n_others a row */
    const double *sizes, *other_sizes; /* squares of norms */
    double doubt;      /* a square up to this share of both sizes has cancelled */
    double resolution; /* distances up to here are 0 */
};

EXPORT_SIZE(expansion)

typedef int64_t expand_function(const struct expansion *);

#define TEMPLATE "expand.h"
#include "each_instruction_set.h"

#define OF(set) expand_##set##_rows
static expand_function *const expand[] = EACH_INSTRUCTION_SET(OF);

/* Returns how many squares have cancelled: NaN stands for their distances. */
EXPORT int64_t likewise_expand(int32_t set, const struct expansion *E)
{
    return expand[set](E);
}
