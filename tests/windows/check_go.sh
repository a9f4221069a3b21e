#!/usr/bin/env bash
# usage: check_go.sh BUILD WORK
# Compiles the tests of the Go package against the zip file that cpack made in the folder BUILD, with mingw-w64 as the C
# compiler, and runs them under wine. Every go of GOS compiles: by default the one of the PATH and, where Debian has it, 1.19.
# Programs of Go 1.22 and later need bcryptprimitives.dll, which wine 8 lacks, so that these are compiled alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD build=$(cd "$1" && pwd) work=$2
. tests/cross/package.sh
unpack .zip
export WINEDEBUG=-all WINEPREFIX=$work/wine WINEDLLOVERRIDES=mscoree,mshtml,winedbg.exe=
export GOOS=windows GOARCH=amd64 CGO_ENABLED=1 CC=x86_64-w64-mingw32-gcc-posix GOTOOLCHAIN=local GOPROXY=off
export CGO_CFLAGS="-O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Werror" PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH=
cp "$prefix"/bin/*.dll "$("$CC" -print-file-name=libwinpthread-1.dll)" "$work/programs"

gos=${GOS:-$(command -v go || true) $(ls /usr/lib/go-1.19/bin/go 2>/dev/null || true)}
[ -n "${gos// /}" ] || { echo "without the Go package: there is no Go"; exit 0; }
cd bindings/go
for go in $gos; do
    "$go" version
    "$go" vet .
    minor=$("$go" env GOVERSION | cut -d. -f2)
    for package in . mnnimage mnnonnx; do
        program=$work/programs/tests_$package.exe
        "$go" test -c -o "$program" "./$package"
        if [ "$minor" -ge 22 ]; then
            echo "$package: the tests compile"
        else
            (cd $package && /usr/lib/wine/wine64 "$program" -test.timeout 10m -test.v </dev/null 2>&1) >"$work/output" ||
                { cat "$work/output" >&2; exit 1; }
            echo "$package: $(grep -c '^--- PASS' "$work/output") tests pass, $(grep -c '^--- SKIP' "$work/output") are skipped"
        fi
    done
    "$go" build -o "$work/programs/by_go.exe" ./examples/classify_digits
    if [ "$minor" -lt 22 ]; then
        /usr/lib/wine/wine64 "$work/programs/by_go.exe" "$source/examples/digits" </dev/null 2>&1 | tail -n 1
    fi
done
