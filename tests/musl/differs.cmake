# tests/cross includes this file for musl. These C interface tests are left out as a whole:
list(APPEND left_out
  hot_path_test  # replaces malloc() by names that glibc gives its own
  probe_test submit_vulkan_test vulkan_test)  # the build has no Vulkan
if(CMAKE_CROSSCOMPILING_EMULATOR)
  list(APPEND left_out submit_fork_test)  # qemu-user ends in an assertion of its own after fork() of several threads
endif()
set(definitions MNN_C_LIBRARIES_STAY)
set(library_name libmnn_c)
set(program ${PROJECT_BINARY_DIR}/tools/mnn/mnn)
set(other_functions ${CMAKE_CURRENT_LIST_DIR}/other_functions_${CMAKE_SYSTEM_PROCESSOR}.txt)
# A thread of a host has 128 KiB of stack here.
if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
  add_test(NAME small_stack COMMAND sh -c "ulimit -s 128 && exec \"$0\" verify --threads 2 \"$1\"" $<TARGET_FILE:mnn>
    ${PROJECT_SOURCE_DIR}/tests/conformance/cases)
endif()
