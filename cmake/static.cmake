# libmnn_c.a: one object in which only the public functions are global, as in the shared library. So no name of the
# engine, or of the libraries compiled in, can collide with a name of the program that links it.
set(MNN_C_STATIC_OBJECT ${CMAKE_CURRENT_BINARY_DIR}/mnn_c_$<CONFIG>.o)
separate_arguments(MNN_C_STATIC_FLAGS NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND MNN_C_STATIC_FLAGS -flinker-output=nolto-rel)  # where the objects are made for link-time optimization
endif()
add_custom_command(
  OUTPUT ${MNN_C_STATIC_OBJECT}
  COMMAND ${CMAKE_CXX_COMPILER} ${MNN_C_STATIC_FLAGS} -r -nostdlib -Wl,--force-group-allocation
          -Wl,--whole-archive $<TARGET_FILE:mnn_c_core> -o ${MNN_C_STATIC_OBJECT}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=mnn_* ${MNN_C_STATIC_OBJECT}
  DEPENDS mnn_c_core
  COMMENT "One object of the whole library"
  VERBATIM)
add_library(mnn_c_static STATIC ${MNN_C_STATIC_OBJECT})
add_library(mnn_c::mnn_c_static ALIAS mnn_c_static)
# The C++ runtime by name: a program in C alone need not enable C++.
set(MNN_C_CXX_RUNTIME ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER MNN_C_CXX_RUNTIME INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+)$")
list(REMOVE_DUPLICATES MNN_C_CXX_RUNTIME)
target_link_libraries(mnn_c_static INTERFACE ${MNN_C_CXX_RUNTIME} m ${CMAKE_DL_LIBS} Threads::Threads)
target_include_directories(mnn_c_static INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
set_target_properties(mnn_c_static PROPERTIES OUTPUT_NAME mnn_c LINKER_LANGUAGE C)
