// Dynamic libraries of the process, and memory that processes share by file descriptors.
#pragma once
#include <string>
#include <vector>

namespace mnnc::os {

// The file name of the Vulkan loader.
extern const char* const kVulkanLoader;

// Returns the paths of the dynamic libraries that are loaded now and have one of these functions.
std::vector<std::string> librariesWith(const std::vector<const char*>& functions);
// Keeps a loaded library until the process ends.
void keepLoaded(const std::string& path) noexcept;

// Returns a descriptor of the same memory, which a child process does not inherit; below 0 where the number is no
// descriptor, or the system has none.
int duplicateDescriptor(int descriptor) noexcept;
void closeDescriptor(int descriptor) noexcept;

}  // namespace mnnc::os
