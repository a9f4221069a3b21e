#!/usr/bin/env bash
# Packs the crates, and builds the program of their README, one for pictures and one for ONNX models against the packages
# alone: with the libraries that pkg-config finds, with those of MNN_C_PREFIX, and with the feature `vendored`, which compiles
# them again, without and with those for pictures and ONNX models.
#     tests/packaging/check_crates.sh PREFIX [WORK]     PREFIX: where the library is installed
# Every cargo of CARGOS builds: by default the one of the PATH and the distribution's. MNN_C_CMAKE_ARGS are for `vendored`.
# Exit code 77: something that this needs is not on the machine.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
prefix=$(cd "$1" && pwd)
work=${2:-$root/build/crates}
rm -rf "$work/program" "$work/unpacked" "$work/vendor"
mkdir -p "$work/program/src" "$work/unpacked"
work=$(cd "$work" && pwd)

maintainer='A & B "of" C <maintainer@example.org>'
MNN_C_MAINTAINER=$maintainer MNN_C_REPOSITORY=https://example.org/mnn_c \
    "$root/bindings/rust/package.sh" "$work" --no-verify >"$work/package.log" 2>&1 || {
    status=$?
    cat "$work/package.log"
    exit $status
}
if grep -i '^warning' "$work/package.log"; then exit 1; fi
for package in "$work"/*.crate; do tar -xzf "$package" -C "$work/unpacked"; done
sys=$(echo "$work"/unpacked/mnn-c-sys-*)
safe=$(echo "$work"/unpacked/mnn-c-[0-9]*)
for folder in "$sys" "$safe"; do
    for name in LICENSE THIRD-PARTY; do cmp "$folder/$name" "$root/$name"; done
    test -s "$folder/README.md"
    grep -qF 'authors = ["A & B \"of\" C <maintainer@example.org>"]' "$folder/Cargo.toml.orig"
    for field in description license readme keywords categories repository; do
        grep -q "^$field = " "$folder/Cargo.toml.orig" || { echo "$folder/Cargo.toml has no $field"; exit 1; }
    done
done

# The program of the README, with the packages in place of a registry's.
sed -n '/^\/\/ src\/main.rs/,/^```/p' "$root/bindings/rust/README.md" | sed '/^```/d' >"$work/program/src/main.rs"
cat >"$work/program/Cargo.toml" <<TOML
[package]
name = "quickstart"
version = "0.2.0"
edition = "2021"
[dependencies]
mnn-c = { path = "$safe" }
[features]
image = ["mnn-c/image"]
onnx = ["mnn-c/onnx"]
vendored = ["mnn-c/vendored"]
[[example]]
name = "picture"
required-features = ["image"]
[[example]]
name = "convert"
required-features = ["onnx"]
[patch.crates-io]
mnn-c-sys = { path = "$sys" }
[workspace]
TOML
mkdir "$work/program/examples"
cat >"$work/program/examples/picture.rs" <<'RUST'
use mnn_c::image::{Conversion, Image, PixelFormat};

fn main() -> mnn_c::Result<()> {
    let photo = Image::decode(b"P5 2 1 255\n\x07\xff", PixelFormat::Gray)?;
    let values: Vec<f32> = Conversion::new(PixelFormat::Gray, 2, 1).scale([0.5; 4]).convert(&photo.view())?;
    println!("{values:?}");
    Ok(())
}
RUST
cat >"$work/program/examples/convert.rs" <<'RUST'
fn main() {
    // A version, and nothing else.
    let error = mnn_c::onnx::Conversion::new().convert_bytes(&[8, 9]).unwrap_err();
    println!("{:?}", error.kind());
}
RUST
cd "$work/program"
cargo vendor --quiet "$work/vendor" >/dev/null
mkdir -p .cargo
printf '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "%s"\n' "$work/vendor" \
    >.cargo/config.toml

model=$root/examples/digits/digits.mnn
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
libraries=$(dirname "$(find "$prefix" -name libmnn_c.so.0)")
# run WHERE: the program's ten numbers; WHERE is the folder of the shared library, or nothing
run() {
    local printed
    printed=$(LD_LIBRARY_PATH=$1 "$CARGO_TARGET_DIR/debug/quickstart" "$model")
    [ "$(grep -oE '[0-9]\.[0-9]+' <<<"$printed" | wc -l)" -eq 10 ] || { echo "the program printed: $printed"; exit 1; }
}
picture() {
    local printed
    printed=$(LD_LIBRARY_PATH=$1 "$CARGO_TARGET_DIR/debug/examples/picture")
    [ "$printed" = '[3.5, 127.5]' ] || { echo "the program for pictures printed: $printed"; exit 1; }
}
convert() {
    local printed
    printed=$(LD_LIBRARY_PATH=$1 "$CARGO_TARGET_DIR/debug/examples/convert")
    [ "$printed" = Truncated ] || { echo "the program for ONNX models printed: $printed"; exit 1; }
}
for cargo in ${CARGOS:-$(printf '%s\n' "$(command -v cargo)" /usr/bin/cargo | sort -u)}; do
    command -v "$cargo" >/dev/null || continue
    rm -f Cargo.lock
    # The compiler that belongs to this cargo.
    RUSTC=$(dirname "$(command -v "$cargo")")/rustc RUSTDOC=$(dirname "$(command -v "$cargo")")/rustdoc
    export RUSTC RUSTDOC CARGO_TARGET_DIR="$work/target/${cargo//\//_}"
    "$cargo" --version
    PKG_CONFIG_PATH=$libraries/pkgconfig "$cargo" build --quiet --offline
    run "$libraries"
    if ldd "$CARGO_TARGET_DIR/debug/quickstart" | grep -E "libmnn_c_(image|onnx)"; then exit 1; fi
    PKG_CONFIG_PATH=$libraries/pkgconfig "$cargo" build --quiet --offline --features image --example picture
    picture "$libraries"
    PKG_CONFIG_PATH=$libraries/pkgconfig "$cargo" build --quiet --offline --features onnx --example convert
    convert "$libraries"
    PKG_CONFIG=false MNN_C_PREFIX=$prefix "$cargo" build --quiet --offline
    run "$libraries"
    PKG_CONFIG=false MNN_C_PREFIX=$prefix "$cargo" build --quiet --offline --features image --example picture
    picture "$libraries"
    PKG_CONFIG=false MNN_C_PREFIX=$prefix "$cargo" build --quiet --offline --features onnx --example convert
    convert "$libraries"
    if PKG_CONFIG=false "$cargo" build --quiet --offline 2>"$work/failure.log"; then
        echo "a build without a library succeeded"
        exit 1
    fi
    grep -q 'MNN_C_PREFIX' "$work/failure.log"
    PKG_CONFIG=false DOCS_RS=1 "$cargo" doc --quiet --offline --features vendored,image,onnx
    PKG_CONFIG=false "$cargo" build --quiet --offline --features vendored
    run ""
    PKG_CONFIG=false "$cargo" build --quiet --offline --features vendored,image --example picture
    picture ""
    PKG_CONFIG=false "$cargo" build --quiet --offline --features vendored,onnx --example convert
    convert ""
    if ldd "$CARGO_TARGET_DIR"/debug/{quickstart,examples/picture,examples/convert} | grep libmnn_c; then exit 1; fi
done
echo "the packages of the crates build and run"
