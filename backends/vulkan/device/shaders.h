// The compiled shaders, embedded at build time: one entry per kernel and variant of glsl/.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace mnnc::vulkan {

struct ShaderCode {
    const char* name;  // "softmax", "softmax_f16", "binary_i32"
    const uint32_t* words;
    size_t bytes;
};

std::span<const ShaderCode> embeddedShaders() noexcept;  // sorted by name

}  // namespace mnnc::vulkan
