// Runs with a token are submitted in parts: none is submitted once the token is triggered, and all that were are over.
#include <chrono>
#include <functional>
#include <thread>

#include "backends/vulkan/device/device.h"
#include "device_nets.h"
#include "fault_table.h"
#include "session/session.h"
#include "tensor/host_copy.h"
#include "unit/plans_net.h"

namespace mnnc::vulkan::test {
namespace {

// Counts submissions, and calls functions before submissions and waits, while the object lives.
class Hooks {
  public:
    Hooks() : device_(Device::get("", true)), table_(device_->apiForTests()) {
        submit_ = table_.vkQueueSubmit;
        wait_ = table_.vkWaitForFences;
        submits = 0;
        beforeSubmit = beforeWait = nullptr;
        table_.vkQueueSubmit = [](VkQueue queue, uint32_t count, const VkSubmitInfo* info, VkFence fence) {
            ++submits;
            if (beforeSubmit) beforeSubmit();
            return submit_(queue, count, info, fence);
        };
        table_.vkWaitForFences = [](VkDevice device, uint32_t count, const VkFence* fences, VkBool32 all, uint64_t ns) {
            if (beforeWait) beforeWait();
            return wait_(device, count, fences, all, ns);
        };
    }
    ~Hooks() {
        table_.vkQueueSubmit = submit_;
        table_.vkWaitForFences = wait_;
    }
    Hooks(const Hooks&) = delete;
    Hooks& operator=(const Hooks&) = delete;

    static inline int submits = 0;
    static inline std::function<void()> beforeSubmit, beforeWait;

  private:
    static inline PFN_vkQueueSubmit submit_ = nullptr;
    static inline PFN_vkWaitForFences wait_ = nullptr;
    const std::shared_ptr<Device> device_;
    VolkDeviceTable& table_;
};

// Takes longer than one submission may take.
void takeLong() {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
}

// A net of convolutions one after another, beside a gather that reports indices that are out of range.
class ChainNet : public NetBuilder {
  public:
    wire::NetT make() {
        int map = input({1, 4, 20, 20});
        for (int i = 0; i < 8; ++i) map = conv(map, 4, 4, 3, true);
        const int table = constant({100, 3}), rows = ints({70});
        return finish({map, add(wire::OpType::GatherV2, {table, rows}, wire::GatherT{})});
    }
};

class CancelledRuns : public ::testing::Test {
  protected:
    using Results = std::vector<std::vector<float>>;

    std::unique_ptr<Session> session(bool batch = true) const {
        SessionConfig config;
        config.forwardType = ForwardType::Vulkan;
        config.backend.recordBatch = batch;
        auto made = std::make_unique<Session>(interpreter_, config);
        std::vector<float> map(4 * 400);
        for (size_t i = 0; i < map.size(); ++i) map[i] = std::sin(static_cast<float>(i * 7));
        std::vector<int32_t> rows(70);
        for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i) * 13 % 100;
        copyFromHost(made->input(0), made->inputData(0), map.data(), Format::NCHW);
        copyFromHost(made->input(1), made->inputData(1), rows.data(), Format::NCHW);
        return made;
    }
    static Results results(Session& session) {
        Results all;
        for (size_t i = 0; i < session.outputCount(); ++i) {
            all.emplace_back(static_cast<size_t>(session.output(i).elements()));
            copyToHost(session.output(i), session.outputData(i), all.back().data(), Format::NCHW);
        }
        return all;
    }
    Results wanted() const {
        const auto plain = session();
        plain->run();
        return results(*plain);
    }
    // Returns how many submissions a run takes.
    int submitsOf(Session& session) {
        Hooks::submits = 0;
        session.run(nullptr, Cancellation(state_));
        return Hooks::submits;
    }
    static void expectCancelled(const std::function<void()>& run) {
        try {
            run();
            ADD_FAILURE() << "it was not cancelled";
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::Cancelled) << error.message();
        }
    }

    std::atomic<uint64_t> state_{0};
    const std::shared_ptr<const Interpreter> interpreter_ = mnnc::test::open(ChainNet().make());
};

