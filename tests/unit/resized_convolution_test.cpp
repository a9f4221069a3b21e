// A convolution that is fused with a resize of its input gives the bits of the two operators, and a net with such a
// pair needs no memory for the resized map.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "base/aligned.h"
#include "float_util.h"
#include "net_builder.h"
#include "tensor/host_copy.h"

namespace mnnc::test {
namespace {

// Serves rows of a packed image: copies for even blocks, the rows themselves for odd ones.
class ImageRows final : public RowSource {
  public:
    ImageRows(const float* image, int height, size_t rowFloats)
        : image_(image), height_(height), rowFloats_(rowFloats) {}
    const float* rows(int block, int first, int end, float* strip) const override {
        EXPECT_LE(0, first);
        EXPECT_LE(first, end);
        EXPECT_LE(end, height_);
        const float* src = image_ + (size_t(block) * height_ + first) * rowFloats_;
        if (block % 2) return src;
        std::memcpy(strip, src, size_t(end - first) * rowFloats_ * sizeof(float));
        return strip;
    }

  private:
    const float* image_;
    int height_;
    size_t rowFloats_;
};

// Expects the plan of this many threads to read rows, with the bits of the one that reads a whole image.
void expectSameBits(const Kernels& k, const ConvShape& s, ConvAlgorithm algorithm, ThreadPool& pool) {
    SCOPED_TRACE(format("%s, %d -> %d, %dx%d to %dx%d, pads %d %d, %d threads", k.isa, s.ic, s.oc, s.ih, s.iw, s.oh,
                        s.ow, s.padTop, s.padLeft, pool.threads()));
    const auto packedFloats = [&](int channels, int pixels) {
        return size_t(channels + k.lanes - 1) / k.lanes * k.lanes * pixels;
    };
    const std::vector<float> src = randomFloats(packedFloats(s.ic, s.ih * s.iw), 1),
                             weights = randomFloats(size_t(s.ic) * s.oc * s.kh * s.kw, 2),
                             bias = paddedBias(randomFloats(size_t(s.oc), 3).data(), s.oc);
    PostOps post;
    post.bias = bias.data();
    post.act = Act::Silu;
    std::vector<float> outputs[2];
    for (const bool byRows : {false, true}) {
        ConvOptions options;
        options.algorithm = algorithm;
        options.threads = pool.threads();
        options.byRows = byRows;
        const auto plan = makeConvPlan(k, s, options);
        ASSERT_EQ(plan->rowFed() != nullptr, byRows);
        AlignedBuffer packed(plan->packedWeightBytes());
        plan->packWeights(weights.data(), packed.data(), pool);
        AlignedBuffer scratch(plan->scratchBytes(pool.threads()));
        std::memset(scratch.data(), 0xff, scratch.size());  // NaN
        outputs[byRows].assign(packedFloats(s.oc, s.oh * s.ow), 7);
        if (byRows)
            plan->rowFed()->runRows(ImageRows(src.data(), s.ih, size_t(s.iw) * k.lanes), packed.data(),
                                    outputs[1].data(), post, scratch.data(), pool);
        else
            plan->run(src.data(), packed.data(), outputs[0].data(), post, scratch.data(), pool);
    }
    const size_t area = size_t(s.oh) * s.ow;
    for (size_t i = 0; i < outputs[0].size(); ++i) {
        const size_t channel = i / area / k.lanes * k.lanes + i % k.lanes;
        if (channel >= size_t(s.oc)) continue;
        ASSERT_EQ(std::bit_cast<uint32_t>(outputs[0][i]), std::bit_cast<uint32_t>(outputs[1][i])) << i;
    }
}

TEST(ResizedConvolution, RowsGiveTheBitsOfAnImage) {
    InlinePool alone;
    ForkJoinPool three(3);
    for (const std::string& isa : availableIsas()) {
        const Kernels k = selectKernels(isa);
        for (ThreadPool* pool : {static_cast<ThreadPool*>(&alone), static_cast<ThreadPool*>(&three)}) {
            for (const int pad : {0, 1, 2}) {
                ConvShape s;
                s.ic = 37, s.oc = 21;
                s.ih = 101, s.iw = 67;
                s.kh = s.kw = 3;
                s.padTop = pad, s.padLeft = 2 - pad;
                s.oh = s.ih + 2 * pad - 2;
                s.ow = s.iw + 2 * s.padLeft - 2;
                expectSameBits(k, s, ConvAlgorithm::Winograd2, *pool);
                expectSameBits(k, s, ConvAlgorithm::Winograd4, *pool);
                expectSameBits(k, s, ConvAlgorithm::Winograd6, *pool);
                s.kh = s.kw = 5;
                s.oh -= 2;
                s.ow -= 2;
                expectSameBits(k, s, ConvAlgorithm::Winograd4, *pool);
            }
        }
    }
}

TEST(ResizedConvolution, PlansThatReadWholeImagesAreMarked) {
    ConvShape s;
    s.ic = s.oc = 32;
    s.ih = s.iw = s.oh = s.ow = 96;
    s.kh = s.kw = 3;
    s.padTop = s.padLeft = 1;
    ConvOptions options;
    options.byRows = true;
    const auto reads = [&] { return makeConvPlan(selectKernels(), s, options)->rowFed() != nullptr; };
    EXPECT_TRUE(reads());
    s.batch = 2;
    EXPECT_FALSE(reads());
    s.batch = 1;
    s.ih = s.iw = s.oh = s.ow = 6;  // one chunk
    EXPECT_FALSE(reads());
    s.ih = s.oh = 96, s.iw = s.ow = 9000;  // a row of tiles is larger than the cache
    EXPECT_FALSE(reads());
    s.iw = s.ow = 96;
    options.algorithm = ConvAlgorithm::Direct;
    EXPECT_FALSE(reads());
}

// The fused pairs in nets, with the numbers of the separate operators.

// The resized map is larger than any core's CacheBudget::minFusedMap.
constexpr int kSmall = 48, kSide = 2 * kSmall;

enum class Net { Plain, Concat, TwoResized, Misaligned, ReadTwice, Small, Pointwise };

wire::NetT net(Net kind, int resizeType) {
    NetBuilder steps;
    const int side = kind == Net::Small ? 20 : kSide;
    const int x = steps.input({1, 3, side / 2, side / 2}), skip = steps.input({1, 3, side, side});
    const int channels = kind == Net::Misaligned ? 24 : 16;
    const int low = steps.conv(x, 3, 48, 3), high = steps.conv(skip, 3, channels, 3);
    int up = steps.resize(low, resizeType, side, side), inputs = 48;
    std::vector<int> outputs;
    if (kind == Net::ReadTwice) outputs.push_back(steps.relu(up));
    if (kind != Net::Plain) {
        const bool two = kind == Net::TwoResized;
        const int third = two ? steps.resize(steps.conv(x, 3, 32, 1), 1, side, side) : -1;
        up = two ? steps.concat({up, high, third}) : steps.concat({high, up});
        inputs += channels + (two ? 32 : 0);
    }
    outputs.push_back(steps.relu(steps.conv(up, inputs, 20, kind == Net::Pointwise ? 1 : 3)));
    outputs.push_back(high);
    return steps.finish(outputs);
}

TEST(ResizedConvolution, InANet) {
    for (const int resizeType : {1, 2, 3}) {
        for (const Net kind : {Net::Plain, Net::Concat, Net::TwoResized}) {
            SCOPED_TRACE(format("resize %d, net %d", resizeType, static_cast<int>(kind)));
            const wire::NetT joined = net(kind, resizeType);
            const NetResult apart = runUnfused(joined);
            EXPECT_EQ(apart.count("ResizedConvolution"), 0u);
            for (const int threads : {1, 2}) {
                SessionConfig config;
                config.backend.threads = threads;
                const NetResult together = runNet(joined, config);
                EXPECT_EQ(together.count("ResizedConvolution"), 1u);
                EXPECT_EQ(together.count("Interp"), 0u);
                EXPECT_EQ(together.count("Raster"), 0u);
                EXPECT_EQ(together.outputs, apart.outputs);
            }
        }
    }
}

TEST(ResizedConvolution, ListsWhatTheConvolutionIsChosenFrom) {
    SessionConfig config;
    config.recordPlans = true;
    const NetResult result = runNet(net(Net::Plain, 1), config);
    ASSERT_EQ(result.count("ResizedConvolution"), 1u);
    for (const OpRecord& op : result.ops) {
        if (std::string(op.type) != "ResizedConvolution") continue;
        EXPECT_GT(op.candidates.size(), 1u);
        std::vector<std::string> chosen;
        for (const AlgorithmCandidate& each : op.candidates)
            if (each.chosen) chosen.emplace_back(each.name);
        ASSERT_EQ(chosen.size(), 1u);
        EXPECT_EQ(chosen[0].substr(0, 8), "winograd");
    }
}

TEST(ResizedConvolution, OtherConsumersAndKernelsPreventIt) {
    for (const Net kind : {Net::ReadTwice, Net::Small, Net::Pointwise})
        EXPECT_EQ(runNet(net(kind, 2)).count("ResizedConvolution"), 0u) << static_cast<int>(kind);
    // 24 channels do not fill blocks of 16.
    const NetResult misaligned = runNet(net(Net::Misaligned, 2));
    EXPECT_EQ(misaligned.count("ResizedConvolution"), selectKernels().lanes == 16 ? 0u : 1u);
    EXPECT_EQ(misaligned.outputs, runUnfused(net(Net::Misaligned, 2)).outputs);
}

// Channels that belonged to several images before the reshape are not read from one tensor.
TEST(ResizedConvolution, ABatchThatBecomesChannelsPreventsIt) {
    NetBuilder steps;
    const int x = steps.input({2, 48, kSmall, kSmall});
    const int up = steps.reshape(steps.resize(x, 2, kSide, kSide), {1, 96, kSide, kSide});
    const wire::NetT net = steps.finish({steps.conv(up, 96, 20, 3)});
    const NetResult result = runNet(net);
    EXPECT_EQ(result.count("ResizedConvolution"), 0u);
    EXPECT_EQ(result.outputs, runUnfused(net).outputs);
}

TEST(ResizedConvolution, NeedsNoMemoryForTheResizedMap) {
    const wire::NetT joined = net(Net::Concat, 2);
    const auto interpreter = open(joined);
    constexpr int64_t kMap = int64_t{48} * kSide * kSide * 4;
    SessionConfig apart;
    apart.part.saveTensors = {joined.tensorName[4]};  // the resized tensor
    EXPECT_LT(Session(interpreter, {}).memory().arena + kMap / 2, Session(interpreter, apart).memory().arena);
}

TEST(ResizedConvolution, AnotherSizeMakesAnotherPlan) {
    wire::NetT resizable = net(Net::Plain, 2);
    const auto interpreter = open(resizable);
    Session session(interpreter, {});
    const auto output = [&](Session& of) {
        for (size_t input = 0; input < of.inputCount(); ++input) {
            std::vector<float> values(static_cast<size_t>(of.input(input).elements()));
            for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
            copyFromHost(of.input(input), of.inputData(input), values.data(), Format::NCHW);
        }
        of.run();
        std::vector<float> result(static_cast<size_t>(of.output(0).elements()));
        copyToHost(of.output(0), of.outputData(0), result.data(), Format::NCHW);
        return result;
    };
    const std::vector<float> before = output(session);
    session.resizeInput(0, {1, 3, 31, 33});
    session.resize();
    const std::vector<float> resized = output(session);
    Session fresh(interpreter, {});
    fresh.resizeInput(0, {1, 3, 31, 33});
    fresh.resize();
    EXPECT_EQ(resized, output(fresh));
    session.resizeInput(0, {1, 3, kSmall, kSmall});
    session.resize();
    EXPECT_EQ(before, output(session));
}

}  // namespace
}  // namespace mnnc::test
