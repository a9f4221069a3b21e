#!/usr/bin/env bash
# Installs missing packages, builds the library, the tool and the demo, and classifies handwritten digits through the C
# interface.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh build
[ -f build/release/build.ninja ] || cmake --preset release -DMNN_C_TESTS=OFF
cmake --build --preset release --target classify_digits mnn
build/release/examples/classify_digits examples/digits
