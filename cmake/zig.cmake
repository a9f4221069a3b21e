# For toolchain files: Zig's compiler (PyPI's package ziglang) for MNN_C_ZIG_TARGET, with the flags MNN_C_ZIG_FLAGS. The
# environment variable MNN_C_ZIG names the program; otherwise the one is taken that scripts/cross.sh puts into
# build/zig. It links libc++ statically.
if(NOT "$ENV{MNN_C_ZIG}" STREQUAL "")
  set(zig $ENV{MNN_C_ZIG})
else()
  file(GLOB zig ${CMAKE_CURRENT_LIST_DIR}/../build/zig/lib/python3*/site-packages/ziglang/zig)
endif()
if(NOT EXISTS "${zig}")
  message(FATAL_ERROR "There is no Zig compiler: scripts/cross.sh TARGET install gets one, or MNN_C_ZIG names its program")
endif()
# By these names CMake and ccache recognise the kind of compiler. CMake's own small projects include this file with
# other build folders, and need the same paths.
set(compilers ${CMAKE_CURRENT_LIST_DIR}/../build/zig-${MNN_C_ZIG_TARGET})
cmake_path(NORMAL_PATH compilers)
foreach(pair clang=cc clang++=c++)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 command)
  set(program ${compilers}/${name})
  file(CONFIGURE OUTPUT ${program}
    CONTENT "#!/bin/sh\nexec ${zig} ${command} -target ${MNN_C_ZIG_TARGET} ${MNN_C_ZIG_FLAGS} -fno-sanitize=undefined \"$@\"\n" @ONLY)
  file(CHMOD ${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${compilers}/clang)
set(CMAKE_CXX_COMPILER ${compilers}/clang++)
set(MNN_C_CXX_RUNTIME c++)
# Zig's linker has no --push-state, which CMake puts around --whole-archive otherwise.
foreach(language C CXX)
  set(CMAKE_${language}_LINK_LIBRARY_USING_WHOLE_ARCHIVE -Wl,--whole-archive <LINK_ITEM> -Wl,--no-whole-archive)
  set(CMAKE_${language}_LINK_LIBRARY_USING_WHOLE_ARCHIVE_SUPPORTED TRUE)
endforeach()
