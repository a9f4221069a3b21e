#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests. MNN_C_EXTRA_CASES names a folder of further cases.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh
if [ -n "${MNN_C_EXTRA_CASES:-}" ]; then
    MNN_C_EXTRA_CASES=$(cd "$MNN_C_EXTRA_CASES" && pwd)
    export MNN_C_EXTRA_CASES
fi
cmake --preset release
cmake --build --preset release
ctest --preset release -j "$(nproc)"
