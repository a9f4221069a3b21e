// The n-th call of Vulkan fails, of any function, once or from then on, while sessions are created, resized and run:
// this must give an error with a sentence, leave no object, and the next call must be right.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fault_table.h"
#include "session/session.h"
#include "tensor/host_copy.h"

namespace mnnc::vulkan {
namespace {

// All functions with a result that the backend calls.
using EveryFunction =
    Faults<&VolkDeviceTable::vkAllocateCommandBuffers, &VolkDeviceTable::vkAllocateDescriptorSets,
           &VolkDeviceTable::vkAllocateMemory, &VolkDeviceTable::vkBeginCommandBuffer,
           &VolkDeviceTable::vkBindBufferMemory, &VolkDeviceTable::vkCreateBuffer,
           &VolkDeviceTable::vkCreateCommandPool, &VolkDeviceTable::vkCreateComputePipelines,
           &VolkDeviceTable::vkCreateDescriptorPool, &VolkDeviceTable::vkCreateDescriptorSetLayout,
           &VolkDeviceTable::vkCreateFence, &VolkDeviceTable::vkCreatePipelineCache,
           &VolkDeviceTable::vkCreatePipelineLayout, &VolkDeviceTable::vkCreateShaderModule,
           &VolkDeviceTable::vkEndCommandBuffer, &VolkDeviceTable::vkGetPipelineCacheData,
           &VolkDeviceTable::vkMapMemory, &VolkDeviceTable::vkMergePipelineCaches, &VolkDeviceTable::vkQueueSubmit,
           &VolkDeviceTable::vkQueueWaitIdle, &VolkDeviceTable::vkResetFences, &VolkDeviceTable::vkWaitForFences>;

enum Phase { kCreate, kResize, kRun, kCache, kPhaseCount };
constexpr const char* kPhases[] = {"create", "resize", "run", "cache"};

std::vector<int64_t> liveObjects() {
    std::vector<int64_t> live;
    for (int kind = 0; kind <= static_cast<int>(Count::Fence); ++kind)
        live.push_back(Device::counters()[static_cast<size_t>(kind)].load());
    return live;
}

std::vector<float> scores(Session& session) {
    for (size_t k = 0; k < session.inputCount(); ++k) {
        Operand& input = session.input(k);
        std::vector<float> values(static_cast<size_t>(input.elements()));
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7 + 3) % 11) / 8 - 0.25f;
        copyFromHost(input, session.inputData(k), values.data(), Format::NCHW);
    }
    session.run();
    std::vector<float> result;
    for (size_t k = 0; k < session.outputCount(); ++k) {
        const Operand& output = session.output(k);
        const size_t at = result.size();
        result.resize(at + static_cast<size_t>(output.elements()));
        copyToHost(output, session.outputData(k), result.data() + at, Format::NCHW);
    }
    return result;
}

void setBatch(Session& session, int64_t batch) {
    Shape shape = session.inputShape(0);
    shape[0] = batch;
    session.resizeInput(0, shape);
}

class EveryCall : public ::testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        model_ = std::make_shared<const Interpreter>(ModelBytes::fromFile(GetParam()), ModelOptions{});
        config_.forwardType = ForwardType::Vulkan;
    }

    // Returns whether a call failed. `phase` -1: nothing fails.
    bool life(int phase, int n, bool fromThen) {
        const std::shared_ptr<Device> device = Device::get("", true);
        VolkDeviceTable& table = device->apiForTests();
        std::unique_ptr<Session> session;
        bool hit = false;
        const auto step = [&](Phase now, const auto& body) {
            if (now != phase) return body();
            EveryFunction::install(table);
            callsLeft = n;
            failsFromThen = fromThen;
            injected = VK_ERROR_OUT_OF_DEVICE_MEMORY;
            bool failed = false;
            try {
                body();
            } catch (const Error& error) {
                failed = true;
                EXPECT_EQ(error.status(), Status::OutOfMemory) << error.message();
                EXPECT_FALSE(error.message().empty());
            }
            hit = callsLeft <= 0;
            EveryFunction::restore(table);
            EXPECT_TRUE(hit || !failed);
            if (!failed) return;
            if (device->lost()) {  // the state of submitted work is unknown
                session.reset();
                session = std::make_unique<Session>(model_, config_);
                batch_ = session->inputShape(0)[0];
                if (now >= kResize) setBatch(*session, batch_ + 1);
                session->resize();
            } else {
                body();
            }
        };
        step(kCreate, [&] {
            session.reset();
            session = std::make_unique<Session>(model_, config_);
            batch_ = session->inputShape(0)[0];
        });
        check(*session, created_);
        step(kResize, [&] {
            setBatch(*session, batch_ + 1);
            session->resize();
        });
        std::vector<float> now;
        setBatch(*session, batch_ + 1);
        session->resize();
        check(*session, resized_);
        step(kRun, [&] { now = scores(*session); });
        check(*session, resized_);
        step(kCache, [&] {
            const std::vector<uint8_t> bytes = session->cache();
            SessionConfig config = config_;
            config.cache = bytes;
            now = scores(*std::make_unique<Session>(model_, config));
        });
        setBatch(*session, batch_);
        session->resize();
        check(*session, created_);
        return hit;
    }
    void check(Session& session, std::vector<float>& wanted) {
        const std::vector<float> got = scores(session);
        if (wanted.empty()) wanted = got;
        EXPECT_EQ(got, wanted);
    }

    std::shared_ptr<const Interpreter> model_;
    SessionConfig config_;
    int64_t batch_ = 0;
    std::vector<float> created_, resized_;
};

// It takes a sample of the calls; MNN_C_FAULTS_EVERY=1 takes every call.
TEST_P(EveryCall, Fails) {
    const char* given = std::getenv("MNN_C_FAULTS_EVERY");
    const int every = given ? std::atoi(given) : 37;
    const std::vector<int64_t> before = liveObjects();
    life(-1, 0, false);
    EXPECT_EQ(liveObjects(), before);
    for (int phase = 0; phase < kPhaseCount; ++phase)
        for (const bool fromThen : {false, true}) {
            int points = 0;
            for (int n = 1; n < 20000; n += every) {
                SCOPED_TRACE(::testing::Message() << kPhases[phase] << ", call " << n << (fromThen ? " on" : ""));
                const bool hit = life(phase, n, fromThen);
                EXPECT_EQ(liveObjects(), before);
                if (!hit || HasFailure()) break;
                ++points;
            }
            if (given)
                std::printf("  %-8s %-14s %4d points\n", kPhases[phase], fromThen ? "all that follow" : "once", points);
        }
}

INSTANTIATE_TEST_SUITE_P(
    VulkanFaults, EveryCall,
    ::testing::Values(MNN_C_DIGITS_MODEL, MNN_C_CASES_FOLDER "/control__if_conv/model.mnn",
                      MNN_C_CASES_FOLDER "/int8__conv_chain/model.mnn"),
    [](const auto& net) {
        return std::string(std::array{"digits", "control__if_conv", "int8__conv_chain"}[net.index]);
    });

}  // namespace
}  // namespace mnnc::vulkan
