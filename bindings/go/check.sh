#!/bin/sh
# Checks everything that must hold before a change of this folder is done: format, vet, tests, tests with the race
# detector, and tests under the garbage collector. Finds the library through pkg-config. GO names another go. Exit code
# 77: a program or library that this needs is not on the machine.
set -eu
cd "$(dirname "$0")"
go=${GO:-go}
command -v "$go" >/dev/null || { echo "check.sh: there is no '$go'"; exit 77; }
pkg-config --exists mnn_c mnn_c_image mnn_c_onnx || { echo "check.sh: pkg-config does not find mnn_c, mnn_c_image and mnn_c_onnx"; exit 77; }
export GOTOOLCHAIN=local GOPROXY=off
export CGO_CFLAGS="-O2 -g -Wall -Wextra -Wno-unused-parameter -Werror"
"$go" version

unformatted=$("$("$go" env GOROOT)/bin/gofmt" -l .)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; exit 1; }
"$go" vet ./...
"$go" test -count=1 -timeout 5m ./...
"$go" test -count=1 -timeout 5m -race ./...
GOGC=1 GODEBUG=cgocheck=1 "$go" test -count=3 -timeout 5m -race -run 'Freed|Collector|Closing|Close|Keeps|Struct' .
# Each write of a pointer is checked, too. The setting that enables this changed with Go 1.21.
if GOEXPERIMENT=cgocheck2 "$go" version >/dev/null 2>&1; then
    GOEXPERIMENT=cgocheck2 GOGC=1 "$go" test -count=1 -timeout 5m ./...
else
    GODEBUG=cgocheck=2 GOGC=1 "$go" test -count=1 -timeout 5m ./...
fi
# An assignment keeps the status of an example, which a pipe would lose.
for example in classify_digits own_operator; do
    lines=$("$go" run "./examples/$example")
    echo "$lines" | tail -n 1
done
