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

# The libraries need only those of Windows and one another.
needs() { x86_64-w64-mingw32-objdump -p "$1" | sed -n 's/^\s*DLL Name: //p' | sort -fu; }
check_needs '(mnn_c|kernel32|msvcrt|api-ms-win-core-synch-l1-2-[0-9]|shell32|advapi32|user32)\.dll' "$prefix"/bin/*.dll
