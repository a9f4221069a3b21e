#!/usr/bin/env bash
# Installs missing packages with apt and prints their names. Does nothing when everything is installed.
#     scripts/install-dependencies.sh [build]     with "build": only the packages of the library, the tool and the demo
set -euo pipefail

packages=(
    g++                 # compiles C++20
    cmake               # build
    ninja-build         # build
    libflatbuffers-dev  # reads the model format
    flatbuffers-compiler # flatc: headers from the schema, at build time
    libhwy-dev          # SIMD kernels (headers only)
    libvulkan-dev       # Vulkan backend: headers
    libvulkan-volk-dev  # Vulkan backend: finds the loader at run time
    glslang-tools       # Vulkan backend: compiles its kernels
    spirv-tools         # Vulkan backend: checks the compiled kernels
    libcli11-dev        # tool: arguments
    libfmt-dev          # tool: text
    libstb-dev          # libmnn_c_image: image files
    nlohmann-json3-dev  # tool: JSON
)
tests=(
    libgtest-dev        # tests in C++
    libcmocka-dev       # tests in C
    libbenchmark-dev    # times single kernels
    python3             # test drivers
    python3-numpy       # the Python binding
    python3-pycparser   # bindings/generate.py: reads the headers
    mesa-vulkan-drivers # a Vulkan device on machines without a GPU
    vulkan-validationlayers # checks every Vulkan call
    libsqlite3-dev      # example: the extension of SQLite
    sqlite3             # runs that extension
    cargo               # the Rust binding, with rustc
    golang-go           # the Go binding
    python3-venv        # holds the Zig compiler
    pkgconf             # lets programs find the installed library
    dpkg-dev            # packages: computes what a .deb depends on
    file                # packages: looks for what dpkg-dev has to read
    groff-base          # the manual page
    clang-format        # scripts/check.sh: version 14, as in Debian 12
    llvm                # llvm-mca, which estimates the kernels' inner loops on other processors
    g++-aarch64-linux-gnu # the Arm build: compiler
    qemu-user           # the Arm build: runs its programs
    googletest          # the Arm build: the test library's source
    abigail-tools       # the binary interface against its baseline
    doxygen             # the reference of the interface, and a test that it is complete
)
[ "${1:-}" = build ] || packages+=("${tests[@]}")

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "This system has no apt. Please install the equivalents of these packages: ${packages[*]}" >&2
    exit 1
fi
missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing what the build needs: ${missing[*]}"
sudo=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Please install as root: ${missing[*]}" >&2; exit 1; }
    sudo=(sudo)
fi
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
