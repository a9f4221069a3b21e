# Each static library consists of one object, in which only the public functions are global, as in the shared libraries.
# So no name of the engine, or of the libraries compiled in, can collide with a name of the program that links it.

# The C++ runtime is linked by name, so that a program in C alone need not enable C++.
if(NOT DEFINED MNN_C_CXX_RUNTIME)  # a toolchain file may define it
  set(MNN_C_CXX_RUNTIME ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
  list(FILTER MNN_C_CXX_RUNTIME INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+)$")
  list(REMOVE_DUPLICATES MNN_C_CXX_RUNTIME)
endif()

# Makes TARGET, the archive libNAME.a in the build folder, of the objects of the static library CORE and of the further
# libraries in the arguments.
function(mnn_c_one_object_library target name core)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}_$<CONFIG>.o)
  set(archives ${core} ${ARGN})
  list(TRANSFORM archives REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND flags -flinker-output=nolto-rel)  # for objects that are compiled for link-time optimization
  endif()
  set(link ${CMAKE_CXX_COMPILER} ${flags} -r -nostdlib -Wl,--force-group-allocation -Wl,--whole-archive)
  if(MNN_C_RELOCATABLE_LINKER)  # set by a toolchain file whose compiler cannot link objects with -r
    set(link ${MNN_C_RELOCATABLE_LINKER} -r --force-group-allocation --whole-archive)
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${link} ${files} -o ${object}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=mnn_* ${object}
    DEPENDS ${archives}
    COMMENT "One object of the whole of lib${name}"
    VERBATIM)
  add_library(${target} STATIC ${object})
  add_library(mnn_c::${target} ALIAS ${target})
  target_link_libraries(${target} INTERFACE ${MNN_C_CXX_RUNTIME} m ${CMAKE_DL_LIBS} Threads::Threads)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()
