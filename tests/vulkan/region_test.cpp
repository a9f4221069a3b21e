// ROIAlign: averages and maxima, given and counted samples, boxes of every kind, pictures that do not exist.
#include "ops/region.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "unit/index_cases.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

OpCase align(const Value& pictures, Value regions, const RoiParams& given, bool indexed) {
    OpCase c;
    c.type = OpType::ROIAlign;
    c.params = std::make_shared<RoiParams>(given);
    const int64_t count = regions.shape[0];
    c.inputs = {pictures, std::move(regions)};
    if (indexed) c.inputs.push_back(randomInts({count}, 3, 0, static_cast<int>(pictures.shape[0]) - 1));
    c.outputs.resize(1);
    c.outputs[0].shape = {count, pictures.shape[1], given.height, given.width};
    return c;
}

// Returns integer and half coordinates, where samples are exactly on pixels and edges, and others.
Value boxes(int64_t count, bool indexed, int64_t pictures) {
    const int64_t columns = indexed ? 4 : 5;
    Value value = randomValue({count, columns}, 2, -4, 30);
    for (int64_t r = 0; r < count; ++r) {
        float* row = value.floats.data() + r * columns;
        if (!indexed) row[0] = static_cast<float>(r % pictures);
        if (r % 3 != 0)
            for (int64_t i = columns - 4; i < columns; ++i) row[i] = std::round(row[i] * 2) / 2;
    }
    return value;
}

template <typename Body>
void forForms(const Body& body) {
    for (const bool indexed : {false, true})
        for (const bool aligned : {false, true})
            for (const bool maximum : {false, true})
                for (const int samples : {0, 1, 3}) {
                    RoiParams p;
                    p.aligned = aligned;
                    p.maximum = maximum;
                    p.samples = samples;
                    body(p, indexed);
                }
}

}  // namespace

TEST(RoiAlign, Forms) {
    forForms([](RoiParams p, bool indexed) {
        for (const auto& [shape, height, width, scale] :
             {std::tuple{Shape{3, 5, 9, 11}, 3, 2, 0.5f}, {Shape{1, 8, 1, 6}, 7, 7, 1.0f}}) {
            p.height = height;
            p.width = width;
            p.scale = scale;
            expectSameAsCpu(align(asPacked(randomValue(shape, 1)), boxes(14, indexed, shape[0]), p, indexed), 1e-5,
                            5e-3);
        }
    });
}

TEST(RoiAlign, BoxesThatAreNoPlaces) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Value regions;
    regions.shape = {10, 4};
    regions.floats = {nan, 0, 3,   3, 0, 0, nan,       3,     -kInfinity, 0,    kInfinity, 4,        0,     0,
                      0,   0, 5,   5, 1, 1, -5000,     -5000, 6000,       6000, -60000,    2,        60000, 3,
                      100, 2, 200, 5, 1, 2, kInfinity, 5,     1,          nan,  nan,       kInfinity};
    forForms([&](RoiParams p, bool indexed) {
        p.height = 3;
        p.width = 2;
        if (indexed) expectSameAsCpu(align(randomValue({2, 3, 6, 7}, 1), regions, p, indexed), 1e-5, 5e-3);
    });
}

TEST(RoiAlign, Refused) {
    RoiParams p;
    p.samples = 65;
    expectRefused(align(randomValue({1, 3, 6, 7}, 1), boxes(5, true, 1), p, true), "64 samples");
    p.samples = 0;
    expectRefused(align(randomValue({1, 1, 600, 600}, 1), boxes(5, true, 1), p, true), "262144 pixels");
    expectRefused(align(randomValue({1, 3, 6, 7}, 1), boxes(0, true, 1), p, true), "empty");
}

// The samples of an output are at most about as many as the pixels, however large its region is.
TEST(RoiAlign, ManySamples) {
    RoiParams p;
    p.height = p.width = 1;
    p.samples = 0;
    Value whole;
    whole.shape = {3, 4};
    whole.floats = {0, 0, 511, 511, -400, -300, 600, 700, 10, 20, 230, 240};
    expectSameAsCpuOrRefused(align(randomValue({1, 1, 512, 512}, 1), whole, p, true), "rounds", 1e-4);
    expectSameAsCpu(align(randomValue({1, 1, 100, 100}, 1), whole, p, true), 1e-4, 5e-3);
}

// A region in a picture outside of the batch ends the run with the CPU's sentence, and the next run is right.
TEST(RoiAlign, PicturesOutside) {
    using namespace mnnc::test;
    const PublicSession::Mode modes[] = {{"indirect", MNN_FORWARD_VULKAN, 2, MNN_GPU_RECORD_BATCH},
                                         {"direct", MNN_FORWARD_VULKAN, 2, MNN_GPU_RECORD_OP},
                                         {"cpu", MNN_FORWARD_CPU, 1, 0}};
    constexpr int kRegions = 5000;
    for (const PublicSession::Mode& mode : modes) {
        for (const bool indexed : {false, true}) {
            SCOPED_TRACE(mode.name);
            IndexNet net;
            wire::RoiParametersT table;
            table.pooledHeight = table.pooledWidth = 1;
            table.spatialScale = 1;
            table.samplingRatio = 1;
            Ints inputs{net.relu(net.input({2, 3, 4, 4})), net.input({kRegions, indexed ? 4 : 5})};
            if (indexed) inputs.push_back(net.ints({kRegions}));
            const int out = net.indexed(wire::OpType::ROIAlign, inputs, std::move(table));
            PublicSession session(pack(net.finish({net.relu(out)})), mode);
            ASSERT_EQ(session.created, MNN_OK) << session.error;
            EXPECT_EQ(session.backendOf("indexed"), mode.forward == MNN_FORWARD_CPU ? "cpu" : "vulkan");
            Floats pictures(2 * 3 * 16, 2.0f);
            std::fill(pictures.begin() + 48, pictures.end(), 5.0f);
            session.write(0, pictures);
            const size_t columns = indexed ? 4 : 5;
            Floats regions(kRegions * columns, 2.0f);
            Ints numbers(kRegions, 1);
            const auto set = [&](size_t region, int picture) {
                if (!indexed) regions[region * columns] = static_cast<float>(picture);
                numbers[region] = picture;
            };
            for (size_t r = 0; r < kRegions; ++r) set(r, 1);
            for (const int bad : {2, -1, 1 << 30}) {
                set(4500, bad);
                set(4999, 7);
                session.write(1, regions);
                if (indexed) session.write(2, numbers);
                EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA);
                EXPECT_EQ(session.error, format("op 'indexed': region 4500 is in picture %g of a batch of 2",
                                                static_cast<double>(bad)));
            }
            set(4500, 0);
            set(4999, 1);
            session.write(1, regions);
            if (indexed) session.write(2, numbers);
            ASSERT_EQ(session.run(), MNN_OK) << session.error;
            const Floats result = session.read();
            for (size_t r = 0; r < kRegions; ++r) ASSERT_EQ(result[3 * r], r == 4500 ? 2.0f : 5.0f) << r;
        }
    }
}

}  // namespace mnnc::vulkan::test
