// The changes of each pass in the recorded plan: each test compares the commands directly before and after its pass.
#include "plan/passes.h"

#include <gtest/gtest.h>

#include "quant_net.h"

namespace mnnc::test {
namespace {

struct Change {
    std::string before, after;
    static size_t count(const std::string& text, const std::string& word) {
        size_t found = 0;
        for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
        return found;
    }
    // Returns the number of commands of a type, before and after.
    std::pair<size_t, size_t> of(const std::string& type) const {
        return {count(before, " " + type + " '"), count(after, " " + type + " '")};
    }
};

Change changeOf(const char* pass, const wire::NetT& net) {
    const auto interpreter = open(net);
    SessionConfig config;
    config.recordPlans = true;
    const Session session(interpreter, config);
    const std::vector<PassText>& texts = session.paths()[0].context().planTexts.at({0, 0});
    EXPECT_EQ(texts.size(), passes().size() + 1);
    for (size_t i = 1; i < texts.size(); ++i) {
        EXPECT_EQ(texts[i].pass, passes()[i - 1].name);
        if (texts[i].pass == pass) return {texts[i - 1].text, texts[i].text};
    }
    ADD_FAILURE() << "there is no pass " << pass;
    return {};
}

using Counts = std::pair<size_t, size_t>;

TEST(Passes, NothingIsRecordedUnlessAsked) {
    NetBuilder s;
    const wire::NetT net = s.finish({s.relu(s.input({1, 4, 3, 3}))});
    const auto interpreter = open(net);
    EXPECT_TRUE(Session(interpreter, {}).paths()[0].context().planTexts.empty());
}

TEST(Passes, ReadMaskEntries) {
    class Net : public NetBuilder {
      public:
        int entry(int masks, int32_t number) {
            const int index = tensor(), axis = tensor();
            net_.oplists.push_back(makeIntConst(index, {}, {number}));
            net_.oplists.push_back(makeIntConst(axis, {}, {0}));
            return add(wire::OpType::GatherV2, {masks, index, axis}, wire::GatherV2T{});
        }
        int attention(int x, int mask) {
            return add(wire::OpType::Attention, {x, x, x, mask}, wire::AttentionParamT{});
        }
    } s;
    const int x = s.input({1, 3, 2, 4}), masks = s.input({2, 1, 3, 3});
    const int shown = s.entry(masks, 1), y = s.attention(x, s.entry(masks, 0)), z = s.attention(x, shown);
    const Change change = changeOf("read-mask-entries", s.finish({y, z, s.relu(shown)}));
    EXPECT_EQ(change.of("Raster"), (Counts{2, 1}));  // the other one has a reader of another kind
    EXPECT_EQ(change.of("Attention"), (Counts{2, 2}));
}

TEST(Passes, ComposeRasters) {
    NetBuilder s;
    const int x = s.permute(s.reshape(s.input({1, 8, 3, 5}), {1, 2, 4, 15}), {0, 2, 1, 3});
    const Change change = changeOf("compose-rasters", s.finish({s.reshape(x, {1, 8, 3, 5})}));
    EXPECT_GT(change.of("Raster").first, change.of("Raster").second);
}

TEST(Passes, RecogniseActivations) {
    NetBuilder s;
    const int x = s.input({1, 4, 3, 3});
    const int clipped = s.clip(s.binary(BinaryCode::ADD, x, s.scalar(3)), 0, 6);
    const int y = s.binary(BinaryCode::REALDIV, s.binary(BinaryCode::MUL, x, clipped), s.scalar(6));
    const Change change = changeOf("recognise-activations", s.finish({y}));
    EXPECT_EQ(change.of("BinaryOp"), (Counts{3, 0}));
    EXPECT_EQ(change.of("ReLU6"), (Counts{1, 0}));
    EXPECT_EQ(change.of("UnaryOp"), (Counts{0, 1}));
}

TEST(Passes, RecogniseNorms) {
    class Net : public NetBuilder {
      public:
        int mean(int x) {
            wire::ReductionParamT table;
            table.operation = wire::ReductionType::MEAN;
            table.dim = {-1};
            table.keepDims = true;
            return add(wire::OpType::Reduction, {x}, std::move(table));
        }
    } s;
    const int x = s.input({3, 5, 8});
    const int d = s.binary(BinaryCode::SUB, x, s.mean(x));
    const int sum = s.binary(BinaryCode::ADD, s.mean(s.unary(UnaryCode::SQUARE, d)), s.scalar(1e-5f));
    const int y = s.binary(BinaryCode::REALDIV, d, s.unary(UnaryCode::SQRT, sum));
    const Change change = changeOf("recognise-norms", s.finish({s.binary(BinaryCode::MUL, y, s.constant({8}))}));
    EXPECT_EQ(change.of("Reduction"), (Counts{2, 0}));
    EXPECT_EQ(change.of("BinaryOp"), (Counts{4, 0}));
    EXPECT_EQ(change.of("LayerNorm"), (Counts{0, 1}));
}

TEST(Passes, SharePackings) {
    NetBuilder s;
    const int weights = s.constant({64, 64, 3, 3});
    std::vector<int> maps;
    for (const int size : {48, 24, 12}) maps.push_back(s.convBy(s.input({1, 64, size, size}), weights, 64, 3));
    const Change change = changeOf("share-packings", s.finish(maps));
    EXPECT_EQ(change.of("Convolution"), (Counts{3, 3}));
    EXPECT_EQ(Change::count(change.before, "algorithm shared"), 0U);
    EXPECT_EQ(Change::count(change.after, "algorithm shared"), 3U) << change.after;
}

TEST(Passes, FoldOperandRasters) {
    NetBuilder s;
    const int a = s.input({2, 3, 4, 5}), b = s.input({2, 3, 6, 5});
    const int y = s.matmul(a, s.permute(b, {0, 1, 3, 2}));
    const Change change = changeOf("fold-operand-rasters", s.finish({y}));
    EXPECT_EQ(change.of("Raster"), (Counts{1, 0}));
}

TEST(Passes, FusePostOps) {
    NetBuilder s;
    const int x = s.input({1, 5, 6, 7});
    const int sum = s.binary(BinaryCode::ADD, s.conv(x, 5, 5, 3), x);
    const Change change = changeOf("fuse-post-ops", s.finish({s.unary(UnaryCode::TANH, sum)}));
    EXPECT_EQ(change.of("BinaryOp"), (Counts{1, 0}));
    EXPECT_EQ(change.of("UnaryOp"), (Counts{1, 0}));
    EXPECT_EQ(change.of("Convolution"), (Counts{1, 1}));
}

TEST(Passes, FoldPadding) {
    class Net : public NetBuilder {
      public:
        int average(int x) {
            wire::PoolT op;
            op.type = wire::PoolType::AVEPOOL;
            op.kernelX = op.kernelY = 3;
            op.strideX = op.strideY = 1;
            op.padType = wire::PoolPadType::VALID;
            return add(wire::OpType::Pooling, {x}, std::move(op));
        }
        int padded(int x) {
            const int list = tensor();
            net_.oplists.push_back(makeIntConst(list, {8}, {0, 0, 0, 0, 1, 1, 1, 1}));
            return add(wire::OpType::Padding, {x, list}, wire::PadParamT{});
        }
    } s;
    const Change change =
        changeOf("fold-padding", s.finish(std::vector<int>{s.average(s.padded(s.input({1, 4, 6, 6})))}));
    EXPECT_EQ(change.of("Raster"), (Counts{1, 0}));
    EXPECT_EQ(change.of("Pooling"), (Counts{1, 1}));
}

TEST(Passes, RecognisePRelu) {
    class Net : public NetBuilder {
      public:
        int prelu(int x) {
            const int negative = binary(BinaryCode::LESS, x, scalar(0)), id = tensor();
            net_.oplists.push_back(
                makeOp(wire::OpType::Select, "choice", {negative, constant({4, 1, 1}), scalar(1)}, {id}));
            return binary(BinaryCode::MUL, x, id);
        }
    } s;
    const Change change = changeOf("recognise-prelu", s.finish(std::vector<int>{s.prelu(s.input({1, 4, 6, 6}))}));
    EXPECT_EQ(change.of("BinaryOp"), (Counts{2, 0}));
    EXPECT_EQ(change.of("Select"), (Counts{1, 0}));
    EXPECT_EQ(change.of("Raster"), (Counts{1, 0}));
    EXPECT_EQ(change.of("PReLU"), (Counts{0, 1}));
}

TEST(Passes, Quantize) {
    NetBuilder s;
    const int x = s.input({1, 4, 6, 6});
    const int y = s.relu(s.relu(x, 0));
    wire::NetT net = s.finish({y});
    for (const int id : {x, x + 1, y}) {
        auto describe = std::make_unique<wire::TensorDescribeT>();
        describe->index = id;
        describe->quantInfo = std::make_unique<wire::TensorQuantInfoT>();
        describe->quantInfo->scale = 0.1f;
        describe->quantInfo->min = -127;
        describe->quantInfo->max = 127;
        describe->quantInfo->type = wire::DataType::DT_INT8;
        net.extraTensorDescribe.push_back(std::move(describe));
    }
    const Change change = changeOf("quantize", net);
    EXPECT_EQ(change.of("FloatToInt8"), (Counts{0, 1}));
    EXPECT_EQ(change.of("ReLU"), (Counts{2, 2}));
    EXPECT_EQ(change.of("Int8ToFloat"), (Counts{0, 1}));
}

// A ReLU writes no code below the zero point, which its consumers may rely on where that is not negative either.
TEST(Passes, QuantizeFindsCodesFromZero) {
    const auto marks = [](float zero, float slope, float max = 127) {
        QuantNet n;
        const int x = n.input(), a = n.conv(x), b = n.relu(a, slope), c = n.conv(b);
        n.quant(x, 0.03f, zero).quant(a, 0.03f, zero).quant(b, 0.03f, zero, max).quant(c, 0.03f, zero);
        return Change::count(changeOf("quantize", n.finish({c})).after, " int8 from 0 ");
    };
    EXPECT_EQ(marks(0, 0), 2u);  // the result of the ReLU, and the input of the last convolution
    EXPECT_EQ(marks(2, 0), 2u);
    EXPECT_EQ(marks(-3, 0), 0u);
    EXPECT_EQ(marks(0, 0.25f), 0u);
    EXPECT_EQ(marks(0, 0, -100), 0u);  // the upper end of the codes is below zero
}

// An average that is rounded down makes -1 of zeros.
TEST(Passes, QuantizeFindsCodesFromZeroBehindMaxima) {
    class Net : public QuantNet {
      public:
        int pool(int x, wire::PoolType type) {
            wire::PoolT table;
            table.type = type;
            table.isGlobal = true;
            return add(wire::OpType::Pooling, {x}, std::move(table));
        }
    };
    const auto marks = [](wire::PoolType type) {
        Net n;
        const int x = n.input(), a = n.conv(x), b = n.relu(a), c = n.pool(b, type), d = n.conv(c);
        for (const int id : {x, a, b, c, d}) n.quant(id, 0.03f, 0);
        return Change::count(changeOf("quantize", n.finish({d})).after, " int8 from 0 ");
    };
    EXPECT_EQ(marks(wire::PoolType::MAXPOOL), 4u);  // the results of ReLU and pooling, and where they are read
    EXPECT_EQ(marks(wire::PoolType::AVEPOOL), 2u);
}

TEST(Passes, AssignStorage) {
    NetBuilder s;
    const int x = s.conv(s.input({1, 4, 6, 6}), 4, 32, 3);
    const Change change = changeOf("assign-storage", s.finish({s.reshape(s.conv(x, 32, 32, 3), {32, 36})}));
    EXPECT_EQ(Change::count(change.before, " in blocks of "), 0u);
    EXPECT_EQ(change.of("Convolution"), (Counts{2, 2}));
    // The result of the first convolution, twice, and that of the second one.
    EXPECT_EQ(Change::count(change.after, " in blocks of "), 4u) << change.after;
    EXPECT_EQ(Change::count(change.before, "a view"), 0u);
    EXPECT_EQ(Change::count(change.after, "a view"), 1u) << change.after;
}

// A 1x1 convolution of few channels reads them row-major; for a fusion they would have to be packed first.
TEST(Passes, FuseCompositesLooksAtLayouts) {
    NetBuilder s;
    const int wide = s.conv(s.input({1, 3, 96, 96}), 3, 48, 1);
    const Change change = changeOf("fuse-composites", s.finish({s.depthwise(wide, 48)}));
    EXPECT_EQ(change.of("PointwiseDepthwise"), (Counts{0, 0})) << change.after;
}

TEST(Passes, FuseCompositesPointwiseDepthwise) {
    NetBuilder s;
    const int wide = s.conv(s.input({1, 8, 96, 96}), 8, 48, 1);
    const Change change = changeOf("fuse-composites", s.finish({s.depthwise(wide, 48)}));
    EXPECT_EQ(change.of("Convolution"), (Counts{1, 0}));
    EXPECT_EQ(change.of("ConvolutionDepthwise"), (Counts{1, 0}));
    EXPECT_EQ(change.of("PointwiseDepthwise"), (Counts{0, 1}));
}

TEST(Passes, RecogniseAttention) {
    NetBuilder s;
    const int scores = s.matmul(s.input({2, 5, 4}), s.input({2, 7, 4}), false, true);
    const int y = s.matmul(s.softmax(s.binary(BinaryCode::MUL, scores, s.scalar(0.5f)), 2), s.input({2, 7, 3}));
    const Change change = changeOf("recognise-attention", s.finish({s.permute(y, {1, 0, 2})}));
    EXPECT_EQ(change.of("MatMul"), (Counts{2, 0}));
    EXPECT_EQ(change.of("BinaryOp"), (Counts{1, 0}));
    EXPECT_EQ(change.of("Softmax"), (Counts{1, 0}));
    EXPECT_EQ(change.of("Raster"), (Counts{1, 0}));
    EXPECT_EQ(change.of("Attention"), (Counts{0, 1}));
}

TEST(Passes, FuseCompositesResizedConvolution) {
    NetBuilder s;
    const int up = s.resize(s.input({1, 48, 48, 48}), 2, 96, 96);
    const Change change = changeOf("fuse-composites", s.finish({s.conv(up, 48, 20, 3)}));
    EXPECT_EQ(change.of("Interp"), (Counts{1, 0}));
    EXPECT_EQ(change.of("Convolution"), (Counts{1, 0}));
    EXPECT_EQ(change.of("ResizedConvolution"), (Counts{0, 1}));
}

TEST(Passes, FuseCompositesElementwiseChain) {
    NetBuilder s;
    const int x = s.input({1, 4, 20, 20}), y = s.input({1, 4, 20, 20});
    const int z = s.unary(UnaryCode::EXP, s.binary(BinaryCode::MUL, s.unary(UnaryCode::ABS, x), y));
    const Change change = changeOf("fuse-composites", s.finish({z}));
    EXPECT_EQ(change.of("UnaryOp"), (Counts{2, 0}));
    EXPECT_EQ(change.of("BinaryOp"), (Counts{1, 0}));
    EXPECT_EQ(change.of("ElementwiseChain"), (Counts{0, 1}));
}

TEST(Passes, FuseCompositesRotaryEmbedding) {
    NetBuilder s;
    const int x = s.input({1, 3, 2, 8}), factors = s.input({1, 3, 1, 8});
    const std::vector<int> halves = s.split(x, 3, {4});
    const int turned = s.concat({s.unary(UnaryCode::NEG, halves[1]), halves[0]}, 3);
    const int a = s.binary(BinaryCode::MUL, x, factors), b = s.binary(BinaryCode::MUL, turned, factors);
    const Change change = changeOf("fuse-composites", s.finish({s.binary(BinaryCode::ADD, a, b)}));
    EXPECT_EQ(change.of("Raster"), (Counts{3, 0}));
    EXPECT_EQ(change.of("UnaryOp"), (Counts{1, 0}));
    EXPECT_EQ(change.of("BinaryOp"), (Counts{3, 0}));
    EXPECT_EQ(change.of("RotaryEmbedding"), (Counts{0, 1}));
}

TEST(Passes, KeepCoordinates) {  // the host stores all floats in 32 bits
    NetBuilder s;
    const int map = s.input({1, 3, 5, 5}), grid = s.relu(s.input({1, 4, 4, 2}));
    const Change change = changeOf("keep-coordinates", s.finish({s.sample(map, grid)}));
    EXPECT_EQ(change.before, change.after);
    EXPECT_EQ(Change::count(change.after, "in 32 bits"), 0u);
}

TEST(Passes, AssignBackendsFullyConnected) {
    for (const int outputs : {16, 70}) {
        NetBuilder s;
        const int x = s.reshape(s.input({9, 23}), {9, 23, 1, 1});
        const int y = s.conv(s.conv(x, 23, 50, 1), 50, outputs, 1);
        const Change change = changeOf("assign-backends", s.finish({s.softmax(s.reshape(y, {9, outputs}))}));
        EXPECT_EQ(Change::count(change.after, "_storage"), 0U) << change.after;
    }
}

TEST(Passes, AssignBackends) {
    NetBuilder s;
    const int x = s.conv(s.input({1, 4, 6, 6}), 4, 32, 3);
    const Change change = changeOf("assign-backends", s.finish({s.conv(x, 32, 32, 3)}));
    EXPECT_EQ(Change::count(change.before, " on cpu"), 0u);
    EXPECT_EQ(Change::count(change.after, " on cpu"), Change::count(change.after, "\n"));
    EXPECT_EQ(change.of("Convolution"), (Counts{2, 2}));
    EXPECT_GE(Change::count(change.after, " in blocks of "), 2u);  // between the two convolutions
}

TEST(Passes, ElideCopies) {
    NetBuilder s;
    const int x = s.input({1, 5, 6, 7});
    const int y = s.concat({s.conv(x, 5, 32, 1), s.conv(x, 5, 64, 1)}, 1);
    const Change change = changeOf("elide-copies", s.finish({s.conv(y, 96, 16, 1)}));
    EXPECT_EQ(change.of("Raster"), (Counts{1, 0}));
    EXPECT_EQ(Change::count(change.before, " from byte 0"), 0u);
    EXPECT_GT(Change::count(change.after, " from byte 0"), 0u);
}

TEST(Passes, ComputeInPlace) {
    NetBuilder s;
    const int soft = s.softmax(s.input({1, 100}));
    const Change change = changeOf("compute-in-place", s.finish({s.softmax(soft)}));
    EXPECT_EQ(Change::count(change.before, " from byte 0"), 0u);
    EXPECT_EQ(Change::count(change.after, " from byte 0"), 1u);
}

TEST(Passes, PlanMemory) {
    NetBuilder s;
    const int soft = s.softmax(s.input({1, 100}));
    const Change change = changeOf("plan-memory", s.finish({s.softmax(soft), soft}));
    EXPECT_EQ(Change::count(change.before, " at byte "), 0u);
    EXPECT_EQ(Change::count(change.after, " at byte 0"), 2u);  // written and read
    EXPECT_EQ(Change::count(change.after, " at byte "), 3u);
}

TEST(Passes, RecordDeviceSteps) {  // the host alone records no steps
    NetBuilder s;
    const Change change = changeOf("record-device-steps", s.finish({s.softmax(s.input({1, 100}))}));
    EXPECT_EQ(change.before, change.after);
}

}  // namespace
}  // namespace mnnc::test
