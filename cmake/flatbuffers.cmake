# The wire format: flatc generates headers from schema/mnn.fbs at build time; nothing generated is committed. The object
# API (structs that tests and libmnn_c_onnx build models from) is in a second header for these consumers alone, and its
# functions are in a source of their own, which mnn_c_wire_objects compiles once. Both headers have the same include
# guard, so a source gets one of them.
find_program(MNN_C_FLATC flatc REQUIRED)
set(MNN_C_GENERATED_DIR ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(MNN_C_FLATC_TO_CPP ${MNN_C_FLATC} --no-warnings --cpp --scoped-enums -o ${MNN_C_GENERATED_DIR})
add_custom_command(
  OUTPUT ${MNN_C_GENERATED_DIR}/mnn_generated.h ${MNN_C_GENERATED_DIR}/mnn_objects_generated.h
         ${MNN_C_GENERATED_DIR}/mnn_objects_generated.cpp
  COMMAND ${MNN_C_FLATC_TO_CPP} --reflect-types ${CMAKE_CURRENT_SOURCE_DIR}/schema/mnn.fbs
  COMMAND ${MNN_C_FLATC_TO_CPP} --gen-object-api --filename-suffix _objects_generated
          ${CMAKE_CURRENT_SOURCE_DIR}/schema/mnn.fbs
  COMMAND ${CMAKE_COMMAND} -DHEADER=${MNN_C_GENERATED_DIR}/mnn_objects_generated.h
          -DSOURCE=${MNN_C_GENERATED_DIR}/mnn_objects_generated.cpp
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/split_objects.cmake
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/schema/mnn.fbs ${CMAKE_CURRENT_SOURCE_DIR}/cmake/split_objects.cmake
  COMMENT "flatc schema/mnn.fbs"
  VERBATIM)
# The schema is also embedded as data: it names the fields that hosts see as attributes, and holds their defaults.
add_custom_command(
  OUTPUT ${MNN_C_GENERATED_DIR}/mnn_schema.h
  COMMAND ${MNN_C_FLATC} --no-warnings --binary --schema -o ${MNN_C_GENERATED_DIR}
          ${CMAKE_CURRENT_SOURCE_DIR}/schema/mnn.fbs
  COMMAND ${CMAKE_COMMAND} -DFILE=${MNN_C_GENERATED_DIR}/mnn.bfbs -DHEADER=${MNN_C_GENERATED_DIR}/mnn_schema.h
          -DNAME=kSchemaWords -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_words.cmake
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/schema/mnn.fbs ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_words.cmake
  COMMENT "flatc schema/mnn.fbs as data"
  VERBATIM)
add_custom_target(mnn_c_wire_header
  DEPENDS ${MNN_C_GENERATED_DIR}/mnn_generated.h ${MNN_C_GENERATED_DIR}/mnn_objects_generated.h
          ${MNN_C_GENERATED_DIR}/mnn_schema.h)
add_library(mnn_c_wire INTERFACE)
add_dependencies(mnn_c_wire mnn_c_wire_header)
target_include_directories(mnn_c_wire SYSTEM INTERFACE ${MNN_C_GENERATED_DIR})
if(MNN_C_TESTS OR MNN_C_ONNX OR MNN_C_TOOLS)
  add_library(mnn_c_wire_objects STATIC ${MNN_C_GENERATED_DIR}/mnn_objects_generated.cpp)
  target_link_libraries(mnn_c_wire_objects PUBLIC mnn_c_wire PRIVATE mnn_c_options)
  # generated code, which runs in tests and once for a conversion
  target_compile_options(mnn_c_wire_objects PRIVATE -O1 -w)
endif()
