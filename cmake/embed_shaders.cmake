# cmake -DFOLDER=FOLDER -DNAMES=a,b,... -DSOURCE=FILE -P embed_shaders.cmake: the shaders FOLDER/a.spv ... as arrays of
# bytes, and their table, in one source. One process writes all of them, because starting a process takes longer than
# its work.
#
# Most words of SPIR-V are small numbers, so each is kept without its leading zero bytes, which halves the code: two
# bits for each word with its number of bytes less one, the first word in the lowest bits, then the bytes of all words.
string(REPLACE "," ";" NAMES "${NAMES}")
set(arrays "")
set(rows "")
foreach(name ${NAMES})
  file(READ "${FOLDER}/${name}.spv" words HEX)
  string(REGEX REPLACE "(........)" "\\1," words "${words}")
  # The end of each word becomes a letter, A for one byte to D for four.
  string(REPLACE "000000," "A" words "${words}")
  string(REPLACE "0000," "B" words "${words}")
  string(REPLACE "00," "C" words "${words}")
  string(REPLACE "," "D" words "${words}")
  string(REGEX REPLACE "[0-9a-f]" "" lengths "${words}")
  string(REGEX REPLACE "[A-D]" "" bytes "${words}")
  string(LENGTH "${lengths}" count)
  math(EXPR missing "(4 - ${count} % 4) % 4")
  string(REPEAT "A" ${missing} padding)
  string(REGEX REPLACE "(..)" "\\1," lengths "${lengths}${padding}")
  foreach(digit RANGE 15)
    math(EXPR low "${digit} % 4")
    math(EXPR high "${digit} / 4")
    string(SUBSTRING "ABCD" ${low} 1 low)
    string(SUBSTRING "ABCD" ${high} 1 high)
    string(SUBSTRING "0123456789abcdef" ${digit} 1 hex)
    string(REPLACE "${low}${high}," "${hex}" lengths "${lengths}")
  endforeach()
  string(REGEX REPLACE "(.)(.)" "0x\\2\\1," lengths "${lengths}")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const uint8_t spirv_${name}[] = {\n${lengths}\n${bytes}};\n")
  string(APPEND rows "    {\"${name}\", spirv_${name}, sizeof spirv_${name}, ${count}},\n")
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
