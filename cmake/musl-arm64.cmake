# Toolchain file: compiles for Linux with musl on 64-bit Arm, and runs the results with qemu-user. The loader of musl is
# in the folder musl-root of the build folder, where scripts/cross.sh puts it.
#     cmake --preset release --toolchain cmake/musl-arm64.cmake -B build/musl-arm64
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(MNN_C_BINUTILS aarch64-linux-gnu-)
find_program(MNN_C_QEMU qemu-aarch64)  # a whole path, because some tests run programs without PATH
set(CMAKE_CROSSCOMPILING_EMULATOR ${MNN_C_QEMU} -L ${CMAKE_BINARY_DIR}/musl-root)
include(${CMAKE_CURRENT_LIST_DIR}/musl.cmake)
# Functions for long double, for which Arm has no instructions, come from GCC's runtime (package gcc-aarch64-linux-gnu).
# Zig's runtime has them in one object with memcpy(), exp() and others, which would take the place of musl's; the
# results of its exp() have other last bits.
file(GLOB MNN_C_LIBGCC /usr/lib/gcc-cross/aarch64-linux-gnu/*/libgcc.a)
if(NOT MNN_C_LIBGCC)
  message(FATAL_ERROR "GCC's runtime for 64-bit Arm, libgcc.a, is not installed")
endif()
list(GET MNN_C_LIBGCC -1 MNN_C_LIBGCC)
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT ${MNN_C_LIBGCC})
