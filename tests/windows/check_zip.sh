#!/usr/bin/env bash
# usage: check_zip.sh BUILD WORK
# Unpacks the zip file that cpack made in the folder BUILD into the folder WORK, and uses it as a stranger does who has
# mingw-w64 alone: C programs for each library, linked with either kind of import library and by CMake, a host that loads
# the library as a plugin, and the tool. They run under wine; no library of Windows is beside them but those of the zip.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD build=$(cd "$1" && pwd) work=$2
. tests/cross/package.sh
suffix=.exe
runner=(/usr/lib/wine/wine64)
compiler=(x86_64-w64-mingw32-gcc-posix)
unpack .zip
export WINEDEBUG=-all WINEPREFIX=$work/wine WINEDLLOVERRIDES=mscoree,mshtml,winedbg.exe=
cp "$prefix"/bin/*.dll "$work/programs"

check_programs "$prefix/bin/mnn_c.dll" windows
compile by_lib "$source/examples/c/classify_digits.c" "$prefix/lib/mnn_c.lib"
prints "held-out images right" "$work/programs/by_lib.exe" "$source/examples/digits"

mkdir "$work/consumer"
cp tests/packaging/consumer/CMakeLists.txt examples/c/classify_digits.c "$work/consumer"
cmake -G Ninja -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER="${compiler[0]}" \
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
    (cd bindings/rust && RUSTC=$rustc MNN_C_PREFIX=$prefix CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=${compiler[0]} \
        CARGO_TARGET_DIR=$work/rust /usr/bin/cargo --config 'source.crates-io.replace-with="vendored"' \
        --config "source.vendored.directory=\"$vendored\"" build --quiet --package mnn-c --target $rust \
        --example classify_digits)
    cp "$work/rust/$rust/debug/examples/classify_digits.exe" "$work/programs/by_rust.exe"
    prints "right" "$work/programs/by_rust.exe" "$source/examples/digits"
else
    echo "without the Rust crate: there is no Rust for Windows"
fi

# The libraries need those of Windows, and one another, alone.
needs() { x86_64-w64-mingw32-objdump -p "$1" | sed -n 's/^\s*DLL Name: //p' | sort -fu; }
check_needs '(mnn_c|kernel32|msvcrt|api-ms-win-core-synch-l1-2-[0-9]|shell32|advapi32|user32)\.dll' "$prefix"/bin/*.dll
