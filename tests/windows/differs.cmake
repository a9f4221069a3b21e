# tests/cross includes this file for Windows. The C interface tests that fork or send signals are skipped one by one. These are
# left out as a whole:
list(APPEND left_out
  constants_test release_test release_keeping_test  # the memory and open files of a process, from /proc
  hot_path_test           # replaces malloc() in the whole process
  probe_test              # a driver of Vulkan for ELF
  runtime_placement_test  # reads the affinity of threads with calls of Linux
  saved_files_test        # symbolic links, pipes, rights; windows.files takes its place
  shared_memory_test      # file descriptors, over a socket
  submit_fork_test submit_vulkan_test vulkan_test)  # fork()
set(more_tests ${CMAKE_CURRENT_LIST_DIR}/files_test.c)
list(APPEND folders ${CMAKE_CURRENT_LIST_DIR})
set(options -include ${CMAKE_CURRENT_LIST_DIR}/posix.h)
set(definitions __USE_MINGW_ANSI_STDIO=1 MNN_C_FILE_STEP=7)
set(library_name mnn_c.dll)
set(program ${PROJECT_BINARY_DIR}/mnn.exe)
set(other_functions ${CMAKE_CURRENT_LIST_DIR}/other_functions.txt)
