# Toolchain file: compiles for 64-bit Windows on Debian (g++-mingw-w64-x86-64-posix), and runs the results with wine64.
#     cmake --preset release --toolchain cmake/windows-x64.cmake -B build/windows-x64
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_DLLTOOL x86_64-w64-mingw32-dlltool)
# Debian's wine is not on the path. Wine has its registry and its disk in the build folder, not in the user's home, and
# does not ask to install .NET and a browser. Nor does it start its debugger, under which a program that crashes ends
# with 0. `cmake -E env` is not used here, because it ends with 1, without a message, where a signal has ended the
# program.
find_program(MNN_C_WINE NAMES wine64 wine PATHS /usr/lib/wine)
find_program(MNN_C_WINE_SERVER NAMES wineserver PATHS /usr/lib/wine)
find_program(MNN_C_ENV env)
if(MNN_C_WINE)
  set(MNN_C_WINE_PREFIX ${CMAKE_BINARY_DIR}/wine)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MNN_C_ENV} WINEDEBUG=-all WINEPREFIX=${MNN_C_WINE_PREFIX}
    WINEDLLOVERRIDES=mscoree,mshtml,winedbg.exe= ${MNN_C_WINE})
endif()
# The results need no libraries but those of Windows.
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)

include(${CMAKE_CURRENT_LIST_DIR}/host_headers.cmake)
list(APPEND CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
