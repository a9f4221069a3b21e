# The compiler options of every target of this project are in an interface library, so that none leaks into a parent
# project.
find_package(Threads REQUIRED)
add_library(mnn_c_options INTERFACE)
target_compile_features(mnn_c_options INTERFACE cxx_std_20 c_std_11)
target_link_libraries(mnn_c_options INTERFACE Threads::Threads)
target_compile_options(mnn_c_options INTERFACE -Wall -Wextra -Wshadow -Wno-psabi $<$<BOOL:${MNN_C_WERROR}>:-Werror>)
if(WIN32)
  # GCC aligns the stack of Windows to 16 bytes, and yet moves wider vectors to it with instructions that want more (GCC
  # PR 54412). The assembler makes others of them, which are as fast where the address is aligned.
  target_compile_options(mnn_c_options INTERFACE -Wa,-muse-unaligned-vector-move)
  # The compiler checks formats as if Microsoft's printf read them; they are checked on other systems.
  target_compile_options(mnn_c_options INTERFACE -Wno-format)
  target_link_libraries(mnn_c_options INTERFACE synchronization)
else()
  # No gnu-unique symbols: a single one would make it impossible to unload the shared library.
  target_compile_options(mnn_c_options INTERFACE
    -fPIC -fvisibility=hidden
    $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
endif()
if(MNN_C_SANITIZE)
  target_compile_options(mnn_c_options INTERFACE
    -fsanitize=${MNN_C_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(mnn_c_options INTERFACE -fsanitize=${MNN_C_SANITIZE})
endif()
if(MNN_C_FUZZ)
  target_compile_options(mnn_c_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
