// Finds the drivers among the loaded libraries by the functions that the loader calls in them.
#include "backends/vulkan/device/driver_libraries.h"

#include "base/os/libraries.h"

namespace mnnc::vulkan {

std::vector<std::string> loadedDrivers() {
    return os::librariesWith({"vk_icdNegotiateLoaderICDInterfaceVersion", "vk_icdGetInstanceProcAddr"});
}

void keepDriversLoaded() {
    for (const std::string& path : loadedDrivers()) os::keepLoaded(path);
}

}  // namespace mnnc::vulkan
