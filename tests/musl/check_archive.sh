#!/usr/bin/env bash
# usage: check_archive.sh BUILD WORK
# Unpacks the .tar.gz that cpack made in the folder BUILD, a build for musl, into the folder WORK, and uses it as a stranger
# does who has Zig's compiler alone: C programs for each library, one of them wholly static, a host that loads the library
# as a plugin, and the tool. Programs for Arm run under qemu-user.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD build=$(cd "$1" && pwd) work=$2
archives=("$build"/mnn_c-*.tar.gz)
[ ${#archives[@]} -eq 1 ] && [ -f "${archives[0]}" ] || { echo "expected one .tar.gz in $build, found ${archives[*]}" >&2; exit 1; }
emulator=()
machine=x86_64
if [ -d "$build/musl-root" ]; then
    machine=aarch64
    emulator=(qemu-aarch64 -L "$build/musl-root")
fi
compiler=$source/build/zig-$machine-linux-musl/clang

rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)
tar -xf "${archives[0]}" -C "$work"
prefix=("$work"/mnn_c-*)
prefix=${prefix[0]}
mkdir "$work/programs"

# Runs a program, whose output must contain the text.
prints() {
    local text=$1 program=$2 output
    shift 2
    output=$(cd "$work" && "${emulator[@]}" "$program" "$@" 2>&1) ||
        { echo "$program: exit status $?" >&2; echo "$output" >&2; exit 1; }
    [[ $output == *"$text"* ]] || { echo "$program does not print '$text': $output" >&2; exit 1; }
    echo "$(basename "$program"): $text"
}
build() {
    local program=$work/programs/$1
    shift
    "$compiler" -std=c11 -O1 -Wall -Wextra -Werror -I"$prefix/include" -o "$program" "$@"
}

build classify_digits "$source/examples/c/classify_digits.c" -L"$prefix/lib" -lmnn_c -lm -Wl,-rpath,"$prefix/lib"
build static "$source/examples/c/classify_digits.c" "$prefix/lib/libmnn_c.a" -lm -lc++ -static
build picture "$source/tests/packaging/consumer/picture.c" -L"$prefix/lib" -lmnn_c_image -lm -Wl,-rpath,"$prefix/lib"
build convert "$source/tests/packaging/consumer/convert.c" -L"$prefix/lib" -lmnn_c_onnx -lmnn_c -lm -Wl,-rpath,"$prefix/lib"
build plugin_host "$source"/examples/plugin_host/{plugin_host,plugin,library_posix,digits}.c -D_GNU_SOURCE
for program in classify_digits static; do
    prints "held-out images right" "$work/programs/$program" "$source/examples/digits"
done
prints "the values are right" "$work/programs/picture"
prints "the net is right" "$work/programs/convert"
prints "images right" "$work/programs/plugin_host" "$prefix/lib/libmnn_c.so.0" "$source/examples/digits"
prints "inspects, runs, checks" "$prefix/bin/mnn" --help

# The libraries need musl, and one another, alone; the C++ runtime is inside.
for library in "$prefix"/lib/lib*.so.0; do
    readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tee "$work/needs" |
        grep -vE '^(libc\.so|libmnn_c\.so\.0)$' && { echo "$library needs another library than musl" >&2; exit 1; }
    echo "$(basename "$library"): $(stat -Lc %s "$library") bytes, needs $(paste -sd ' ' "$work/needs")"
done
