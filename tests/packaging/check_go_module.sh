#!/usr/bin/env bash
# Writes the Go module under another path, runs its examples, and builds its demo and the examples for pictures and ONNX
# models with the static libraries.
#     tests/packaging/check_go_module.sh PREFIX [WORK]     PREFIX: where the library is installed
# Every go of GOS builds: by default the one of the PATH and, where Debian has it, 1.19.
# Exit code 77: something that this needs is not on the machine.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
prefix=$(cd "$1" && pwd)
work=${2:-$root/build/go_module}
command -v go >/dev/null || { echo "no go"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)
libraries=$(dirname "$(find "$prefix" -name libmnn_c.so.0)")
export PKG_CONFIG_PATH=$libraries/pkgconfig GOTOOLCHAIN=local GOPROXY=off
MNN_C_GO_MODULE=example.org/nets/mnn "$root/bindings/go/package.sh" "$work/module"
cmp "$work/module/LICENSE" "$root/LICENSE"
cmp "$work/module/THIRD-PARTY" "$root/THIRD-PARTY"
cd "$work/module"
for go in ${GOS:-go $(ls /usr/lib/go-1.19/bin/go 2>/dev/null)}; do
    "$go" version
    LD_LIBRARY_PATH=$libraries "$go" test -count=1 ./...
    "$go" build -tags mnn_c_static -o "$work/classify_digits" ./examples/classify_digits
    "$go" test -tags mnn_c_static -c -o "$work/pictures" ./mnnimage
    "$go" test -tags mnn_c_static -c -o "$work/conversions" ./mnnonnx
    if ldd "$work/classify_digits" "$work/pictures" "$work/conversions" | grep libmnn_c; then exit 1; fi
    "$work/pictures"
    "$work/conversions"
    "$work/classify_digits" "$root/examples/digits" | tail -n 1
done
echo "the Go module works under another path"
