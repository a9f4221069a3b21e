// Restores the words of a shader, which are stored without their leading zero bytes, behind a table of their lengths.
#include "backends/vulkan/device/shaders.h"

namespace mnnc::vulkan {

std::vector<uint32_t> unpackShader(const ShaderCode& code) {
    std::vector<uint32_t> words(code.words);
    const uint8_t* lengths = code.packed;
    const uint8_t* from = lengths + (code.words + 3) / 4;
    for (size_t i = 0; i < words.size(); ++i) {
        const int last = lengths[i / 4] >> (i % 4 * 2) & 3;
        for (int byte = 0; byte <= last; ++byte) words[i] |= uint32_t{*from++} << (8 * byte);
    }
    return words;
}

}  // namespace mnnc::vulkan
