// A 3-D convolution written as 2-D ones runs as one operator, with the numbers of the file's operators.
#include <algorithm>
#include <cmath>

#include "rewritten_net.h"

namespace mnnc::test {
namespace {

constexpr int kDepth = 2, kIn = 3, kOut = 4;

// The converter's net for a convolution of 2 x 3 x 3 taps; its tensors are t0, t1, ...
class Written {
  public:
    wire::NetT net;
    int sum = 0, extents = 0,
        last = 0;  // tensors: the sum of the taps, the extents of the images, the output

    // clip: the type of an operator that clips the sum.
    explicit Written(wire::OpType clip = wire::OpType::Input) {
        const int x = tensor();
        net.oplists.push_back(makeInput(x, {2, kIn, 4, 5, 6}));
        for (int i = -1; i <= kOut; ++i) {
            constants_[i + 1] = tensor();
            net.oplists.push_back(makeIntConst(constants_[i + 1], {1}, {i}));
        }
        const int shape = add(wire::OpType::Shape, {x});
        const int n = extent(shape, 0), c = extent(shape, 1), d = extent(shape, 2), h = extent(shape, 3),
                  w = extent(shape, 4);
        const int flat = reshape(x, {constant(1), product(n, c), d, product(h, w)});
        wire::Convolution2DT window;
        window.common = std::make_unique<wire::Convolution2DCommonT>();
        window.common->kernelY = kDepth;
        window.common->pads = {1, 0, 0, 0};
        const int columns = add(wire::OpType::Im2Col, {flat}, std::move(window));
        const int split = reshape(columns, {n, product(c, constant(kDepth)), constant(-1), h, w});
        const int turned = turn(split);
        const int images = reshape(turned, {constant(-1), c, constant(kDepth), h, w});
        extents = net.oplists.back()->inputIndexes[1];
        wire::AxisT axis;
        axis.axis = 2;
        const int taps[kDepth] = {tensor(), tensor()};
        net.oplists.push_back(makeOp(wire::OpType::Unpack, "unpack", {images}, {taps[0], taps[1]}, axis));
        std::vector<int32_t> made;
        for (const int tap : taps) {
            wire::Convolution2DT conv = makeConv(kIn, kOut, kIn * kOut * 9);
            conv.common->kernelX = conv.common->kernelY = 3;
            conv.common->pads = {1, 1, 1, 1};
            for (size_t i = 0; i < conv.weight.size(); ++i)
                conv.weight[i] = std::sin(static_cast<float>((i + 1) * (made.size() + 2)));
            for (size_t i = 0; i < conv.bias.size(); ++i) conv.bias[i] = static_cast<float>(2 * i) - 1;
            made.push_back(add(wire::OpType::Convolution, {tap}, std::move(conv)));
        }
        wire::EltwiseT eltwise;
        eltwise.type = wire::EltwiseType::SUM;
        sum = add(wire::OpType::Eltwise, made, std::move(eltwise));
        if (clip == wire::OpType::ReLU)
            sum = add(clip, {sum}, wire::ReluT());
        else if (clip == wire::OpType::ReLU6)
            sum = add(clip, {sum}, wire::Relu6T());
        const int after = add(wire::OpType::Shape, {sum});
        last = turn(reshape(sum, {n, constant(-1), constant(kOut), extent(after, 2), extent(after, 3)}));
        net.outputName = {"t" + std::to_string(last)};
    }

    int tensor() {
        net.tensorName.push_back("t" + std::to_string(net.tensorName.size()));
        return static_cast<int>(net.tensorName.size()) - 1;
    }
    template <typename... Table>
    int add(wire::OpType type, std::vector<int32_t> inputs, Table... table) {
        const int made = tensor();
        net.oplists.push_back(
            makeOp(type, "op" + std::to_string(made), std::move(inputs), {made}, std::move(table)...));
        return made;
    }
    int constant(int value) const { return constants_[value + 1]; }

  private:
    int extent(int shape, int i) { return add(wire::OpType::SliceTf, {shape, constant(i), constant(1)}); }
    int product(int a, int b) {
        wire::BinaryOpT table;
        table.opType = wire::BinaryOpOperation::MUL;
        return add(wire::OpType::BinaryOp, {a, b}, std::move(table));
    }
    int reshape(int x, std::vector<int32_t> list) {
        const int to = add(wire::OpType::Concat, std::move(list), wire::AxisT());
        wire::ReshapeT table;
        table.dimType = wire::MNN_DATA_FORMAT::NCHW;
        return add(wire::OpType::Reshape, {x, to}, std::move(table));
    }
    int turn(int x) {
        const int order = tensor();
        net.oplists.push_back(makeIntConst(order, {5}, {0, 2, 1, 3, 4}));
        return add(wire::OpType::Transpose, {x, order});
    }

