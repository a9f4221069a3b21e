# Puts libstdc++ and libgcc into a shared library made of mnn_c_core, mnn_c_image_core or mnn_c_onnx_core.
function(mnn_c_bring_own_runtime target)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/free_exception_pool.cpp)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
endfunction()
