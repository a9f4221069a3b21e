// A fused pair of a 1x1 convolution and a depthwise one gives the bits of the two, and a net with such a pair needs no
// memory for the map between them.
#include "backends/cpu/kernels/conv/pointwise_depthwise.h"
#include "backends/cpu/kernels/conv_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "base/aligned.h"
#include "base/error.h"
#include "model/weight_codes.h"
#include "net_builder.h"

namespace mnnc::test {
namespace {

struct Depthwise {
    int kernelH, kernelW, stride = 1, dilate = 1, padTop = 0, padLeft = 0;
    int moreRows = 0;  // rows that read nothing but the border
};

ConvShape depthwiseShape(int batch, int channels, int height, int width, const Depthwise& d) {
    ConvShape s;
    s.batch = batch;
    s.ic = s.oc = channels;
    s.ih = height;
    s.iw = width;
    s.kh = d.kernelH, s.kw = d.kernelW;
    s.strideH = s.strideW = d.stride;
    s.dilateH = s.dilateW = d.dilate;
    s.padTop = d.padTop, s.padLeft = d.padLeft;
    s.oh = (height + 2 * std::max(0, d.padTop) - (d.kernelH - 1) * d.dilate - 1) / d.stride + 1 + d.moreRows;
    s.ow = (width + 2 * std::max(0, d.padLeft) - (d.kernelW - 1) * d.dilate - 1) / d.stride + 1;
    return s;
}

class Random {
  public:
    std::vector<float> floats(size_t count) {
        std::uniform_real_distribution<float> uniform(-2, 2);
        std::vector<float> values(count);
        for (float& x : values) x = uniform(engine_);
        return values;
    }
    QuantizedWeights codes(int bits, size_t outputs, size_t inputs) {
        QuantizedWeights w;
        const int maxCode = bits == 4 ? 7 : 127;
        std::uniform_int_distribution<int> code(-maxCode - 1, maxCode);
        for (size_t i = 0; i < outputs * inputs; ++i) w.q.push_back(static_cast<int8_t>(code(engine_)));
        w.scale = floats(outputs);
        w.min = floats(outputs);
        return w;
    }

