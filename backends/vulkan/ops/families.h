// The families of operators, one file each: what table.cpp lists.
#pragma once
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

VulkanFamily rasterVulkan();       // Raster, and every change of storage
VulkanFamily activationVulkan();   // ReLU, ReLU6
VulkanFamily convolutionVulkan();  // convolutions and deconvolutions

}  // namespace mnnc::vulkan
