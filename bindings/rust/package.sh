#!/usr/bin/env bash
# Makes the packages of both crates, with the sources of the library in mnn-c-sys, for its feature `vendored`.
#     bindings/rust/package.sh OUTPUT [ARGUMENT OF cargo package]...
# OUTPUT gets the two .crate files, and OUTPUT/crates their sources, where `cargo publish` works, too. MNN_C_MAINTAINER
# ("NAME <ADDRESS>") and MNN_C_REPOSITORY (an address) go into the metadata; CARGO names another cargo, which must be
# 1.90 or newer, because it packs crates that depend on each other. Nothing is uploaded.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }
mkdir -p "$1"
output=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
cargo=${CARGO:-cargo}
minor=$("$cargo" --version | cut -d. -f2)
[ "$minor" -ge 90 ] || { echo "package.sh: $("$cargo" --version) is older than 1.90"; exit 77; }

crates=$output/crates
rm -rf "$crates"
mkdir -p "$crates"
cp -r Cargo.toml Cargo.lock README.md mnn-c mnn-c-sys "$crates"
rm -r "$crates"/*/tests  # they need files of the repository
sources=$crates/mnn-c-sys/libmnn_c
mkdir "$sources"
cp -r "$root"/{CMakeLists.txt,LICENSE,THIRD-PARTY,backends,cmake,glsl,image,impl,include,onnx,schema} "$sources"
cp "$root/THIRD-PARTY" "$crates/mnn-c"
cp "$root/THIRD-PARTY" "$crates/mnn-c-sys"
quoted() { printf '%s' "$1" | sed 's/[\\"]/\\\\&/g; s/[&|]/\\&/g'; }
for manifest in "$crates"/*/Cargo.toml; do
    if [ -n "${MNN_C_MAINTAINER:-}" ]; then
        sed -i "s|^authors = .*|authors = [\"$(quoted "$MNN_C_MAINTAINER")\"]|" "$manifest"
    fi
    if [ -n "${MNN_C_REPOSITORY:-}" ]; then
        sed -i "s|^license = |repository = \"$(quoted "$MNN_C_REPOSITORY")\"\n&|" "$manifest"
    fi
done
cd "$crates"
CARGO_TARGET_DIR=$output/target "$cargo" package --workspace --locked "$@"
cp "$output"/target/package/*.crate "$output"
ls -l "$output"/*.crate