  private:
    std::mt19937 engine_{5};
};

size_t packedFloats(int lanes, int channels, int pixels) {
    return size_t(channels + lanes - 1) / lanes * lanes * pixels;
}

// Checks a pair in which `inputs` channels become those of the depthwise convolution. cache: the bytes of an input that
// the second level cache keeps, in place of this CPU's; with few of them rows are made in bands.
void expectSameBits(int inputs, const ConvShape& depthwise, int codeBits = 0, int64_t cache = 0) {
    ConvShape pointwise;
    pointwise.batch = depthwise.batch;
    pointwise.ic = inputs;
    pointwise.oc = depthwise.ic;
    pointwise.ih = pointwise.oh = depthwise.ih;
    pointwise.iw = pointwise.ow = depthwise.iw;
    for (const std::string& isa : availableIsas()) {
        Kernels k = selectKernels(isa);
        k.w8a16 = nullptr;  // W8A16 is not tileable
        Kernels usual = k;
        CpuCosts costs = *k.costs;
        if (cache) costs.cache.gemmInput = cache;
        k.costs = &costs;
        SCOPED_TRACE(isa + format(" %d -> %d, %dx%d, k %dx%d s %d d %d p %d,%d, %d bits", inputs, depthwise.ic,
                                  depthwise.ih, depthwise.iw, depthwise.kh, depthwise.kw, depthwise.strideH,
                                  depthwise.dilateH, depthwise.padTop, depthwise.padLeft, codeBits));
        Random random;
        std::vector<float> src =
            random.floats(depthwise.batch * packedFloats(k.lanes, inputs, depthwise.ih * depthwise.iw));
        const std::vector<float> w1 = random.floats(size_t(inputs) * depthwise.ic),
                                 w2 = random.floats(size_t(depthwise.ic) * depthwise.kh * depthwise.kw);
        const QuantizedWeights codes = random.codes(codeBits, size_t(depthwise.ic), size_t(inputs));
        const std::vector<float> bias1 = random.floats(size_t(depthwise.ic)),
                                 bias2 = random.floats(size_t(depthwise.ic));
        InlinePool alone;
        ForkJoinPool three(3);
        ConvOptions options;
        if (codeBits) options.quantization = {codeBits, 1, true};
        for (ThreadPool* pool : {static_cast<ThreadPool*>(&alone), static_cast<ThreadPool*>(&three)}) {
            options.threads = pool->threads();
            const auto plan = PointwiseDepthwisePlan::make(k, pointwise, options, depthwise);
            ASSERT_TRUE(plan);
            if (cache) {  // each panel keeps rows from band to band
                EXPECT_GT(plan->scratchBytes(1),
                          PointwiseDepthwisePlan::make(usual, pointwise, options, depthwise)->scratchBytes(1));
            }
            const QuantizedWeightPacker* packer = plan->pointwise().quantizedPacker();
            ASSERT_EQ(packer != nullptr, codeBits != 0);
            AlignedBuffer packed1(plan->pointwise().packedWeightBytes());
            AlignedBuffer packed2(plan->depthwise().packedWeightBytes());
            if (packer) {
                HeldQuantizedWeights held({codes.q, codes.scale, codes.min}, pointwise.oc);
                packer->packQuantized(held, packed1.data(), *pool);
            } else
                plan->pointwise().packWeights(w1.data(), packed1.data(), *pool);
            plan->depthwise().packWeights(w2.data(), packed2.data(), *pool);
            PointwiseDepthwisePlan::Side first{packed1.data(), {}}, second{packed2.data(), {}};
            const auto padded1 = paddedBias(bias1.data(), pointwise.oc),
                       padded2 = paddedBias(bias2.data(), depthwise.oc);
            first.post.bias = padded1.data();
            first.post.act = Act::Silu;
            second.post.bias = padded2.data();
            second.post.lo = -1, second.post.hi = 3;

            const size_t betweenFloats =
                depthwise.batch * packedFloats(k.lanes, depthwise.ic, depthwise.ih * depthwise.iw);
            const size_t outFloats = depthwise.batch * packedFloats(k.lanes, depthwise.ic, depthwise.oh * depthwise.ow);
            std::vector<float> between(betweenFloats), apart(outFloats, 7), together(outFloats, 8);
            AlignedBuffer scratch(std::max(
                {plan->scratchBytes(3), plan->pointwise().scratchBytes(3), plan->depthwise().scratchBytes(3)}));
            plan->pointwise().run(src.data(), first.packed, between.data(), first.post, scratch.data(), *pool);
            plan->depthwise().run(between.data(), second.packed, apart.data(), second.post, scratch.data(), *pool);
            std::memset(scratch.data(), 0xff, scratch.size());  // NaN
            plan->run(src.data(), first, second, together.data(), scratch.data(), *pool);
            const size_t area = size_t(depthwise.oh) * depthwise.ow;
            for (size_t i = 0; i < outFloats; ++i) {
                const size_t block = i / area / k.lanes % ((depthwise.oc + k.lanes - 1) / k.lanes);
                if (block * k.lanes + i % k.lanes >= size_t(depthwise.oc)) continue;
                ASSERT_EQ(std::bit_cast<uint32_t>(apart[i]), std::bit_cast<uint32_t>(together[i]))
                    << i << ": " << apart[i] << " and " << together[i] << ", " << pool->threads() << " threads";
            }
        }
    }
}

TEST(PointwiseDepthwise, GivesTheBitsOfSeparatePlans) {
    for (const Depthwise& d : std::vector<Depthwise>{{3, 3, 1, 1, 1, 1},
                                                     {3, 3, 2, 1, 1, 1},
                                                     {3, 3, 2, 1, 0, 0},
                                                     {5, 5, 1, 1, 2, 2},
                                                     {5, 5, 2, 1, 2, 2},
                                                     {3, 3, 1, 2, 2, 2},
                                                     {1, 7, 1, 1, 0, 3},
                                                     {7, 1, 1, 1, 3, 0},
                                                     {2, 2, 3, 1, 0, 0},  // rows between are not read
                                                     {3, 3, 1, 1, -2, -1},
                                                     {3, 3, 1, 1, 4, 1, 2}}) {
        expectSameBits(7, depthwiseShape(1, 37, 41, 29, d));
        expectSameBits(16, depthwiseShape(2, 48, 19, 22, d));
    }
    expectSameBits(24, depthwiseShape(1, 144, 56, 56, {3, 3, 1, 1, 1, 1}));
    expectSameBits(16, depthwiseShape(1, 96, 112, 112, {3, 3, 2, 1, 1, 1}));
    // A row is a strip, or more.
    expectSameBits(3, depthwiseShape(1, 50, 6, 2300, {3, 3, 1, 1, 1, 1}));
    expectSameBits(3, depthwiseShape(1, 50, 9, 700, {5, 5, 2, 1, 2, 2}));
    expectSameBits(5, depthwiseShape(3, 5, 2, 3, {3, 3, 1, 1, 1, 1}));
}

TEST(PointwiseDepthwise, BandsGiveTheSameBits) {
    constexpr int64_t kBytes = 17 << 10;
    for (const Depthwise& d : std::vector<Depthwise>{
             {3, 3, 1, 1, 1, 1}, {3, 3, 2, 1, 1, 1}, {5, 5, 2, 1, 2, 2}, {3, 3, 1, 2, 2, 2}, {3, 3, 1, 1, 4, 1, 2}})
        expectSameBits(16, depthwiseShape(1, 72, 80, 112, d), 0, kBytes);
    expectSameBits(16, depthwiseShape(2, 72, 80, 112, {3, 3, 1, 1, 1, 1}), 0, kBytes);
    // A dilation beyond the map: each row of the result reads one row.
    expectSameBits(16, depthwiseShape(1, 72, 80, 112, {3, 3, 1, 200, 200, 200}), 0, kBytes);
}

TEST(PointwiseDepthwise, ExpandsCodes) {
    for (const int bits : {8, 4}) {
        expectSameBits(24, depthwiseShape(1, 144, 30, 31, {3, 3, 2, 1, 1, 1}), bits);
        expectSameBits(33, depthwiseShape(2, 37, 9, 11, {5, 5, 1, 1, 2, 2}), bits);
    }
}

TEST(PointwiseDepthwise, OtherShapesAreRefused) {
    ConvShape pointwise;
    pointwise.ic = 16, pointwise.oc = 32;
    pointwise.ih = pointwise.iw = pointwise.oh = pointwise.ow = 20;
    ConvShape depthwise = depthwiseShape(1, 32, 20, 20, {3, 3, 1, 1, 1, 1});
    const auto made = [&] {
        return PointwiseDepthwisePlan::make(selectKernels(), pointwise, {}, depthwise) != nullptr;
    };
    EXPECT_TRUE(made());
    pointwise.ih = pointwise.iw = 40;
    pointwise.strideH = pointwise.strideW = 2;
    EXPECT_FALSE(made());
    pointwise = depthwise;  // 3x3
    pointwise.ic = 16;
    EXPECT_FALSE(made());
    pointwise.kh = pointwise.kw = 1;
    pointwise.padTop = pointwise.padLeft = 0;
    EXPECT_TRUE(made());
    depthwise.oc = 64;  // two outputs for each input
    EXPECT_FALSE(made());
}

// The fused pairs in nets, with the numbers of the separate operators.

constexpr int kSide = 80, kChannels = 64;  // 1.6 MB for the map between

wire::NetT net(int side, bool readTwice, bool residual) {
    NetBuilder steps;
    const int x = steps.input({1, 8, side, side});
    int wide = steps.conv(x, 8, kChannels, 1);
    if (residual) wide = steps.binary(BinaryCode::ADD, wide, steps.conv(x, 8, kChannels, 3));
    const int y = steps.relu(steps.depthwise(steps.relu(wide), kChannels));
    std::vector<int> outputs = {steps.conv(y, kChannels, 8, 1)};
    if (readTwice) outputs.push_back(steps.conv(wide, kChannels, 4, 1));
    return steps.finish(outputs);
}

TEST(PointwiseDepthwise, InANet) {
    const wire::NetT joined = net(kSide, false, false);
    const NetResult apart = runUnfused(joined);
    EXPECT_EQ(apart.count("PointwiseDepthwise"), 0u);
    for (const int threads : {1, 2}) {
        SessionConfig config;
        config.backend.threads = threads;
        const NetResult together = runNet(joined, config);
        ASSERT_EQ(together.types(), (std::vector<std::string>{"PointwiseDepthwise", "Convolution"}));
        EXPECT_EQ(together.ops[0].algorithm, "gemm1x1 +clip, depthwise +clip");
        EXPECT_EQ(together.outputs[0], apart.outputs[0]);
        double flops[2] = {0, 0};
        for (const OpRecord& op : apart.ops) flops[0] += op.flops;
        for (const OpRecord& op : together.ops) flops[1] += op.flops;
        EXPECT_DOUBLE_EQ(flops[0], flops[1]);
    }
}

TEST(PointwiseDepthwise, ListsWhatBothAreChosenFrom) {
    SessionConfig config;
    config.recordPlans = true;
    const NetResult result = runNet(net(kSide, false, false), config);
    ASSERT_EQ(result.types()[0], "PointwiseDepthwise");
    std::vector<std::string> chosen;
    for (const AlgorithmCandidate& each : result.ops[0].candidates) {
        EXPECT_GT(each.cycles, 0) << each.name;
        if (each.chosen) chosen.emplace_back(each.name);
    }
    EXPECT_EQ(chosen, (std::vector<std::string>{"pointwise", "depthwise"}));
}

TEST(PointwiseDepthwise, SmallMapsAndOtherConsumersPreventIt) {
    EXPECT_EQ(runNet(net(12, false, false)).count("PointwiseDepthwise"), 0u);
    EXPECT_EQ(runNet(net(kSide, true, false)).count("PointwiseDepthwise"), 0u);
    EXPECT_EQ(runNet(net(kSide, false, true)).count("PointwiseDepthwise"), 0u);
}

TEST(PointwiseDepthwise, NeedsNoMemoryForTheMapBetween) {
    const wire::NetT joined = net(kSide, false, false);
    const auto interpreter = open(joined);
    constexpr int64_t kMap = int64_t{kChannels} * kSide * kSide * 4;
    EXPECT_LT(Session(interpreter, {}).memory().arena, 2 * kMap);
    SessionConfig apart;
    apart.part.saveTensors = {joined.tensorName[2]};  // the depthwise convolution's input
    EXPECT_GE(Session(interpreter, apart).memory().arena, 2 * kMap);
}

}  // namespace
}  // namespace mnnc::test
