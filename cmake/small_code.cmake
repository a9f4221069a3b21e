# Code that verifies, plans and dispatches runs once per model or per command, and what describes the processor once per
# process, so it is compiled for size and takes fewer pages of memory.
function(mnn_c_small_library name)
  mnn_c_object_library(${name} ${ARGN})
  # An optimisation level in the flags is the builder's choice for all code.
  if(NOT CMAKE_CXX_FLAGS MATCHES "-O[0-9sz]")
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  mnn_c_precompile(${name})
  mnn_c_unity(${name})
endfunction()

set(MNN_C_SMALL_ROOMS c_api ir net ops plan schedule session)
list(TRANSFORM MNN_C_SMALL_ROOMS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/impl/\\1/*.cpp")
file(GLOB MNN_C_SMALL CONFIGURE_DEPENDS ${MNN_C_SMALL_ROOMS}
  ${CMAKE_CURRENT_SOURCE_DIR}/impl/model/verify*.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/impl/model/table_rules.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/impl/model/parameter_count.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/backends/cpu/processor/*.cpp)
list(APPEND MNN_C_SMALL ${MNN_C_OS_SOURCES})
list(REMOVE_ITEM MNN_C_SOURCES ${MNN_C_SMALL})
mnn_c_small_library(mnn_c_small ${MNN_C_SMALL})
