/* What differs between compilers and processors. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CACHE_LINE 64
#define AHEAD 32 /* entries of a matrix row; how long before its use a panel row is asked for */

#define COPY(to, from, length) \
    do { for (int64_t p_ = 0; p_ < (length); p_++) (to)[p_] = (from)[p_]; } while (0)

#if defined(__GNUC__) || defined(__clang__)
#define EXPORT __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define EXPORT __declspec(dllexport)
#define INLINE static __forceinline
#define PREFETCH(address) ((void)0)
#define SCALAR_ONLY
#endif

#if !defined(SCALAR_ONLY) && (defined(__x86_64__) || defined(_M_X64))
#define SEVERAL_INSTRUCTION_SETS
#define EACH_INSTRUCTION_SET(of) {of(baseline), of(avx2), of(avx512)}
#else
#define EACH_INSTRUCTION_SET(of) {of(baseline)}
#endif

#define JOIN3(a, b, c) a##_##b##_##c
#define JOIN(a, b, c) JOIN3(a, b, c)
#define NAME_OF_(x) #x
#define NAME_OF(x) NAME_OF_(x)

/* Of the structures that Python fills in: a library built from other sources than the Python code is not used. */
#define EXPORT_SIZE(structure) \
    EXPORT int64_t likewise_size_of_##structure(void) { return (int64_t)sizeof(struct structure); }

INLINE void prefetch(const void *data, size_t n_bytes)
{
    for (size_t offset = 0; offset < n_bytes; offset += CACHE_LINE) PREFETCH((const char *)data + offset);
}
