# For toolchain files: Linux with musl, on CMAKE_SYSTEM_PROCESSOR, by Zig's compiler and the binutils MNN_C_BINUTILS*.
set(CMAKE_SYSTEM_NAME Linux)
set(MNN_C_MUSL ON)
set(MNN_C_ZIG_TARGET ${CMAKE_SYSTEM_PROCESSOR}-linux-musl)
set(MNN_C_ZIG_FLAGS -dynamic)  # otherwise programs are linked with a static libc, and can load no library
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
foreach(name AR RANLIB STRIP OBJCOPY)
  string(TOLOWER ${name} program)
  find_program(CMAKE_${name} ${MNN_C_BINUTILS}${program} REQUIRED)
endforeach()
find_program(MNN_C_RELOCATABLE_LINKER ${MNN_C_BINUTILS}ld REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/host_headers.cmake)
