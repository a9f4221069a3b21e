#!/usr/bin/env bash
# usage: check_zip.sh BUILD WORK
# Unpacks the zip file that cpack made in the folder BUILD into the folder WORK, and uses it as a stranger does who has
# mingw-w64 alone: C programs for each library, linked with either kind of import library and by CMake, a host that loads
# the library as a plugin, and the tool. They run under wine; no library of Windows is beside them but those of the zip.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD build=$(cd "$1" && pwd) work=$2
compiler=x86_64-w64-mingw32-gcc-posix
zips=("$build"/mnn_c-*.zip)
[ ${#zips[@]} -eq 1 ] && [ -f "${zips[0]}" ] || { echo "expected one zip file in $build, found ${zips[*]}" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)
python3 -m zipfile -e "${zips[0]}" "$work"
prefix=("$work"/mnn_c-*)
prefix=${prefix[0]}
export WINEDEBUG=-all WINEPREFIX=$work/wine WINEDLLOVERRIDES=mscoree,mshtml=
mkdir "$work/programs"
cp "$prefix"/bin/*.dll "$work/programs"

# Runs a program, whose output must contain the text.
prints() {
    local text=$1 program=$2 output
    shift 2
    output=$(cd "$work" && /usr/lib/wine/wine64 "$program" "$@" 2>&1) ||
        { echo "$program: exit status $?" >&2; echo "$output" >&2; exit 1; }
    [[ $output == *"$text"* ]] || { echo "$program does not print '$text': $output" >&2; exit 1; }
    echo "$(basename "$program"): $text"
}
build() {
    local program=$work/programs/$1.exe
    shift
    "$compiler" -std=c11 -Wall -Wextra -Werror -I"$prefix/include" -o "$program" "$@"
}

build classify_digits "$source/examples/c/classify_digits.c" -L"$prefix/lib" -lmnn_c
build by_lib "$source/examples/c/classify_digits.c" "$prefix/lib/mnn_c.lib"
build picture "$source/tests/packaging/consumer/picture.c" -L"$prefix/lib" -lmnn_c_image
build convert "$source/tests/packaging/consumer/convert.c" -L"$prefix/lib" -lmnn_c_onnx -lmnn_c
build plugin_host "$source"/examples/plugin_host/{plugin_host,plugin,library_windows,digits}.c
for program in classify_digits by_lib; do
    prints "held-out images right" "$work/programs/$program.exe" "$source/examples/digits"
done
prints "the values are right" "$work/programs/picture.exe"
prints "the net is right" "$work/programs/convert.exe"
prints "images right" "$work/programs/plugin_host.exe" "$prefix/bin/mnn_c.dll" "$source/examples/digits"
prints "inspects, runs, checks" "$prefix/bin/mnn.exe" --help

mkdir "$work/consumer"
cp tests/packaging/consumer/CMakeLists.txt examples/c/classify_digits.c "$work/consumer"
cmake -G Ninja -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/consumer/build" >/dev/null
cp "$work/consumer/build/consumer.exe" "$work/programs"
prints "held-out images right" "$work/programs/consumer.exe" "$source/examples/digits"

# The example of the Rust crate, where there is a Rust for Windows (Debian's package libstd-rust-dev-windows).
rust=x86_64-pc-windows-gnu
rustc=/usr/bin/rustc
if [ -d "$("$rustc" --print target-libdir --target $rust 2>/dev/null)" ]; then
    vendored=$work/rust/vendored  # this old version reads the registry by a protocol of its own otherwise
    mkdir "$work/rust"
    (cd bindings/rust && RUSTC_BOOTSTRAP=1 /usr/bin/cargo -Z sparse-registry vendor --quiet --locked "$vendored" >/dev/null)
    (cd bindings/rust && RUSTC=$rustc MNN_C_PREFIX=$prefix CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$compiler \
        CARGO_TARGET_DIR=$work/rust /usr/bin/cargo --config 'source.crates-io.replace-with="vendored"' \
        --config "source.vendored.directory=\"$vendored\"" build --quiet --package mnn-c --target $rust \
        --example classify_digits)
    cp "$work/rust/$rust/debug/examples/classify_digits.exe" "$work/programs/by_rust.exe"
    prints "right" "$work/programs/by_rust.exe" "$source/examples/digits"
else
    echo "without the Rust crate: there is no Rust for Windows"
fi

# The libraries need those of Windows, and one another, alone.
for library in "$prefix"/bin/*.dll; do
    x86_64-w64-mingw32-objdump -p "$library" | sed -n 's/^\s*DLL Name: //p' | sort -fu | tee "$work/needs" |
        grep -viE '^(mnn_c|kernel32|msvcrt|api-ms-win-core-synch-l1-2-[0-9]|shell32|advapi32|user32)\.dll$' &&
        { echo "$library needs a library that not every Windows has" >&2; exit 1; }
    echo "$(basename "$library"): $(stat -c %s "$library") bytes, needs $(paste -sd ' ' "$work/needs")"
done
