#!/usr/bin/env bash
# usage: check.sh SOURCE BUILD [LAUNCHER...]
# Compiles library, tool and unit tests for 64-bit Arm into BUILD/aarch64 and runs them under an emulator. LAUNCHER:
# what the compiler is started with, such as ccache.
set -euo pipefail
source=$1 build=$2/aarch64
shift 2
launcher=$(IFS=';' && echo "$*")

for program in aarch64-linux-gnu-g++ qemu-aarch64; do
    if ! command -v "$program" >/dev/null; then
        echo "skipped: $program is not installed"
        exit 77
    fi
done
if [ ! -d /usr/src/googletest ]; then
    echo "skipped: the source of GoogleTest is not in /usr/src/googletest"
    exit 77
fi
cmake -S "$source" -B "$build" -G Ninja --toolchain "$source/cmake/aarch64-linux-gnu.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
    -DMNN_C_WERROR=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DMNN_C_VULKAN=OFF -DMNN_C_STATIC=OFF -DMNN_C_EXAMPLES=OFF -DMNN_C_INSTALL=OFF \
    -DMNN_C_QUICK_TESTS=ON
cmake --build "$build"
ctest --test-dir "$build/tests" --output-on-failure -j "$(nproc)"
