# The kernels of the CPU are an object library with options and a precompiled header of its own.
file(GLOB MNN_C_KERNELS CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/backends/cpu/kernels/*.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/backends/cpu/kernels/*/*.cpp)
list(REMOVE_ITEM MNN_C_SOURCES ${MNN_C_KERNELS})
mnn_c_object_library(mnn_c_kernels ${MNN_C_KERNELS})
# Products and sums are rounded as they are written, and fused only where a kernel says so: compilers differ in what
# they fuse, and the bits of results would depend on the compiler.
target_compile_options(mnn_c_kernels PRIVATE -ffp-contract=off)

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Most loops of kernels that copy or clear are a few vectors long, shorter than a call of memcpy() or memset().
  target_compile_options(mnn_c_kernels PRIVATE -fno-tree-loop-distribute-patterns)
  # Tiles have outer loops whose last round differs. GCC would give that round a copy of the whole tile.
  target_compile_options(mnn_c_kernels PRIVATE -fno-split-loops)
  # Highway ignores these warnings of GCC's intrinsics by pragmas, which a precompiled header does not keep.
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(mnn_c_kernels PRIVATE -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
endif()
# Undefined-behaviour checks inside unrolled SIMD code multiply its compile time and find no memory errors. With the
# other sanitizers it takes an hour to compile, so MNN_C_SANITIZE_KERNELS=OFF compiles the kernels without any.
if(MNN_C_SANITIZE AND NOT MNN_C_SANITIZE_KERNELS)
  target_compile_options(mnn_c_kernels PRIVATE -fno-sanitize=all -O2 -g0)
elseif(MNN_C_SANITIZE MATCHES undefined)
  target_compile_options(mnn_c_kernels PRIVATE
    -fno-sanitize=undefined -O1 -g0 $<$<BOOL:${MNN_C_FUZZ}>:-fno-sanitize=fuzzer-no-link>
    # Checks that are made by calls leave GCC a third of the code to optimise.
    $<$<CXX_COMPILER_ID:GNU>:--param=asan-instrumentation-with-call-threshold=0>)
endif()
mnn_c_precompile(mnn_c_kernels ${CMAKE_CURRENT_SOURCE_DIR}/cmake/kernel_headers.h)
mnn_c_unity(mnn_c_kernels)

# With Clang's address checks these files take minutes to compile; the preset asan checks them with GCC.
if(MNN_C_FUZZ)
  file(GLOB slow CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/backends/cpu/kernels/int8/*.cpp)
  set_source_files_properties(${slow} PROPERTIES COMPILE_OPTIONS -fno-sanitize=address SKIP_PRECOMPILE_HEADERS ON)
endif()
# Tiles fill the registers of 64-bit Arm: if GCC moved loads up, sums would be spilled to the stack.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  foreach(name gemm/panel_kernels gemm/bf16_arm_kernels gemm/fp16_arm_kernels int8/int8_gemm_kernels int8/int8_arm_gemm_kernels
               w8a16/w8a16_arm_gemm_kernels)
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/backends/cpu/kernels/${name}.cpp PROPERTIES
      COMPILE_OPTIONS -fno-schedule-insns SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endif()
