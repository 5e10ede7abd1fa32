/* Includes TEMPLATE once for each instruction set, with SET, its name; TARGET, which compiles a function for it; VECTOR_BYTES, the width
 * of its registers. */

#define SET baseline
#define TARGET
#define VECTOR_BYTES 16
#include TEMPLATE
#undef SET
#undef TARGET
#undef VECTOR_BYTES

#ifdef SEVERAL_INSTRUCTION_SETS
#define SET avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR_BYTES 32
#include TEMPLATE
#undef SET
#undef TARGET
#undef VECTOR_BYTES

#define SET avx512
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma")))
#define VECTOR_BYTES 64
#include TEMPLATE
#undef SET
#undef TARGET
#undef VECTOR_BYTES
#endif

#undef TEMPLATE