TEST_F(CancelledRuns, EndBeforeTheNextSubmission) {
    const Results expected = wanted();
    int parts = 0;
    {
        const Hooks hooks;
        const auto whole = session();
        parts = submitsOf(*whole);
        EXPECT_EQ(results(*whole), expected);
    }
    ASSERT_GE(parts, 10) << "nothing is known of the kernels, so each is submitted alone";
    for (int last = 1; last < parts; ++last) {
        const Hooks hooks;
        const auto run = session();
        Hooks::beforeSubmit = [&] {
            if (Hooks::submits == last) Cancellation::trigger(state_);
        };
        expectCancelled([&] { submitsOf(*run); });
        EXPECT_EQ(Hooks::submits, last);
        Cancellation::reset(state_);
        Hooks::beforeSubmit = nullptr;
        run->run();
        EXPECT_EQ(results(*run), expected);
        submitsOf(*run);
        EXPECT_EQ(results(*run), expected);
    }
}

TEST_F(CancelledRuns, BeginWithNothingWhereTheTokenIsTriggered) {
    const Hooks hooks;
    const auto run = session();
    Cancellation::trigger(state_);
    expectCancelled([&] { submitsOf(*run); });
    EXPECT_EQ(Hooks::submits, 0);
}

TEST_F(CancelledRuns, WithoutATokenAreSubmittedOnce) {
    const Hooks hooks;
    const auto run = session();
    for (int i = 0; i < 3; ++i) {
        Hooks::submits = 0;
        run->run();
        EXPECT_EQ(Hooks::submits, 1);
    }
}

// Dispatches that took long are divided, and dispatches that took little time are submitted together.
TEST_F(CancelledRuns, AreDividedByWhatWasMeasured) {
    const Results expected = wanted();
    const Hooks hooks;
    const auto run = session();
    Hooks::beforeWait = takeLong;
    const int alone = submitsOf(*run);
    const int divided = submitsOf(*run);
    EXPECT_GT(divided, alone);
    EXPECT_EQ(results(*run), expected);

    const auto other = session();
    int waits = 0;
    Hooks::beforeWait = [&] {
        if (++waits == 1) takeLong();
    };
    const int first = submitsOf(*other);
    EXPECT_EQ(first, alone);
    // On a busy host other dispatches may take long, too, and are divided until they are measured again.
    int later = first;
    for (int i = 0; i < 20 && later >= first; ++i) later = submitsOf(*other);
    EXPECT_LT(later, first);
    EXPECT_EQ(results(*other), expected);
}

// The parts of a run are recorded anew when the host binds another buffer between runs.
TEST_F(CancelledRuns, FollowBuffersOfTheHost) {
    const Results expected = wanted();
    const Hooks hooks;
    const auto run = session();
    Hooks::beforeWait = takeLong;
    submitsOf(*run);
    if (!Device::get("", true)->descriptors()) GTEST_SKIP() << "the device shares no memory";
    SharedBuffer buffer;
    buffer.kind = SharedBuffer::Kind::Descriptor;
    buffer.allocate = true;
    for (int i = 0; i < 2; ++i) {
        run->bindOutput(0, buffer);
        const int64_t before = Device::counters()[static_cast<size_t>(Count::Recordings)];
        submitsOf(*run);
        EXPECT_GE(Device::counters()[static_cast<size_t>(Count::Recordings)] - before, 10);
    }
    run->bindOutput(0, nullptr, 0, Format::NCHW);
    submitsOf(*run);
    EXPECT_EQ(results(*run), expected);
}

// Each call that recording needs fails once; the run afterwards records everything.
TEST_F(CancelledRuns, SurviveFailuresWhileTheyAreRecorded) {
    const Results expected = wanted();
    const auto run = session();
    const std::shared_ptr<Device> device = Device::get("", true);
    using AllocateFault = Fault<&VolkDeviceTable::vkAllocateCommandBuffers>;
    int failures = 0;
    for (int n = 1; n < 100 && failures == n - 1; ++n) {
        AllocateFault::install(device->apiForTests(), device->apiForTests().vkAllocateCommandBuffers);
        callsLeft = n;
        injected = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        try {
            run->run(nullptr, Cancellation(state_));
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::OutOfMemory);
            ++failures;
        }
        AllocateFault::restore(device->apiForTests());
    }
    EXPECT_GE(failures, 10);
    EXPECT_EQ(results(*run), expected);
}

TEST_F(CancelledRuns, ReportIndicesOutOfRange) {
    const auto run = session();
    std::vector<int32_t> rows(70, 3);
    rows[41] = 100;
    copyFromHost(run->input(1), run->inputData(1), rows.data(), Format::NCHW);
    for (int i = 0; i < 3; ++i) {
        try {
            run->run(nullptr, Cancellation(state_));
            ADD_FAILURE() << "an index out of range";
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::InputDataError);
            EXPECT_NE(error.message().find("100"), std::string::npos) << error.message();
        }
    }
}

}  // namespace
}  // namespace mnnc::vulkan::test
