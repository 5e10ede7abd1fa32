/* Entry points of the compiled kernels, called through ctypes (see native.py). */

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT int likewise_abi_version(void) { return 1; }
