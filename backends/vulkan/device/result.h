// Turns VkResults into Errors.
#pragma once
#include <volk.h>

namespace mnnc::vulkan {

// Throws Error with the status that fits (OutOfMemory, NotSupported, DeviceLost, DriverError) and a sentence that names
// the call, unless the result is VK_SUCCESS.
void check(VkResult result, const char* call);

const char* resultName(VkResult result) noexcept;

}  // namespace mnnc::vulkan
