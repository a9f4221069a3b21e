#!/usr/bin/env bash
# Builds the parent project of this folder with the whole library inside of it, and runs its programs. Compiles
# everything once more, so no test does it: run it after a change of flags or targets.
#     build_subproject.sh [BUILD_FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${1:-$root/build/subproject}
mkdir -p "$build/source"
cp "$here/parent/CMakeLists.txt" "$root/examples/c/classify_digits.c" "$build/source"
cmake -G Ninja -S "$build/source" -B "$build/build" -DMNN_C_SOURCE="$root" -DCMAKE_BUILD_TYPE=Release -DMNN_C_STATIC=ON
cmake --build "$build/build"
"$build/build/parent_c" "$root/examples/digits"
"$build/build/parent_cxx"
python3 "$root/tests/c_abi/check_exports.py" "$build/build/mnn_c/libmnn_c.so" "$root/include/mnn_c.h"
if nm "$build/build/mnn_c/libmnn_c.so" | grep -q set_fast_math; then
    echo "the library changes the arithmetic of its host" >&2
    exit 1
fi
