# Toolchain file: compiles for Linux with musl on x86-64, and runs the results on this machine, whose loader of musl is
# in Debian's package musl.
#     cmake --preset release --toolchain cmake/musl-x64.cmake -B build/musl-x64
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(MNN_C_BINUTILS "")
include(${CMAKE_CURRENT_LIST_DIR}/musl.cmake)
