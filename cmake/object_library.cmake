# Makes a part of mnn_c_core with options and a precompiled header of its own: the sources of a target can share a
# precompiled header only with equal options.
function(mnn_c_object_library name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE mnn_c_options mnn_c_wire)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:mnn_c_core,INTERFACE_INCLUDE_DIRECTORIES>)
  target_include_directories(${name} SYSTEM PRIVATE
    $<TARGET_PROPERTY:mnn_c_core,INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${name} PRIVATE $<TARGET_PROPERTY:mnn_c_core,COMPILE_DEFINITIONS>)
  target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:mnn_c_core,COMPILE_OPTIONS>)
endfunction()
