// The families of operators, one file each: what table.cpp lists.
#pragma once
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

VulkanFamily rasterVulkan();       // Raster, and every change of storage
VulkanFamily activationVulkan();   // ReLU, ReLU6, PReLU, ELU, Selu, Threshold
VulkanFamily convolutionVulkan();  // convolutions and deconvolutions
VulkanFamily unaryVulkan();
VulkanFamily binaryVulkan();
VulkanFamily scaleVulkan();
VulkanFamily castVulkan();
VulkanFamily softmaxVulkan();
VulkanFamily normVulkan();  // LayerNorm, InstanceNorm
VulkanFamily reductionVulkan();
VulkanFamily searchVulkan();  // ArgMax, ArgMin
VulkanFamily selectVulkan();

}  // namespace mnnc::vulkan
