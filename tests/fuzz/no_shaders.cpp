// Replaces the shaders in builds without the Vulkan backend.
#include "backends/vulkan/device/shaders.h"

std::span<const mnnc::vulkan::ShaderCode> mnnc::vulkan::embeddedShaders() noexcept {
    return {};
}
