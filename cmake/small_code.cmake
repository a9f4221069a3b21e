# Code that verifies, plans and calls is run once per model or per command: compiled for size, it is fewer pages in memory.
# It is a library of objects, because the sources of a target share a precompiled header only with equal optimisation.
if(CMAKE_CXX_FLAGS MATCHES "-O[0-9sz]")
  return()
endif()
set(MNN_C_SMALL_ROOMS c_api ops plan schedule session)
list(TRANSFORM MNN_C_SMALL_ROOMS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/impl/\\1/*.cpp")
file(GLOB MNN_C_SMALL CONFIGURE_DEPENDS ${MNN_C_SMALL_ROOMS}
  ${CMAKE_CURRENT_SOURCE_DIR}/impl/model/verify*.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/impl/model/table_rules.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/impl/model/parameter_count.cpp)
if(MNN_C_WITH_VULKAN)
  list(APPEND MNN_C_SMALL ${MNN_C_VULKAN_SOURCES})
endif()
add_library(mnn_c_small OBJECT ${MNN_C_SMALL})
target_link_libraries(mnn_c_small PRIVATE mnn_c_options mnn_c_wire)
target_include_directories(mnn_c_small PRIVATE $<TARGET_PROPERTY:mnn_c_core,INTERFACE_INCLUDE_DIRECTORIES>)
target_include_directories(mnn_c_small SYSTEM PRIVATE
  $<TARGET_PROPERTY:mnn_c_core,INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>)
target_compile_definitions(mnn_c_small PRIVATE $<TARGET_PROPERTY:mnn_c_core,COMPILE_DEFINITIONS>)
target_compile_options(mnn_c_small PRIVATE $<TARGET_PROPERTY:mnn_c_core,COMPILE_OPTIONS> $<$<CONFIG:Release>:-Os>)
get_target_property(MNN_C_SOURCES mnn_c_core SOURCES)
list(REMOVE_ITEM MNN_C_SOURCES ${MNN_C_SMALL})
set_property(TARGET mnn_c_core PROPERTY SOURCES ${MNN_C_SOURCES} $<TARGET_OBJECTS:mnn_c_small>)
