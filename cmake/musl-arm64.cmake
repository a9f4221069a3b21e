# Toolchain file: compiles for Linux with musl on 64-bit Arm, and runs the results with qemu-user. The loader of musl is in
# the folder musl-root of the build folder, where scripts/cross.sh puts it.
#     cmake --preset release --toolchain cmake/musl-arm64.cmake -B build/musl-arm64
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(MNN_C_BINUTILS aarch64-linux-gnu-)
find_program(MNN_C_QEMU qemu-aarch64)  # a whole path, because some tests run programs without PATH
set(CMAKE_CROSSCOMPILING_EMULATOR ${MNN_C_QEMU} -L ${CMAKE_BINARY_DIR}/musl-root)
include(${CMAKE_CURRENT_LIST_DIR}/musl.cmake)
