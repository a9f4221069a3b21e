#!/usr/bin/env bash
# Installs missing packages, builds everything and runs all tests. MNN_C_EXTRA_CASES names folders of
# further cases, separated by semicolons.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh
if [ -n "${MNN_C_EXTRA_CASES:-}" ]; then
    IFS=';' read -r -a folders <<<"$MNN_C_EXTRA_CASES"
    MNN_C_EXTRA_CASES=
    for folder in "${folders[@]}"; do
        path=$(cd "$folder" && pwd)
        MNN_C_EXTRA_CASES="${MNN_C_EXTRA_CASES:+$MNN_C_EXTRA_CASES;}$path"
    done
    export MNN_C_EXTRA_CASES
fi
cmake --preset release -DMNN_C_BENCHMARKS=ON  # or nothing compiles them, and they fall behind the library
cmake --build --preset release
ctest --preset release -j "$(nproc)"
