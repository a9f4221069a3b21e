# mnn_c_unity(TARGET): the small sources of a folder are compiled up to 16 at a time, because most of the time goes into
# headers. A name in an anonymous namespace must therefore be unique in its folder, because any sources may come
# together (an alias may be repeated). Kernels that include themselves for each instruction set stay alone; so do
# generated sources and, by a rule of CMake, those with options or definitions of their own. MNN_C_UNITY=OFF compiles
# each source alone: for tools that look at single sources, for repeated builds after small changes, and to check that
# each source includes what it uses.
option(MNN_C_UNITY "Compile the small sources of a folder some at a time" ON)

function(mnn_c_unity target)
  if(NOT MNN_C_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    return()
  endif()
  set(together 16)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${path}" own)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${path}" generated)
    if(NOT own OR generated OR NOT path MATCHES "\\.cpp$")
      continue()
    endif()
    file(STRINGS "${path}" for_each_set REGEX "#include \"hwy/foreach_target.h\"")
    if(for_each_set)
      continue()
    endif()
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} "${path}")
    get_filename_component(folder "${path}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(LENGTH sources_of_${folder} before)
    list(APPEND sources_of_${folder} "${source}")
    math(EXPR group "${before} / ${together}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
