#!/bin/sh
# Checks everything that must hold before a change of this folder is done: tests with and without features, format,
# lints and documentation. Finds the library through pkg-config. CARGO names another cargo.
# tests/packaging/check_crates.sh tests the feature `vendored`, which compiles the library. Exit code 77: something that
# this needs is not on the machine.
set -eu
cd "$(dirname "$0")"
cargo=${CARGO:-cargo}
command -v "$cargo" >/dev/null || { echo "check.sh: there is no '$cargo'"; exit 77; }
pkg-config --exists mnn_c mnn_c_image mnn_c_onnx || { echo "check.sh: pkg-config does not find mnn_c, mnn_c_image and mnn_c_onnx"; exit 77; }
"$cargo" --version

# Crates are downloaded first, separately: everything after this works without a network.
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
export CARGO_TARGET_DIR="$target"
minor=$("$cargo" --version | cut -d. -f2)
if [ "$minor" -lt 68 ]; then
    # The registry's present protocol was optional in these versions.
    vendored=$(cd "$target" && pwd)/vendored
    RUSTC_BOOTSTRAP=1 "$cargo" -Z sparse-registry vendor --quiet --locked "$vendored" >/dev/null ||
        { echo "check.sh: the crates cannot be fetched"; exit 77; }
    run() {
        "$cargo" --config 'source.crates-io.replace-with="vendored"' \
            --config "source.vendored.directory=\"$vendored\"" "$@"
    }
else
    "$cargo" fetch --quiet --locked || { echo "check.sh: the crates cannot be fetched"; exit 77; }
    run() { "$cargo" "$@"; }
fi

run test --quiet --workspace --locked --offline
run test --quiet --workspace --features ndarray,image,onnx --locked --offline
RUSTDOCFLAGS="-D warnings" run doc --quiet --workspace --features ndarray,image,onnx --no-deps --locked --offline
# Checks today's format and lints, where they are installed.
if [ "$minor" -ge 68 ]; then
    if "$cargo" fmt --version >/dev/null 2>&1; then run fmt --check; fi
    if "$cargo" clippy --version >/dev/null 2>&1; then
        run clippy --quiet --workspace --all-targets --features ndarray,image,onnx --locked --offline -- -D warnings
    fi
fi
# An assignment keeps the status of an example, which a pipe would lose.
for example in classify_digits own_operator; do
    lines=$(run run --quiet --locked --offline --example "$example")
    echo "$lines" | tail -n 1
done
