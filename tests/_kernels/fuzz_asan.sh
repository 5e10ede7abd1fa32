#!/bin/sh
# Build the kernels with the address and undefined-behaviour sanitizers and feed them malformed and odd matrices.
# Usage: tests/_kernels/fuzz_asan.sh [SECONDS] [PYTHON]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kernels=$here/../../src/likewise/_kernels/c
seconds=${1:-20}
python=${2:-python}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

${CC:-cc} -shared -fPIC -O2 -g -fvisibility=hidden -ffp-contract=off -fno-omit-frame-pointer \
    -fsanitize=address,undefined -fno-sanitize-recover=all \
    "$kernels/products.c" "$kernels/pairs.c" "$kernels/planes.c" "$kernels/entries.c" "$kernels/pair_sums.c" \
    "$kernels/expansion.c" "$kernels/regressions.c" -o "$build/_native.so" -lm

# Python itself is not sanitized: the runtime comes first, and Python's own leaks at exit are not ours.
LD_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
    "$python" "$here/fuzz.py" "$build/_native.so" "$seconds"