    int constants_[kOut + 2] = {};
};

TEST(RewriteConvolutions3d, RunsAsOneUnlessTheSumIsAnOutput) {
    const Written written;
    const auto interpreter = open(written.net);
    const RewrittenRun one = runRewritten(interpreter, {});
    const RewrittenRun parts = runRewritten(interpreter, {"t" + std::to_string(written.sum)});
    EXPECT_EQ(one.operations.at("Convolution3D"), 1);
    EXPECT_EQ(parts.operations.count("Convolution3D"), 0u);
    ASSERT_EQ(one.values.size(), static_cast<size_t>(2 * kOut * 4 * 5 * 6));
    ASSERT_EQ(one.values.size(), parts.values.size());
    for (size_t i = 0; i < one.values.size(); ++i) EXPECT_NEAR(one.values[i], parts.values[i], 1e-4f) << i;
    EXPECT_GT(*std::max_element(one.values.begin(), one.values.end()), 1.0f);
}

TEST(RewriteConvolutions3d, TheSumMayBeClipped) {
    for (const wire::OpType clip : {wire::OpType::ReLU, wire::OpType::ReLU6}) {
        const Written written(clip);
        const auto interpreter = open(written.net);
        const RewrittenRun one = runRewritten(interpreter, {});
        const RewrittenRun parts = runRewritten(interpreter, {"t" + std::to_string(written.sum)});
        EXPECT_EQ(one.operations.at("Convolution3D"), 1);
        EXPECT_EQ(parts.operations.count("Convolution3D"), 0u);
        ASSERT_EQ(one.values.size(), parts.values.size());
        for (size_t i = 0; i < one.values.size(); ++i) EXPECT_NEAR(one.values[i], parts.values[i], 1e-4f) << i;
        const auto [minimum, maximum] = std::minmax_element(one.values.begin(), one.values.end());
        EXPECT_EQ(*minimum, 0);
        EXPECT_EQ(*maximum == 6, clip == wire::OpType::ReLU6) << *maximum;
    }
}

TEST(RewriteConvolutions3d, OtherNetsAreKept) {
    EXPECT_EQ(rewritesOf(Written().net), 1u);
    Written written(wire::OpType::ReLU);
    for (const auto& op : written.net.oplists)
        if (op->type == wire::OpType::ReLU) op->main.AsRelu()->slope = 0.5f;
    EXPECT_EQ(rewritesOf(written.net), 0u) << "a ReLU with a slope";
    written = Written();
    written.add(wire::OpType::ReLU, {written.sum});
    EXPECT_EQ(rewritesOf(written.net), 0u) << "another reader of the sum";
    const auto find = [](Written& w, wire::OpType type) {
        return std::find_if(w.net.oplists.begin(), w.net.oplists.end(),
                            [type](const auto& op) { return op->type == type; })
            ->get();
    };
    written = Written();
    find(written, wire::OpType::Eltwise)->main.AsEltwise()->type = wire::EltwiseType::MAXIMUM;
    EXPECT_EQ(rewritesOf(written.net), 0u) << "no sum";
    written = Written();
    find(written, wire::OpType::Im2Col)->main.AsConvolution2D()->common->kernelX = 2;
    EXPECT_EQ(rewritesOf(written.net), 0u) << "columns along the plane";
    written = Written();
    find(written, wire::OpType::Convolution)->main.AsConvolution2D()->common->pads = {1, 1, 1, 0};
    EXPECT_EQ(rewritesOf(written.net), 0u) << "taps of different windows";
    written = Written();
    find(written, wire::OpType::Reshape)->main.AsReshape()->dimType = wire::MNN_DATA_FORMAT::NHWC;
    EXPECT_EQ(rewritesOf(written.net), 0u) << "another order of the data";
    written = Written();
    for (const auto& op : written.net.oplists)
        if (op->outputIndexes[0] == written.extents) op->inputIndexes[1] = written.constant(3);
    EXPECT_EQ(rewritesOf(written.net), 1u) << "an extent that is a constant of the right value";
    for (const auto& op : written.net.oplists)
        if (op->outputIndexes[0] == written.extents) op->inputIndexes[1] = written.constant(2);
    EXPECT_EQ(rewritesOf(written.net), 0u) << "other extents of the images";
}

}  // namespace
}  // namespace mnnc::test
