# The compiler options of every target of this project are in an interface library, so that none leaks into a parent
# project.
find_package(Threads REQUIRED)
add_library(mnn_c_options INTERFACE)
target_compile_features(mnn_c_options INTERFACE cxx_std_20 c_std_11)
target_link_libraries(mnn_c_options INTERFACE Threads::Threads)
# No gnu-unique symbols: a single one would make it impossible to unload the shared library.
target_compile_options(mnn_c_options INTERFACE
  -fPIC -fvisibility=hidden -Wall -Wextra -Wshadow -Wno-psabi
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>
  $<$<BOOL:${MNN_C_WERROR}>:-Werror>)
if(MNN_C_SANITIZE)
  target_compile_options(mnn_c_options INTERFACE
    -fsanitize=${MNN_C_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(mnn_c_options INTERFACE -fsanitize=${MNN_C_SANITIZE})
endif()
if(MNN_C_FUZZ)
  target_compile_options(mnn_c_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
