#!/usr/bin/env bash
# usage: check.sh quick|all SOURCE BUILD [LAUNCHER...]
# Compiles for 64-bit Arm into the folder BUILD and runs tests under an emulator. LAUNCHER: what the compiler is started
# with, such as ccache; without one CMake reads the variables CMAKE_C_COMPILER_LAUNCHER and CMAKE_CXX_COMPILER_LAUNCHER.
#   quick  the library and the tool, in which the kernels of NEON alone are optimised; the conformance cases, and those of
#          products with fewer features of the CPU
#   all    portable kernels and the unit tests, too, optimised as ever; every test, also as CPUs with fewer features
set -euo pipefail
extent=$1 source=$2 build=$3
shift 3
launchers=()
if [ $# -gt 0 ]; then
    launcher=$(IFS=';' && echo "$*")
    launchers=(-DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher")
fi

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
# Without precompiled headers this build detects a missing #include.
options=(-DMNN_C_ISAS=all -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DMNN_C_QUICK_TESTS=OFF)
targets=()
tests=()
if [ "$extent" = quick ]; then
    options=(-DMNN_C_ISAS=neon -DMNN_C_QUICK_TESTS=ON)
    targets=(--target mnn)
    tests=(-R '^(conformance.neon.threads2|products.neon.*)$')
fi
cmake -S "$source" -B "$build" -G Ninja --toolchain "$source/cmake/aarch64-linux-gnu.cmake" \
    -DCMAKE_BUILD_TYPE=Release "${launchers[@]}" -DMNN_C_WERROR=ON -DMNN_C_VULKAN=OFF -DMNN_C_STATIC=OFF -DMNN_C_EXAMPLES=OFF \
    -DMNN_C_INSTALL=OFF "${options[@]}"
cmake --build "$build" "${targets[@]}"
ctest --test-dir "$build/tests" --output-on-failure --no-tests=error -j "$(nproc)" "${tests[@]}"
