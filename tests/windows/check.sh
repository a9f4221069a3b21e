#!/usr/bin/env bash
# usage: check.sh SOURCE BUILD [LAUNCHER...]
# Compiles for Windows, into BUILD, the sources that call the system (impl/base/os) and those that create threads,
# and runs their unit tests under wine, in two minutes; the section windows of scripts/test-long.sh builds and tests all.
# LAUNCHER: what the compiler is started with, such as ccache; without one CMake reads the variables
# CMAKE_C_COMPILER_LAUNCHER and CMAKE_CXX_COMPILER_LAUNCHER.
set -euo pipefail
source=$1 build=$2
shift 2
launchers=()
if [ $# -gt 0 ]; then
    launcher=$(IFS=';' && echo "$*")
    launchers=(-DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher")
fi

for program in x86_64-w64-mingw32-g++-posix /usr/lib/wine/wine64; do
    if ! command -v "$program" >/dev/null; then
        echo "skipped: $program is not installed"
        exit 77
    fi
done
if [ ! -d /usr/src/googletest ]; then
    echo "skipped: the source of GoogleTest is not in /usr/src/googletest"
    exit 77
fi
cmake -S "$source" -B "$build" -G Ninja --toolchain "$source/cmake/windows-x64.cmake" -DCMAKE_BUILD_TYPE=Release \
    "${launchers[@]}" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DMNN_C_WERROR=ON -DMNN_C_ISAS=sse4 -DMNN_C_VULKAN=OFF \
    -DMNN_C_EXAMPLES=OFF -DMNN_C_INSTALL=OFF
cmake --build "$build" -j "$(nproc)" --target mnn_c_system_tests
ctest --test-dir "$build" --output-on-failure --no-tests=error -R '^system$'
