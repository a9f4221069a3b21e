# The Vulkan backend: kernels of glsl/ become SPIR-V and then one generated source. AUTO builds it where its tools are
# installed.
set(MNN_C_VULKAN AUTO CACHE STRING "Build the Vulkan backend: ON, OFF, or AUTO (when its build tools are there)")
find_program(MNN_C_GLSLANG glslangValidator)
find_program(MNN_C_SPIRV_VAL spirv-val)
find_program(MNN_C_SPIRV_OPT spirv-opt)
find_path(MNN_C_VOLK_INCLUDE volk.c)
find_path(MNN_C_VULKAN_INCLUDE vulkan/vulkan.h)
set(MNN_C_WITH_VULKAN OFF)
if(MNN_C_VULKAN AND MNN_C_GLSLANG AND MNN_C_VOLK_INCLUDE AND MNN_C_VULKAN_INCLUDE)
  set(MNN_C_WITH_VULKAN ON)
elseif(MNN_C_VULKAN AND NOT MNN_C_VULKAN STREQUAL AUTO)
  message(FATAL_ERROR "MNN_C_VULKAN needs glslangValidator, volk.c and vulkan/vulkan.h")
elseif(MNN_C_VULKAN)
  message(STATUS "Without the Vulkan backend: glslangValidator, volk.c or vulkan/vulkan.h is missing")
endif()
if(NOT MNN_C_WITH_VULKAN)
  return()
endif()

# The first line of a kernel lists its variants. A variant is words joined by '_', each of which defines a macro and is
# a suffix of the name; f32 adds no suffix.
file(GLOB MNN_C_KERNELS_GLSL CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/glsl/*.comp)
set(MNN_C_SPIRV_DIR ${CMAKE_CURRENT_BINARY_DIR}/spirv)
file(MAKE_DIRECTORY ${MNN_C_SPIRV_DIR})
# These passes make the code a fifth smaller: variables of functions become values, and unused code is removed.
# Functions are not inlined, which would make the code larger, and no arithmetic is rewritten.
set(MNN_C_SPIRV_PASSES
  --eliminate-local-single-block --eliminate-local-single-store --eliminate-dead-branches --ssa-rewrite
  --eliminate-dead-code-aggressive --redundancy-elimination --eliminate-dead-code-aggressive --cfg-cleanup --compact-ids)
set(MNN_C_SHADER_NAMES)
set(MNN_C_SHADERS)
foreach(kernel ${MNN_C_KERNELS_GLSL})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel})
  get_filename_component(base ${kernel} NAME_WE)
  file(STRINGS ${kernel} first LIMIT_COUNT 1)
  if(NOT first MATCHES "^// variants: ([a-z0-9_ ]+)$")
    message(FATAL_ERROR "${kernel}: the first line must be '// variants: f32 f16 ...'")
  endif()
  string(REPLACE " " ";" variants ${CMAKE_MATCH_1})
  foreach(variant ${variants})
    set(name ${base})
    set(define)
    string(REPLACE "_" ";" words ${variant})
    foreach(word ${words})
      if(NOT word STREQUAL f32)
        string(APPEND name _${word})
      endif()
      if(word STREQUAL f16)
        set(word half)
      elseif(word STREQUAL i32)
        set(word int)
      endif()
      string(TOUPPER ${word} word)
      list(APPEND define -D${word})
    endforeach()
    set(spirv ${MNN_C_SPIRV_DIR}/${name}.spv)
    set(optimize)
    if(MNN_C_SPIRV_OPT)
      set(optimize COMMAND ${MNN_C_SPIRV_OPT} ${MNN_C_SPIRV_PASSES} ${spirv} -o ${spirv})
    endif()
    set(validate)
    if(MNN_C_SPIRV_VAL)
      set(validate COMMAND ${MNN_C_SPIRV_VAL} --target-env vulkan1.1 ${spirv})
    endif()
    add_custom_command(
      OUTPUT ${spirv}
      COMMAND ${MNN_C_GLSLANG} -V --quiet --target-env vulkan1.1 -g0 ${define} --depfile ${spirv}.d -o ${spirv}
              ${kernel}
      ${optimize}
      ${validate}
      DEPENDS ${kernel}
      DEPFILE ${spirv}.d
      COMMENT "glslang ${name}"
      VERBATIM)
    list(APPEND MNN_C_SHADER_NAMES ${name})
    list(APPEND MNN_C_SHADERS ${spirv})
  endforeach()
endforeach()

# The order is that of strcmp, '_' after digits and before letters, because PipelineFactory searches by bisection.
list(SORT MNN_C_SHADER_NAMES)
list(JOIN MNN_C_SHADER_NAMES "," names)
add_custom_command(
  OUTPUT ${MNN_C_SPIRV_DIR}/shaders.cpp
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${MNN_C_SPIRV_DIR} -DNAMES=${names} -DSOURCE=${MNN_C_SPIRV_DIR}/shaders.cpp
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_shaders.cmake
  DEPENDS ${MNN_C_SHADERS} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_shaders.cmake
  VERBATIM)
file(GLOB MNN_C_VULKAN_SOURCES CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/backends/vulkan/*.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/backends/vulkan/*/*.cpp)
mnn_c_small_library(mnn_c_vulkan ${MNN_C_VULKAN_SOURCES})
# Code fills the fields of Vulkan's structs one by one after sType, so initializers are incomplete.
target_compile_options(mnn_c_vulkan PRIVATE -Wno-missing-field-initializers)
add_library(mnn_c_volk OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/backends/vulkan/volk.c)
set_target_properties(mnn_c_volk PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
target_include_directories(mnn_c_volk SYSTEM PUBLIC ${MNN_C_VOLK_INCLUDE} ${MNN_C_VULKAN_INCLUDE})
target_sources(mnn_c_core PRIVATE ${MNN_C_SPIRV_DIR}/shaders.cpp $<TARGET_OBJECTS:mnn_c_vulkan> $<TARGET_OBJECTS:mnn_c_volk>)
set_source_files_properties(backends/backends.cpp PROPERTIES COMPILE_DEFINITIONS MNN_C_WITH_VULKAN)
target_include_directories(mnn_c_core SYSTEM PUBLIC ${MNN_C_VOLK_INCLUDE} ${MNN_C_VULKAN_INCLUDE})
target_link_libraries(mnn_c_core PUBLIC ${CMAKE_DL_LIBS})
