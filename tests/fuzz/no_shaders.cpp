// In builds without the Vulkan backend.
#include "backends/vulkan/shaders.h"

std::span<const mnnc::vulkan::ShaderCode> mnnc::vulkan::embeddedShaders() noexcept {
    return {};
}
