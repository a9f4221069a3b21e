# Precompiles the standard headers that most sources include: they take a third of the compile time of a small file.
# CMAKE_DISABLE_PRECOMPILE_HEADERS disables it. The Arm build disables it, so that a missing #include is found, and so
# does a build with ccache, because the precompiled header differs in each build folder and its users would miss the
# cache.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
function(mnn_c_precompile target)
  target_precompile_headers(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/standard_headers.h>" ${ARGN})
endfunction()
