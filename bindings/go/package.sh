#!/usr/bin/env bash
# Writes the module under the path MNN_C_GO_MODULE into a folder, which then has the contents of the module's
# repository.
#     MNN_C_GO_MODULE=PATH bindings/go/package.sh FOLDER
# GO names another go. Nothing is uploaded.
set -euo pipefail
if [ $# -ne 1 ] || [ -z "${MNN_C_GO_MODULE:-}" ]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
    exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -z "$(ls "$folder")" ] || { echo "package.sh: $folder is not empty"; exit 1; }
cd "$(dirname "$0")"
old=$(sed -n 's/^module //p' go.mod)
cp -r -- *.go shims.c shims*.h go.mod README.md LICENSE ../../THIRD-PARTY examples mnnimage mnnonnx "$folder"
# The tests need files of the library's repository; the examples of the reference need only the demo model.
find "$folder" -name '*_test.go' ! -name example_test.go -delete
mkdir "$folder/examples/digits"
cp ../../examples/digits/digits.mnn "$folder/examples/digits"
sed -i 's|"\.\./\.\./examples/digits|"examples/digits|' "$folder/example_test.go"
quoted=$(printf '%s' "$MNN_C_GO_MODULE" | sed 's/[\\&|]/\\&/g')
grep -rlZF "$old" "$folder" | xargs -0 sed -i "s|${old//./\\.}|$quoted|g"
if grep -rnF "$old" "$folder"; then exit 1; fi
cd "$folder"
GOFLAGS=-mod=mod GOPROXY=off "${GO:-go}" vet ./...
