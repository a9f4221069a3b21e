// Measured choices of kernels: each level gives right results, later sessions do not measure again, and the contents of
// a stored cache are checked.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/tuner.h"
#include "base/error.h"
#include "device_nets.h"

namespace mnnc::vulkan::test {
namespace {

using BinaryCode = wire::BinaryOpOperation;

int64_t submits() {
    return Device::counters()[static_cast<size_t>(Count::Submits)].load();
}

void tuned(BackendConfig& config, GpuTuning tuning) {
    config.tuning = tuning;
}

class TunedNet : public NetBuilder {
  public:
    // In both directions, whose weights do not follow one another.
    int lstm(int x, int32_t inputs, int32_t hidden) {
        wire::LSTMT table;
        table.outputCount = hidden;
        return add(wire::OpType::LSTM,
                   {x, constant({2, 4 * hidden, inputs}), constant({2, 4 * hidden, hidden}), constant({2, 4 * hidden})},
                   std::move(table));
    }
};

// Convolutions of every form, one with a residual, and products of matrices.
wire::NetT net(int32_t side) {
    TunedNet s;
    const int x = s.input({2, 12, side, side + 2});
    const int first = s.conv(x, 12, 20, 3);
    const int second = s.conv(first, 20, 20, 1);
    const int sum = s.binary(BinaryCode::ADD, s.conv(second, 20, 20, 3), first);
    const int a = s.input({3, 17, 40}), b = s.input({3, 40, 33});
    return s.finish({sum, s.matmul(a, b), s.lstm(s.input({4, 3, side}), side, 8)});
}

TEST(VulkanTuning, EveryLevelIsRight) {
    for (const GpuTuning tuning : {GpuTuning::Fast, GpuTuning::Normal, GpuTuning::Wide, GpuTuning::Heavy})
        for (const Precision precision : {Precision::Normal, Precision::Low}) {
            SCOPED_TRACE(testing::Message() << static_cast<int>(tuning));
            expectNetSameAsCpu(net(7), precision == Precision::Low ? 2e-2 : 1e-4, [&](BackendConfig& config) {
                tuned(config, tuning);
                config.precision = precision;
            });
        }
}

TEST(VulkanTuning, MeasuresOnce) {
    const std::shared_ptr<Device> device = Device::get("", true);  // keeps the record
    if (device->info().timestampBits == 0) GTEST_SKIP() << "the device has no clock";
    const auto submitsOf = [](GpuTuning tuning) {
        const int64_t before = submits();
        expectNetSameAsCpu(net(9), 1e-4, [&](BackendConfig& config) { tuned(config, tuning); });
        return submits() - before;
    };
    const int64_t plain = submitsOf(GpuTuning::None);
    EXPECT_GT(submitsOf(GpuTuning::Fast), plain);
    EXPECT_EQ(submitsOf(GpuTuning::Fast), plain);
    EXPECT_EQ(submitsOf(GpuTuning::None), plain);
    const std::vector<uint8_t> stored = device->tuning().bytes();
    EXPECT_FALSE(stored.empty());
    TuningRecord other;
    EXPECT_TRUE(other.merge(stored));
    EXPECT_EQ(other.bytes(), stored);
}

// A choice that is not among the candidates is measured again.
TEST(VulkanTuning, ForeignChoices) {
    const std::shared_ptr<Device> device = Device::get("", true);
    if (device->info().timestampBits == 0) GTEST_SKIP() << "the device has no clock";
    const auto run = [] {
        expectNetSameAsCpu(net(5), 1e-4, [](BackendConfig& config) { tuned(config, GpuTuning::Fast); });
    };
    run();
    std::vector<uint8_t> stored = device->tuning().bytes();
    TuningRecord record;
    ASSERT_TRUE(record.merge(stored));
    // Every choice is replaced by one that does not exist.
    for (size_t at = 0; at < stored.size();) {
        uint32_t length = 0;
        std::memcpy(&length, &stored[at], sizeof length);
        const std::string problem(reinterpret_cast<const char*>(&stored[at + 4]), length);
        device->tuning().keep(problem, UINT32_MAX);
        at += 8 + length;
    }
    run();
    EXPECT_EQ(device->tuning().find("there is no such problem"), std::nullopt);
}

// Operators that take longer than a submission should are not measured again and again.
TEST(VulkanTuning, SlowOperators) {
    const std::shared_ptr<Device> device = Device::get("", true);
    if (device->info().timestampBits == 0 || device->info().type != VK_PHYSICAL_DEVICE_TYPE_CPU)
        GTEST_SKIP() << "the device has no clock, or is fast";
    NetBuilder s;
    const wire::NetT slow = s.finish({s.matmul(s.input({1000, 3000}), s.input({3000, 1000}))});
    const auto submitsOf = [&](GpuTuning tuning) {
        const int64_t before = submits();
        expectNetSameAsCpu(slow, 1e-4, [&](BackendConfig& config) { tuned(config, tuning); });
        return submits() - before;
    };
    EXPECT_EQ(submitsOf(GpuTuning::Heavy), submitsOf(GpuTuning::None) + 1);
    // The estimate prefers large tiles for so many outputs.
    EXPECT_EQ(device->tuning().find("matmul 1 1000 3000 1000 3000 1000 0 0 0"), 1u);
}

// The limit is one for the operators with 16 bits and for those that keep 32.
TEST(VulkanTuning, LimitOverBothPrecisions) {
    const std::shared_ptr<Device> device = Device::get("", true);
    if (device->info().timestampBits == 0 || !device->info().storage16) GTEST_SKIP() << "no clock, or no halves";
    NetBuilder s;
    const int x = s.input({1, 12, 13, 11});
    std::vector<int> outputs;
    for (int channels = 20; channels < 44; channels += 4) outputs.push_back(s.conv(x, 12, channels, 3));
    const wire::NetT many = s.finish(outputs);
    const size_t before = device->tuning().size();
    expectNetSameAsCpu(many, 2e-2, [&](BackendConfig& config) {
        tuned(config, GpuTuning::Fast);
        config.precision = Precision::Low;
        config.tuningOperators = 2;
        for (size_t i = 1; i < outputs.size(); i += 2)
            config.fp32Operators.push_back("op" + std::to_string(outputs[i]));
    });
    EXPECT_EQ(device->tuning().size(), before + 2);
}

// A full device has no memory to measure with; other errors reach the caller.
TEST(VulkanTuning, WithoutMemory) {
    EXPECT_EQ(whereMemorySuffices([] { return size_t{3}; }), 3u);
    EXPECT_EQ(whereMemorySuffices([]() -> size_t { fail(Status::OutOfMemory, "full"); }), std::nullopt);
    EXPECT_THROW(whereMemorySuffices([]() -> size_t { fail(Status::DeviceLost, "lost"); }), Error);
}

TEST(VulkanTuning, DamagedRecords) {
    TuningRecord record;
    record.keep("a problem", 7);
    record.keep("another", 9);
    const std::vector<uint8_t> stored = record.bytes();
    for (size_t size = 0; size < stored.size(); ++size) {
        TuningRecord read;
        const bool whole = read.merge(std::span(stored).first(size));
        if (!whole) {
            EXPECT_TRUE(read.bytes().empty()) << size;
        }
    }
    std::vector<uint8_t> damaged = stored;
    damaged[3] = 0xff;
    EXPECT_FALSE(record.merge(damaged));
    EXPECT_EQ(record.bytes(), stored);
    damaged = stored;
    damaged[damaged.size() - 4] = 100;
    EXPECT_TRUE(record.merge(damaged));
    EXPECT_EQ(record.find("another"), 9u) << "what is known stays";
}

}  // namespace
}  // namespace mnnc::vulkan::test
