# tests/cross includes this file for Windows. The C interface tests that fork or send signals are skipped one by one. These are
# left out as a whole:
list(APPEND left_out
  probe_test         # names drivers of its own by variables that wine does not read
  submit_fork_test)  # each of its tests is about a child of fork()
if(NOT MNN_C_WITH_VULKAN)  # device_test, callbacks_test and others check that the library says so
  list(APPEND left_out asking_vulkan_test cache_test callbacks_vulkan_test device_buffer_test submit_vulkan_test vulkan_test)
endif()
set(more_tests ${CMAKE_CURRENT_LIST_DIR}/files_test.c)
list(APPEND folders ${CMAKE_CURRENT_LIST_DIR})
set(options -include ${CMAKE_CURRENT_LIST_DIR}/posix.h)
set(definitions __USE_MINGW_ANSI_STDIO=1 MNN_C_FILE_STEP=7)
set(library_name mnn_c.dll)
set(program ${PROJECT_BINARY_DIR}/mnn.exe)
set(other_functions ${CMAKE_CURRENT_LIST_DIR}/other_functions.txt)
