# Standard headers that most sources include, precompiled: they take a third of the time of a small file.
# CMAKE_DISABLE_PRECOMPILE_HEADERS leaves them out; the Arm build does, so that a missing #include is seen, and so does
# ccache, which would have to see the precompiled header's content as new in each build folder.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
function(mnn_c_precompile target)
  target_precompile_headers(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/standard_headers.h>" ${ARGN})
endfunction()
