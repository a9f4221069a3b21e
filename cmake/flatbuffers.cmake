# The wire format: flatc turns schema/mnn.fbs into a header at build time; nothing generated is committed.
find_program(MNN_C_FLATC flatc REQUIRED)
set(MNN_C_GENERATED_DIR ${CMAKE_CURRENT_BINARY_DIR}/generated)
add_custom_command(
  OUTPUT ${MNN_C_GENERATED_DIR}/mnn_generated.h
  COMMAND ${MNN_C_FLATC} --no-warnings --cpp --scoped-enums --gen-object-api --reflect-types -o ${MNN_C_GENERATED_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/schema/mnn.fbs
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/schema/mnn.fbs
  COMMENT "flatc schema/mnn.fbs"
  VERBATIM)
add_custom_target(mnn_c_wire_header DEPENDS ${MNN_C_GENERATED_DIR}/mnn_generated.h)
add_library(mnn_c_wire INTERFACE)
add_dependencies(mnn_c_wire mnn_c_wire_header)
target_include_directories(mnn_c_wire SYSTEM INTERFACE ${MNN_C_GENERATED_DIR})
