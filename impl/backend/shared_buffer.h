// A buffer that a host and a device share, described by Vulkan's handles and sizes.
#pragma once
#include <cstdint>

namespace mnnc {

struct SharedBuffer {
    enum class Kind : uint8_t {
        Handle,     // on the device that the host and the library both use
        Descriptor  // memory that another device or process has, too
    };
    Kind kind = Kind::Handle;
    bool allocate = false;           // the backend makes the buffer and ignores the other fields
    uint64_t buffer = 0;             // VkBuffer
    uint64_t offset = 0, bytes = 0;  // place of the contents, in the buffer or, for a descriptor, in its memory
    // VkDeviceMemory, the place of the contents in it, and how it was allocated; 0 where unknown.
    uint64_t memory = 0, memoryOffset = 0, memoryBytes = 0;
    uint32_t memoryType = 0;
    int descriptor = -1;
};

}  // namespace mnnc
