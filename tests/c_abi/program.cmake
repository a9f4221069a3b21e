# mnn_c_abi_program(SOURCE LIBRARY_NAME): a C program of this folder, named as its source, against the shared library;
# LIBRARY_NAME is how the library names its file. The caller gives it cmocka.
function(mnn_c_abi_program source library_name)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE mnn_c_options ${CMAKE_DL_LIBS} m)
  if(name STREQUAL "dlopen_test")
    add_dependencies(${name} mnn_c)
  else()
    target_link_libraries(${name} PRIVATE mnn_c)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${name} PRIVATE
    _GNU_SOURCE
    MNN_C_DIGITS_MODEL="${MNN_C_DIGITS}"
    MNN_C_SHRINK_MODEL="${PROJECT_SOURCE_DIR}/examples/own_operator/shrink.mnn"
    MNN_C_CASES_FOLDER="${PROJECT_SOURCE_DIR}/tests/conformance/cases"
    MNN_C_NETS_FOLDER="${PROJECT_SOURCE_DIR}/tests/c_abi/nets"
    MNN_C_LIBRARY_PATH="$<TARGET_FILE:mnn_c>"
    MNN_C_LIBRARY_NAME="${library_name}"
    MNN_C_EXPORTS_FILE="${PROJECT_SOURCE_DIR}/tests/c_abi/exports.txt")
endfunction()
