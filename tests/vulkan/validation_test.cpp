// The validation layer that all other tests rely on: it is active, and it reports wrong calls.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "backends/vulkan/device/result.h"
#include "backends/vulkan/recorded_batch.h"
#include "backends/vulkan/vulkan_execution.h"
#include "backends/vulkan/vulkan_runtime.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

constexpr uint32_t kFloats = 256, kGroups = 4;

// Records commands by hand, because the recorder would make them right.
class Validation : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* wanted = std::getenv("MNN_C_VULKAN_VALIDATION");
        if (!wanted || std::strcmp(wanted, "0") == 0) GTEST_SKIP() << "the validation layer is switched off";
        runtime_ = createVulkanRuntime(config_);
        backend_ = runtime_->createBackend(config_, weights_);
        sets_ = std::make_unique<DescriptorSets>(backend().gpu());
        commands_ = std::make_unique<CommandBuffers>(backend(), 1);
        const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        check(api().vkBeginCommandBuffer(buffer(), &begin), "vkBeginCommandBuffer");
    }

    void dispatch(const Pipeline& pipeline, std::initializer_list<Binding> bindings, uint32_t groups,
                  std::initializer_list<uint32_t> words) {
        const VkDescriptorSet set = sets_->make(pipeline, bindings);
        std::vector<uint32_t> push{groups, 0};
        push.insert(push.end(), words);
        api().vkCmdBindPipeline(buffer(), VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
        api().vkCmdBindDescriptorSets(buffer(), VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1, &set, 0,
                                      nullptr);
        api().vkCmdPushConstants(buffer(), pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                 static_cast<uint32_t>(push.size() * 4), push.data());
        api().vkCmdDispatch(buffer(), groups, 1, 1);
    }
    void barrier() {
        const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                                     VK_ACCESS_SHADER_READ_BIT};
        api().vkCmdPipelineBarrier(buffer(), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                   0, 1, &memory, 0, nullptr, 0, nullptr);
    }
    // Fills one block and copies it to another.
    void fillAndRead(bool withBarrier) {
        const DeviceBlockPtr a = allocate(), b = allocate();
        dispatch(fill(), {all(*a)}, kGroups, {kFloats, 0});
        if (withBarrier) barrier();
        dispatch(backend().pipeline("unary", DataType::Float32, 2, 64, {0}), {all(*a), all(*b)}, 1,
                 {kFloats / 4, 0, 0});
        end();
        commands_->run();
    }
    void end() { check(api().vkEndCommandBuffer(buffer()), "vkEndCommandBuffer"); }

    VulkanBackend& backend() { return dynamic_cast<VulkanBackend&>(*backend_); }
    const VolkDeviceTable& api() { return backend().gpu()->api(); }
    VkCommandBuffer buffer() { return (*commands_)[0]; }
    const Pipeline& fill() { return backend().pipeline("raster_fill", DataType::Float32, 1, 64); }
    DeviceBlockPtr allocate() { return backend().allocate(kFloats * 4, DeviceUse::Compute); }
    static Binding all(const DeviceBlock& block) {
        const auto& b = static_cast<const Block&>(block);
        return {b.buffer(), b.offset(), b.bytes(), true};
    }

  private:
    BackendConfig config_;
    WeightStore weights_;
    std::shared_ptr<Runtime> runtime_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<DescriptorSets> sets_;
    std::unique_ptr<CommandBuffers> commands_;
};

}  // namespace

TEST_F(Validation, AcceptsCorrectCalls) {
    EXPECT_EQ(messagesDuring([this] { fillAndRead(true); }), 0u);
}

// Only synchronization validation detects this. (Layers of this age do not detect two writes in a row.)
TEST_F(Validation, ObjectsToAMissingBarrier) {
    EXPECT_GT(messagesDuring([this] { fillAndRead(false); }), 0u);
}

TEST_F(Validation, ObjectsToTooManyGroups) {
    const DeviceBlockPtr block = allocate();
    EXPECT_GT(messagesDuring([&] {
                  dispatch(fill(), {all(*block)}, UINT32_MAX, {kFloats, 0});
                  end();
              }),
              0u);
}

}  // namespace mnnc::vulkan::test
