# cmake -DFOLDER=FOLDER -DNAMES=a,b,... -DSOURCE=FILE -P embed_shaders.cmake: writes the shaders FOLDER/a.spv ... as
# arrays of words, and their table, to one source. One process writes all of them: starting one takes longer than its
# work.
string(REPLACE "," ";" NAMES "${NAMES}")
set(arrays "")
set(rows "")
foreach(name ${NAMES})
  file(READ "${FOLDER}/${name}.spv" bytes HEX)
  string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${bytes}")
  string(APPEND arrays "const uint32_t spirv_${name}[] = {\n${words}};\n")
  string(APPEND rows "    {\"${name}\", spirv_${name}, sizeof spirv_${name}},\n")
endforeach()
file(WRITE "${SOURCE}" "#include \"backends/vulkan/device/shaders.h\"

namespace {
${arrays}}  // namespace

std::span<const mnnc::vulkan::ShaderCode> mnnc::vulkan::embeddedShaders() noexcept {
    static constexpr ShaderCode kShaders[] = {
${rows}    };
    return kShaders;
}
")
