// The device's objects over the life of sessions: later runs create none, every failing call ends in its error code,
// and all are destroyed at the end.
#include "backends/vulkan/device/device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "backends/vulkan/device/driver_libraries.h"
#include "fault_table.h"
#include "session/session.h"
#include "tensor/host_copy.h"

namespace mnnc::vulkan {
namespace {

int64_t counter(Count kind) {
    return Device::counters()[static_cast<size_t>(kind)].load();
}

std::vector<int64_t> liveObjects() {
    std::vector<int64_t> live;
    for (int kind = 0; kind <= static_cast<int>(Count::QueryPool); ++kind)
        live.push_back(counter(static_cast<Count>(kind)));
    return live;
}

std::shared_ptr<const Interpreter> digits() {
    return std::make_shared<const Interpreter>(ModelBytes::fromFile(MNN_C_DIGITS_MODEL), ModelOptions{});
}

SessionConfig onVulkan() {
    SessionConfig config;
    config.forwardType = ForwardType::Vulkan;
    return config;
}

std::vector<float> scores(Session& session) {
    std::vector<float> pixels(static_cast<size_t>(session.input(0).elements()));
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = std::abs(std::sin(static_cast<float>(i)));
    copyFromHost(session.input(0), session.inputData(0), pixels.data(), Format::NCHW);
    session.run();
    std::vector<float> result(static_cast<size_t>(session.output(0).elements()));
    copyToHost(session.output(0), session.outputData(0), result.data(), Format::NCHW);
    return result;
}

TEST(VulkanDevice, LaterRunsRecordAndAllocateNothing) {
    Session session(digits(), onVulkan());
    const std::vector<float> first = scores(session);
    const std::vector<int64_t> live = liveObjects();
    const int64_t recordings = counter(Count::Recordings), submits = counter(Count::Submits);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(scores(session), first);
    EXPECT_EQ(liveObjects(), live);
    EXPECT_EQ(counter(Count::Recordings), recordings);
    EXPECT_EQ(counter(Count::Submits), submits + 5) << "the whole net runs on the device";
}

// MNN_GPU_RECORD_OP: a command buffer for each operator; MNN_GPU_RECORD_BATCH: one for many, and one each for the
// copies of the input and of the output, whose memory a caller may choose.
TEST(VulkanDevice, RecordingIsByOperatorOrInBatches) {
    const auto recordingsOfARun = [](bool batched) {
        SessionConfig config = onVulkan();
        config.backend.recordBatch = batched;
        const int64_t before = counter(Count::Recordings);
        Session session(digits(), config);
        scores(session);
        return counter(Count::Recordings) - before;
    };
    EXPECT_EQ(recordingsOfARun(true), 3);
    EXPECT_GT(recordingsOfARun(false), 4) << "three layers, a pooling and a soft maximum at least";
}

TEST(VulkanDevice, ResizesReturnTheirMemory) {
    Session session(digits(), onVulkan());
    std::vector<int64_t> live;
    for (int round = 0; round < 40; ++round) {
        Shape shape = session.inputShape(0);
        shape[0] = 1 + round % 5;
        session.resizeInput(0, shape);
        session.resize();
        scores(session);
        if (round == 4) live = liveObjects();
        if (round > 4 && round % 5 == 4) {
            EXPECT_EQ(liveObjects(), live) << round;
        }
    }
}

// Tests devices whose memory the host cannot write.
TEST(VulkanDevice, StagedWeights) {
    SessionConfig config = onVulkan();
    Session direct(digits(), config);
    const int64_t before = counter(Count::Submits);
    config.backend.deviceLimits.stageWeights = true;
    Session staged(digits(), config);
    EXPECT_GT(counter(Count::Submits), before + 1) << "weights were copied";
    EXPECT_EQ(scores(staged), scores(direct));
}

TEST(VulkanDevice, AllMemoryIsReturned) {
    const std::vector<int64_t> before = liveObjects();
    for (const bool batch : {false, true}) {
        SessionConfig config = onVulkan();
        config.backend.recordBatch = batch;
        const auto interpreter = digits();
        Session one(interpreter, config), two(interpreter, config);
        EXPECT_EQ(scores(one), scores(two));
        EXPECT_NE(liveObjects(), before);
    }
    EXPECT_EQ(liveObjects(), before);
}

// The loader unloads drivers with the last instance, and some fail after they were loaded a few times.
TEST(VulkanDevice, DriversStayLoaded) {
    { Session session(digits(), onVulkan()); }
    const std::vector<std::string> drivers = loadedDrivers();
    EXPECT_FALSE(drivers.empty());
    for (const std::string& path : drivers) EXPECT_EQ(path.front(), '/');
}

// Creates and runs a session while one function fails at its first, second, ... call, until there is no further call.
// Returns how often the session failed.
template <auto Member>
int runWithFaults(VkResult result, Status expected) {
    const std::vector<float> wanted = [] {
        Session plain(digits(), SessionConfig{});
        return scores(plain);
    }();
    int failures = 0;
    for (int n = 1; n < 1000; ++n) {
        const std::vector<int64_t> before = liveObjects();
        bool hit = false;
        {
            const std::shared_ptr<Device> device = Device::get("", true);
            VolkDeviceTable& table = device->apiForTests();
            Fault<Member>::install(table, table.*Member);
            callsLeft = n;
            injected = result;
            try {
                Session session(digits(), onVulkan());
                const std::vector<float> got = scores(session);
                for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-4f);
                hit = callsLeft <= 0;
            } catch (const Error& error) {
                hit = true;
                ++failures;
                EXPECT_EQ(error.status(), expected) << error.message();
                EXPECT_FALSE(error.message().empty());
            }
            table.*Member = Fault<Member>::original;
        }
        EXPECT_EQ(liveObjects(), before) << "call " << n;
        if (!hit) return failures;
    }
    ADD_FAILURE() << "still failing";
    return failures;
}

TEST(VulkanFaults, OutOfMemory) {
    constexpr VkResult kFull = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    // One failed allocation is tried again after unused memory is released.
    runWithFaults<&VolkDeviceTable::vkAllocateMemory>(kFull, Status::OutOfMemory);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkCreateBuffer>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkBindBufferMemory>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkMapMemory>(VK_ERROR_MEMORY_MAP_FAILED, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkCreateComputePipelines>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkCreateShaderModule>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkCreateDescriptorPool>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(
        runWithFaults<&VolkDeviceTable::vkAllocateDescriptorSets>(VK_ERROR_OUT_OF_POOL_MEMORY, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkCreateCommandPool>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkAllocateCommandBuffers>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkBeginCommandBuffer>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkEndCommandBuffer>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkCreateFence>(kFull, Status::OutOfMemory), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkQueueSubmit>(kFull, Status::OutOfMemory), 0);
}

TEST(VulkanFaults, APipelineTheDriverRefusesFallsBack) {
    // Only the copies to and from the device have no other backend.
    EXPECT_LE(runWithFaults<&VolkDeviceTable::vkCreateComputePipelines>(VK_ERROR_UNKNOWN, Status::DriverError), 2);
}

TEST(VulkanFaults, DeviceLost) {
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkQueueSubmit>(VK_ERROR_DEVICE_LOST, Status::DeviceLost), 0);
    EXPECT_GT(runWithFaults<&VolkDeviceTable::vkWaitForFences>(VK_ERROR_DEVICE_LOST, Status::DeviceLost), 0);

    Session session(digits(), onVulkan());
    const std::vector<float> wanted = scores(session);
    const std::shared_ptr<Device> device = Device::get("", true);
    VolkDeviceTable& table = device->apiForTests();
    Fault<&VolkDeviceTable::vkQueueSubmit>::install(table, table.vkQueueSubmit);
    callsLeft = 1;
    injected = VK_ERROR_DEVICE_LOST;
    for (int i = 0; i < 2; ++i) {
        try {
            scores(session);
            ADD_FAILURE() << "a lost device runs";
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::DeviceLost);
        }
    }
    table.vkQueueSubmit = Fault<&VolkDeviceTable::vkQueueSubmit>::original;
    // A new session gets a new device.
    Session fresh(digits(), onVulkan());
    EXPECT_EQ(scores(fresh), wanted);
}

}  // namespace
}  // namespace mnnc::vulkan
