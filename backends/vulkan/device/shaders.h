// The compiled shaders, embedded at build time: one entry per kernel and variant of glsl/.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mnnc::vulkan {

struct ShaderCode {
    const char* name;       // "softmax", "softmax_f16", "binary_i32"
    const uint8_t* packed;  // as cmake/embed_shaders.cmake writes it
    size_t bytes;           // at packed
    size_t words;           // of the SPIR-V code
};

std::span<const ShaderCode> embeddedShaders() noexcept;  // sorted by name

// Returns the SPIR-V code.
std::vector<uint32_t> unpackShader(const ShaderCode& code);

}  // namespace mnnc::vulkan
