#!/usr/bin/env bash
# usage: check_compiles.sh SOURCE WORK
# Compiles impl/base, impl/base/os and impl/c_api for systems that the library is not built for, without linking or running
# anything: macOS and Windows on 64-bit Arm by Zig's compiler, RISC-V by Debian's g++-riscv64-linux-gnu. A 32-bit Arm must be
# refused by the static assertion about handles. WORK: a folder for what is generated.
set -euo pipefail
source=$1 work=$2
cd "$source"
if [ -z "${MNN_C_ZIG:-}" ]; then MNN_C_ZIG=$(compgen -G 'build/zig/lib/python3*/site-packages/ziglang/zig'); fi
mkdir -p "$work"
work=$(cd "$work" && pwd)

# Sources are compiled several at a time, those of impl/c_api 8, as in a build (cmake/unity.cmake).
flatc --no-warnings --cpp --scoped-enums --reflect-types -o "$work" schema/mnn.fbs
flatc --no-warnings --binary --schema -o "$work" schema/mnn.fbs
cmake -DFILE="$work/mnn.bfbs" -DHEADER="$work/mnn_schema.h" -DNAME=kSchemaWords -P cmake/embed_words.cmake
mkdir -p "$work/include"
for name in flatbuffers hwy; do ln -sfn "/usr/include/$name" "$work/include/$name"; done
includes() { printf '#include "%s"\n' "$@"; }
includes impl/base/*.cpp >"$work/base.cpp"
sources=(impl/c_api/*.cpp)
groups=()
for ((at = 0; at < ${#sources[@]}; at += 8)); do
    groups+=("c_api_$at")
    includes "${sources[@]:at:8}" >"$work/c_api_$at.cpp"
done
includes impl/base/os/*_{posix,linux}.cpp >"$work/os_linux.cpp"
includes impl/base/os/*_{posix,macos}.cpp >"$work/os_macos.cpp"
includes impl/base/os/*_windows.cpp >"$work/os_windows.cpp"

compile() {  # COMPILER... SOURCE
    "${@:1:$#-1}" -std=c++20 -c -O0 -Wall -Wextra -Wshadow -Wno-psabi -Werror -DMNN_C_BUILDING -DMNN_C_VERSION='"0"' \
        -Iimpl -I. -Iinclude -isystem "$work/include" -isystem "$work" -o "$work/object.o" "$work/${*: -1}"
}
zig() { "$MNN_C_ZIG" c++ -target "$@"; }

check() {  # NAME SYSTEM COMPILER...
    local name=$1 system=$2 part
    shift 2
    for part in base "os_$system" "${groups[@]}"; do compile "$@" "$part.cpp"; done
    echo "$name: impl/base, impl/base/os and impl/c_api compile"
}
check "macOS on 64-bit Arm" macos zig aarch64-macos
check "Windows on 64-bit Arm" windows zig aarch64-windows-gnu
check "Linux on RISC-V" linux riscv64-linux-gnu-g++

printf '#include "impl/c_api/handle_table.cpp"\n' >"$work/handles.cpp"
if compile zig arm-linux-musleabihf handles.cpp 2>"$work/refused"; then
    echo "32-bit Arm is not refused" >&2
    exit 1
fi
grep "32-bit systems are not supported" "$work/refused" || { cat "$work/refused" >&2; exit 1; }
echo "Linux on 32-bit Arm: refused"
