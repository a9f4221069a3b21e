// The layer that all other tests lean on: it is there, and it objects to what is wrong.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "backends/vulkan/device/result.h"
#include "backends/vulkan/segment.h"
#include "backends/vulkan/vulkan_runtime.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::testing {

namespace {

class Validation : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* wanted = std::getenv("MNN_C_VULKAN_VALIDATION");
        if (!wanted || std::strcmp(wanted, "0") == 0) GTEST_SKIP() << "the validation layer is switched off";
        backend_ = runtime_->createBackend(config_, weights_);
    }
    VulkanBackend& backend() { return dynamic_cast<VulkanBackend&>(*backend_); }
    const VolkDeviceTable& api() { return backend().gpu()->api(); }

    BackendConfig config_;
    WeightStore weights_;
    std::shared_ptr<Runtime> runtime_ = createVulkanRuntime(config_);
    std::unique_ptr<Backend> backend_;
};

}  // namespace

TEST_F(Validation, objectsToTooManyGroups) {
    const Pipeline& fill = backend().pipeline("fill", DataType::Float32, 1, 64);
    const auto block = backend().allocate(1024, DeviceUse::Compute);
    DescriptorSets sets(backend().gpu());
    const auto& buffer = static_cast<const Block&>(*block);
    const Binding binding{buffer.buffer(), buffer.offset(), buffer.bytes(), true};
    const CommandBuffers buffers(backend(), 1);
    EXPECT_GT(messagesDuring([&] {
                  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
                  check(api().vkBeginCommandBuffer(buffers[0], &begin), "vkBeginCommandBuffer");
                  const VkDescriptorSet set = sets.make(fill, {&binding, 1});
                  api().vkCmdBindPipeline(buffers[0], VK_PIPELINE_BIND_POINT_COMPUTE, fill.handle);
                  api().vkCmdBindDescriptorSets(buffers[0], VK_PIPELINE_BIND_POINT_COMPUTE, fill.layout, 0, 1,
                                                &set, 0, nullptr);
                  api().vkCmdDispatch(buffers[0], UINT32_MAX, 1, 1);
                  api().vkEndCommandBuffer(buffers[0]);
              }),
              0u);
}

// Two dispatches that write the same bytes without a barrier: only synchronization validation sees it.
TEST_F(Validation, objectsToAMissingBarrier) {
    const Pipeline& fill = backend().pipeline("fill", DataType::Float32, 1, 64);
    const auto block = backend().allocate(1024, DeviceUse::Compute);
    DescriptorSets sets(backend().gpu());
    const auto& buffer = static_cast<const Block&>(*block);
    const Binding binding{buffer.buffer(), buffer.offset(), buffer.bytes(), true};
    const CommandBuffers buffers(backend(), 1);
    EXPECT_GT(messagesDuring([&] {
                  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
                  check(api().vkBeginCommandBuffer(buffers[0], &begin), "vkBeginCommandBuffer");
                  const VkDescriptorSet set = sets.make(fill, {&binding, 1});
                  const uint32_t push[] = {4, 0, 256};
                  api().vkCmdBindPipeline(buffers[0], VK_PIPELINE_BIND_POINT_COMPUTE, fill.handle);
                  api().vkCmdBindDescriptorSets(buffers[0], VK_PIPELINE_BIND_POINT_COMPUTE, fill.layout, 0, 1,
                                                &set, 0, nullptr);
                  api().vkCmdPushConstants(buffers[0], fill.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                           sizeof push, push);
                  api().vkCmdDispatch(buffers[0], 4, 1, 1);
                  api().vkCmdDispatch(buffers[0], 4, 1, 1);
                  check(api().vkEndCommandBuffer(buffers[0]), "vkEndCommandBuffer");
                  buffers.run();
              }),
              0u);
}

}  // namespace mnnc::vulkan::testing
