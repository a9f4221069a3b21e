#!/usr/bin/env bash
# Builds, tests and packages for a system other than that of this machine; needs Debian.
#
#   scripts/cross.sh TARGET [STEP...]
#
# Targets:
#   windows-x64  64-bit Windows, by mingw-w64, tested under wine
#   musl-x64     Linux with musl on x86-64, by Zig's compiler, tested on this machine
#   musl-arm64   Linux with musl on 64-bit Arm, by Zig's compiler, tested under qemu-user
#   checks       macOS and Windows on 64-bit Arm, Linux on RISC-V: only compiles impl/base and the C interface
#
# Steps (default: all of them, in this order): install (the toolchain: Debian packages with apt, Zig with pip), build,
# test, package (a zip file or a .tar.gz, and programs that use it; for musl also the wheel of the Python package, in
# build/TARGET/unpacked/dist). The build folder is build/TARGET. Variables:
#   MNN_C_ISAS         instruction sets above SSE4 to compile kernels for, as for CMake; default avx2; on Arm neon
#   MNN_C_VULKAN       for windows-x64: OFF leaves out the Vulkan backend and its tests, which need a display; default ON
#   MNN_C_EXTRA_CASES  absolute folders of further cases to test, separated by semicolons
#   MNN_C_HOST_TOOL    absolute path of the program mnn of a build for this machine; results must have the same bits
#   MNN_C_ZIG          the program zig; default: that of PyPI's package ziglang, which is installed into build/zig
#   JOBS               number of processes at a time
# CMake reads CMAKE_C_COMPILER_LAUNCHER and CMAKE_CXX_COMPILER_LAUNCHER.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-}
shift || true
options=()
vulkan=OFF
packages=(googletest python3 python3-numpy)
isas=avx2
case $target in
# The C++ runtime is inside of the libraries, so they need only libraries of Windows.
windows-x64)
    packages+=(g++-mingw-w64-x86-64-posix wine64 cargo libstd-rust-dev-windows golang-go pkgconf python3-venv)
    options+=(-DMNN_C_STATIC_LIBSTDCXX=ON)
    vulkan=${MNN_C_VULKAN:-ON}
    if [ "$vulkan" != OFF ]; then packages+=(mesa-vulkan-drivers xvfb xauth); fi
    ;;
musl-x64) packages+=(python3-venv binutils musl) ;;
musl-arm64)
    packages+=(python3-venv gcc-aarch64-linux-gnu qemu-user)
    isas=neon
    ;;
checks) packages=(python3-venv g++-riscv64-linux-gnu) ;;
*)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
steps=("$@")
if [ ${#steps[@]} -eq 0 ]; then
    steps=(install build test package)
    if [ "$target" = checks ]; then steps=(install build); fi
fi
build=build/$target
jobs=${JOBS:-$(nproc)}

install_toolchain() {
    local missing=() package sudo=()
    for package in "${packages[@]}"; do
        dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ]; then sudo=(sudo); fi
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# PyPI's package has the compiler and the sources of musl and libc++. The compiler builds these once, in minutes.
install_zig() {
    if [ -n "${MNN_C_ZIG:-}" ] || compgen -G 'build/zig/lib/python3*/site-packages/ziglang/zig' >/dev/null; then return; fi
    python3 -m venv build/zig
    build/zig/bin/pip install --quiet --disable-pip-version-check ziglang==0.17.1
}

# Unpacks musl's loader for Arm from Debian's package into the build folder. Apt keeps its lists of packages for Arm
# there, too, so this machine's own lists stay as they are.
install_arm_loader() {
    local root=$PWD/$build/musl-root state=$PWD/$build/apt
    [ -e "$root/lib/ld-musl-aarch64.so.1" ] && return
    mkdir -p "$root" "$state"/{lists,archives}/partial
    touch "$state/status"
    local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$state/lists"
        -o Dir::State::status="$state/status" -o Dir::Cache="$state" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$state" && "${apt[@]}" download musl)
    dpkg-deb -x "$state"/musl_*_arm64.deb "$root"
}

for step in "${steps[@]}"; do
    case $step in
    install)
        scripts/install-dependencies.sh build
        install_toolchain
        case $target in musl-* | checks) install_zig ;; esac
        if [ "$target" = musl-arm64 ]; then install_arm_loader; fi
        ;;
    build)
        if [ "$target" = checks ]; then
            tests/cross/check_compiles.sh . "$build"
            continue
        fi
        cmake -S . -B "$build" -G Ninja --toolchain "$PWD/cmake/$target.cmake" -DCMAKE_BUILD_TYPE=Release -DMNN_C_WERROR=ON \
            -DMNN_C_VULKAN="$vulkan" -DMNN_C_PORTABLE=OFF -DMNN_C_ISAS="${MNN_C_ISAS:-$isas}" -DMNN_C_HOST_TOOL="${MNN_C_HOST_TOOL:-}" \
            "${options[@]}"
        cmake --build "$build" -j "$jobs"
        ;;
    test)
        run=(ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 1200)
        "${run[@]}" -LE vulkan -j "$jobs"
        # Wine has Vulkan only with a display. Its desktop keeps the output of the test that started it open until no
        # program is left, so these tests run one after another.
        if [ "$vulkan" != OFF ]; then xvfb-run --auto-servernum "${run[@]}" -L vulkan; fi
        ;;
    package)
        rm -f "$build"/mnn_c-*.zip "$build"/mnn_c-*.tar.gz
        (cd "$build" && cpack)
        case $target in
        windows-*)
            for part in zip rust go python; do tests/windows/check_$part.sh "$build" "$build/unpacked_$part"; done
            ;;
        musl-*)
            tests/musl/check_archive.sh "$build" "$build/unpacked"
            tests/musl/check_wheel.sh "$build" "$build/unpacked"
            ;;
        esac
        ;;
    *)
        echo "$0: there is no step '$step'" >&2
        exit 2
        ;;
    esac
done
