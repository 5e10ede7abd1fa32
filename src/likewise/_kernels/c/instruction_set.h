/* The products for one instruction set: wants SET, its name; TARGET and VECTOR_BYTES, see sweep.h. */

#define T float
#define NAME(x) JOIN(x, SET, float)
#include "sweep.h"
#undef T
#undef NAME

#define T double
#define NAME(x) JOIN(x, SET, double)
#include "sweep.h"
#undef T
#undef NAME

static const struct instruction_set SET = {NAME_OF(SET), JOIN(sweep_panel, SET, float), JOIN(sweep_panel, SET, double)};
