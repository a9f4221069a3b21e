// Tests of the Vulkan backend, under the validation layer. MNN_C_VULKAN_VALIDATION=0 runs them without it,
// for machines with a GPU and no layer.
#include <cstdio>
#include <cstdlib>

#include "backends/vulkan/vulkan_runtime.h"
#include "validation_guard.h"

int main(int argc, char** argv) {
    setenv("MNN_C_VULKAN_VALIDATION", "1", 0);
    setenv("VK_LAYER_ENABLES",
           "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT:"
           "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT",
           0);
    ::testing::InitGoogleTest(&argc, argv);
    std::string reason;
    if (mnnc::vulkan::listVulkanDevices(reason).empty()) {
        std::fprintf(stderr, "skipped: %s\n", reason.c_str());
        return 77;
    }
    ::testing::UnitTest::GetInstance()->listeners().Append(new mnnc::vulkan::test::ValidationGuard);
    return RUN_ALL_TESTS();
}
