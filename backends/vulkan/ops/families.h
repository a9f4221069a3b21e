// The tables of the families (families.def).
#pragma once
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

#define MNN_C_FAMILY(name) extern const VulkanFamily name##Vulkan;
#include "backends/vulkan/ops/families.def"
#undef MNN_C_FAMILY

}  // namespace mnnc::vulkan
