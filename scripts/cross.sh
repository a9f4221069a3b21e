#!/usr/bin/env bash
# Builds, tests and packages for a system other than that of this machine; needs Debian.
#
#   scripts/cross.sh windows-x64 [STEP...]
#
# Steps, all of them in this order without any: install (the toolchain, with apt), build, test (under wine), package (a zip
# file, and programs that use it). The build folder is build/TARGET. Variables:
#   MNN_C_ISAS         instruction sets above SSE4 to compile kernels for, as for CMake; default avx2
#   MNN_C_EXTRA_CASES  absolute folders of further cases to test, separated by semicolons
#   MNN_C_HOST_TOOL    the absolute path of the program mnn of a build for this machine, whose results must have the same bits
#   JOBS               processes at a time
# CMake reads CMAKE_C_COMPILER_LAUNCHER and CMAKE_CXX_COMPILER_LAUNCHER.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-}
shift || true
if [ "$target" != windows-x64 ]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
fi
steps=("$@")
if [ ${#steps[@]} -eq 0 ]; then steps=(install build test package); fi
build=build/$target
jobs=${JOBS:-$(nproc)}

install_toolchain() {
    local packages=(g++-mingw-w64-x86-64-posix wine64 googletest python3 python3-numpy) missing=() package sudo=()
    for package in "${packages[@]}"; do
        dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ]; then sudo=(sudo); fi
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

for step in "${steps[@]}"; do
    case $step in
    install)
        scripts/install-dependencies.sh build
        install_toolchain
        ;;
    build)
        # The C++ runtime is inside of the libraries, so that they need those of Windows alone.
        cmake -S . -B "$build" -G Ninja --toolchain "$PWD/cmake/$target.cmake" -DCMAKE_BUILD_TYPE=Release -DMNN_C_WERROR=ON \
            -DMNN_C_STATIC_LIBSTDCXX=ON -DMNN_C_VULKAN=OFF -DMNN_C_PORTABLE=OFF -DMNN_C_ISAS="${MNN_C_ISAS:-avx2}" \
            -DMNN_C_HOST_TOOL="${MNN_C_HOST_TOOL:-}"
        cmake --build "$build" -j "$jobs"
        ;;
    test) ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" --timeout 1200 ;;
    package)
        rm -f "$build"/mnn_c-*.zip
        (cd "$build" && cpack)
        tests/windows/check_zip.sh "$build" "$build/unpacked"
        ;;
    *)
        echo "$0: there is no step '$step'" >&2
        exit 2
        ;;
    esac
done
