#!/usr/bin/env bash
# usage: check_archive.sh BUILD WORK
# Unpacks the .tar.gz that cpack made in the folder BUILD, a build for musl, into the folder WORK, and uses it as a stranger
# does who has Zig's compiler alone: C programs for each library, one of them wholly static, a host that loads the library
# as a plugin, and the tool. Programs for Arm run under qemu-user.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD build=$(cd "$1" && pwd) work=$2
. tests/cross/package.sh
machine=x86_64
if [ -d "$build/musl-root" ]; then
    machine=aarch64
    runner=(qemu-aarch64 -L "$build/musl-root")
fi
compiler=("$source/build/zig-$machine-linux-musl/clang" -O1)
unpack .tar.gz

check_programs "$prefix/lib/libmnn_c.so.0" posix -lm -Wl,-rpath,"$prefix/lib"
compile static "$source/examples/c/classify_digits.c" "$prefix/lib/libmnn_c.a" -lm -lc++ -static
prints "held-out images right" "$work/programs/static" "$source/examples/digits"

# The libraries need only musl and one another; the C++ runtime is inside.
needs() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort; }
check_needs 'libc\.so|libmnn_c\.so\.0' "$prefix"/lib/lib*.so.0

# Mathematical functions, and those that copy memory, are musl's, and not of the compiler's runtime.
names=$(nm -D --undefined-only "$prefix/lib/libmnn_c.so.0")
for name in expf memcpy; do
    grep -qw "$name" <<<"$names" || { echo "$name is not that of musl" >&2; exit 1; }
done
