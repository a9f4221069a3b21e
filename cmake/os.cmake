# impl/base/os has one source per subject and system: NAME_posix.cpp, NAME_linux.cpp, NAME_macos.cpp, NAME_windows.cpp.
# Only this file chooses between these sources; no other source of the libraries or the tool includes a header of a
# system.
set(MNN_C_OS_FOLDER ${CMAKE_CURRENT_SOURCE_DIR}/impl/base/os)
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  set(MNN_C_OS_SUFFIXES posix|linux)
elseif(WIN32)
  set(MNN_C_OS_SUFFIXES windows)
elseif(CMAKE_SYSTEM_NAME STREQUAL Darwin)  # compiled by tests/cross/check_compiles.sh alone
  set(MNN_C_OS_SUFFIXES posix|macos)
else()
  message(FATAL_ERROR "impl/base/os has no sources for ${CMAKE_SYSTEM_NAME}")
endif()
file(GLOB MNN_C_OS_SOURCES CONFIGURE_DEPENDS ${MNN_C_OS_FOLDER}/*.cpp)
set(MNN_C_OS_ALL ${MNN_C_OS_SOURCES})
list(FILTER MNN_C_OS_SOURCES INCLUDE REGEX "_(${MNN_C_OS_SUFFIXES})\\.cpp$")
# libmnn_c_onnx reads and writes files, and the tool builds their names; the tool also asks for the terminal.
set(MNN_C_OS_FILES ${MNN_C_OS_SOURCES})
list(FILTER MNN_C_OS_FILES INCLUDE REGEX "/(files|paths)_[a-z]+\\.cpp$")
set(MNN_C_OS_TERMINAL ${MNN_C_OS_SOURCES})
list(FILTER MNN_C_OS_TERMINAL INCLUDE REGEX "/terminal_[a-z]+\\.cpp$")
list(REMOVE_ITEM MNN_C_OS_SOURCES ${MNN_C_OS_TERMINAL})
