// Vulkan objects that the host made and owns: its instance, device and queue.
#pragma once
#include <cstdint>
#include <memory>

namespace mnnc {

struct HostVulkan {
    // VkInstance, VkPhysicalDevice, VkDevice, VkQueue
    void *instance = nullptr, *physicalDevice = nullptr, *device = nullptr, *queue = nullptr;
    uint32_t queueFamily = 0;
    bool storage16 = false;  // the device was created with 16-bit storage buffers
    // Called around each use of the queue; null: nothing else uses it meanwhile.
    void (*lockQueue)(void* user) = nullptr;
    void (*unlockQueue)(void* user) = nullptr;
    void* user = nullptr;
    std::shared_ptr<void> owner;  // keeps `user` alive
};

}  // namespace mnnc
