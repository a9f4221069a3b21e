#!/usr/bin/env bash
# usage: check_wheel.sh BUILD WORK
# Makes the wheel for musl of the archive that check_archive.sh unpacked into the folder WORK, whose build is in BUILD, and uses
# what is inside without Python: there is no Python for musl on the machines that these tests run on. pip and setuptools come
# from PyPI.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD build=$(cd "$1" && pwd) work=$(cd "$2" && pwd)
. tests/cross/package.sh
machine=x86_64
strip=strip
if [ -d "$build/musl-root" ]; then
    machine=aarch64
    runner=(qemu-aarch64 -L "$build/musl-root")
    strip=aarch64-linux-gnu-strip
fi
compiler=("$source/build/zig-$machine-linux-musl/clang" -O1)
tag=musllinux_1_2_$machine
prefix=("$work"/mnn_c-*)
prefix=${prefix[0]}
rm -rf "$work"/{dist,wheel,installed}
mkdir "$work/wheel"

tools=$source/build/wheel-tools
if ! "$tools/bin/python" -c 'import setuptools, wheel' 2>/dev/null; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check setuptools wheel
fi
"$tools/bin/python" bindings/python/build_wheel.py --prefix "$prefix" --output "$work/dist" --platform "$tag" --strip "$strip"
wheels=("$work"/dist/mnn_c-*-py3-none-"$tag".whl)
[ ${#wheels[@]} -eq 1 ] && [ -f "${wheels[0]}" ] || { echo "expected one wheel for $tag in $work/dist" >&2; exit 1; }

# A pip for musl takes the wheel, one for glibc does not.
install() { "$tools/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index --only-binary=:all: \
    --target "$work/installed" --platform "$1" "${wheels[0]}"; }
install "$tag"
if install "manylinux_2_40_$machine" 2>/dev/null; then echo "pip takes the wheel for glibc" >&2; exit 1; fi

# The libraries need only musl and one another, and no function that versions of musl after 1.2.0 added, nor DT_RELR, which
# its loader reads since 1.2.4. The first line of `late` has the functions of the release notes up to 1.2.3, the second
# those that we know of later ones. Any other is noticed where this test runs with Debian 12's musl 1.2.3, whose loader
# looks for all functions of a program at its start.
inside=$work/installed/mnn_c
needs() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort; }
check_needs 'libc\.so|libmnn_c\.so\.0' "$inside"/lib/lib*.so.0
check_needs 'libc\.so|libmnn_c(_image|_onnx)?\.so\.0' "$inside/bin/mnn"
late='_Fork|gettid|pthread_getname_np|qsort_r|reallocarray|tcgetwinsize|tcsetwinsize'
late+='|posix_getdents|preadv2|pwritev2|renameat2|statx'
for file in "$inside"/lib/lib*.so.0 "$inside/bin/mnn"; do
    names=$(nm -D --undefined-only "$file" | awk '{ print $2 }')
    grep -qx malloc <<<"$names" || { echo "$file: its undefined symbols are not known" >&2; exit 1; }
    if grep -xE "$late" <<<"$names"; then echo "$file needs that, which musl 1.2.0 does not have" >&2; exit 1; fi
    if readelf -d "$file" | grep RELR; then echo "$file has relocations that musl 1.2.0 does not read" >&2; exit 1; fi
done

# The libraries and the tool run from there.
compile wheel_host -D_GNU_SOURCE "$source"/examples/plugin_host/{plugin_host,plugin,library_posix,digits}.c
prints "images right" "$work/programs/wheel_host" "$inside/lib/libmnn_c.so.0" "$source/examples/digits"
prints "inspects, runs, checks" "$inside/bin/mnn" --help
echo "$(basename "${wheels[0]}"): $(stat -c %s "${wheels[0]}") bytes"
