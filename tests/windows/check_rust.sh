#!/usr/bin/env bash
# usage: check_rust.sh BUILD WORK
# Runs the tests of the Rust crates, with the features `image` and `onnx`, and an example, for x86_64-pc-windows-gnu under wine,
# against the zip file that cpack made in the folder BUILD. It needs Debian's package libstd-rust-dev-windows.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD build=$(cd "$1" && pwd) work=$2
. tests/cross/package.sh
rust=x86_64-pc-windows-gnu
export RUSTC=/usr/bin/rustc
[ -d "$("$RUSTC" --print target-libdir --target $rust 2>/dev/null)" ] ||
    { echo "without the Rust crates: there is no Rust for Windows"; exit 0; }
unpack .zip
export WINEDEBUG=-all WINEPREFIX=$work/wine WINEDLLOVERRIDES=mscoree,mshtml,winedbg.exe=
export RUST_BACKTRACE=0  # dbghelp.dll of wine 8 fails on the way to a backtrace
# Wine finds the libraries by this path.
export WINEPATH="Z:${prefix//\//\\}\\bin"
export MNN_C_PREFIX=$prefix CARGO_TARGET_DIR=$work/rust CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc-posix
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=/usr/lib/wine/wine64
vendored=$work/rust/vendored  # this old version reads the registry by a protocol of its own otherwise
mkdir "$work/rust"
cd bindings/rust
RUSTC_BOOTSTRAP=1 /usr/bin/cargo -Z sparse-registry vendor --quiet --locked "$vendored" >/dev/null
cargo() {
    /usr/bin/cargo --config 'source.crates-io.replace-with="vendored"' --config "source.vendored.directory=\"$vendored\"" "$@" \
        --target $rust </dev/null 2>&1
}
cargo test --workspace --features image,onnx --lib --bins --tests >"$work/output" || { cat "$work/output" >&2; exit 1; }
awk '/^test result: ok/ { passed += $4; ignored += $8 } END { print "the crates:", passed, "tests pass,", ignored, "are ignored" }' \
    "$work/output"
cargo build --quiet --package mnn-c --example classify_digits
runner=(/usr/lib/wine/wine64)
prints "right" "$work/rust/$rust/debug/examples/classify_digits.exe" "$source/examples/digits"
