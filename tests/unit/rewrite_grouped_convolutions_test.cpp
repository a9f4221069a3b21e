// A group convolution written as slices runs as one operator, with the numbers of the file's operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rewritten_net.h"

namespace mnnc::test {
namespace {

constexpr int kGroups = 4, kIn = 3, kOut = 5;

// t0 input -> t1 converted -> t2..t5 cut -> t6..t9 convolved -> t10 joined -> t11 converted
wire::NetT slicedNet() {
    wire::NetT net;
    for (int i = 0; i < 12; ++i) net.tensorName.push_back("t" + std::to_string(i));
    net.oplists.push_back(makeInput(0, {1, kGroups * kIn, 6, 5}));
    wire::TensorConvertInfoT pack;
    pack.source = wire::MNN_DATA_FORMAT::NCHW;
    pack.dest = wire::MNN_DATA_FORMAT::NC4HW4;
    net.oplists.push_back(makeOp(wire::OpType::ConvertTensor, "pack", {0}, {1}, pack));
    wire::SliceT slice;
    slice.axis = 1;
    slice.sourceType = wire::NetSource::CAFFE;
    for (int g = 1; g < kGroups; ++g) slice.slicePoints.push_back(g * kIn);
    net.oplists.push_back(makeOp(wire::OpType::Slice, "slice", {1}, {2, 3, 4, 5}, slice));
    for (int g = 0; g < kGroups; ++g) {
        wire::Convolution2DT conv = makeConv(kIn, kOut, kIn * kOut * 9);
        conv.common->kernelX = conv.common->kernelY = 3;
        conv.common->pads = {1, 1, 1, 1};
        conv.common->relu = true;
        for (size_t i = 0; i < conv.weight.size(); ++i)
            conv.weight[i] = std::sin(static_cast<float>(i + 1) * static_cast<float>(g + 1));
        for (size_t i = 0; i < conv.bias.size(); ++i) conv.bias[i] = static_cast<float>(i) - static_cast<float>(g);
        net.oplists.push_back(
            makeOp(wire::OpType::Convolution, "conv__group__" + std::to_string(g), {2 + g}, {6 + g}, conv));
    }
    wire::AxisT axis;
    axis.axis = 1;
    net.oplists.push_back(makeOp(wire::OpType::Concat, "conv", {6, 7, 8, 9}, {10}, axis));
    wire::TensorConvertInfoT unpack;
    unpack.source = wire::MNN_DATA_FORMAT::NC4HW4;
    unpack.dest = wire::MNN_DATA_FORMAT::NCHW;
    net.oplists.push_back(makeOp(wire::OpType::ConvertTensor, "unpack", {10}, {11}, unpack));
    net.outputName = {"t11"};
    return net;
}

TEST(RewriteGroupedConvolutions, RunsAsOneUnlessASliceIsAnOutput) {
    const auto interpreter = open(slicedNet());
    EXPECT_EQ(interpreter->net->graphs[0].nodes.size(), slicedNet().oplists.size());
    const RewrittenRun one = runRewritten(interpreter, {});
    const RewrittenRun parts = runRewritten(interpreter, {"t7"});
    EXPECT_EQ(one.operations.at("Convolution"), 1);
    EXPECT_EQ(parts.operations.at("Convolution"), kGroups);
    ASSERT_EQ(one.values.size(), parts.values.size());
    ASSERT_EQ(one.values.size(), static_cast<size_t>(kGroups * kOut * 6 * 5));
    for (size_t i = 0; i < one.values.size(); ++i) EXPECT_NEAR(one.values[i], parts.values[i], 1e-4f) << i;
    EXPECT_GT(*std::max_element(one.values.begin(), one.values.end()), 1.0f);
}

TEST(RewriteGroupedConvolutions, OtherPatternsAreKept) {
    EXPECT_EQ(rewritesOf(slicedNet()), 1u);
    wire::NetT net = slicedNet();
    net.oplists[2]->main.AsSlice()->slicePoints = {2, 6, 9};
    EXPECT_EQ(rewritesOf(net), 0u) << "unequal parts";
    net = slicedNet();
    net.oplists[4]->main.AsConvolution2D()->common->relu = false;
    EXPECT_EQ(rewritesOf(net), 0u) << "another activation";
    net = slicedNet();
    net.oplists[7]->inputIndexes = {7, 6, 8, 9};
    EXPECT_EQ(rewritesOf(net), 0u) << "another order";
    net = slicedNet();
    net.oplists[7]->main.AsAxis()->axis = 2;
    EXPECT_EQ(rewritesOf(net), 0u) << "joined along another axis";
    net = slicedNet();
    net.tensorName.push_back("t12");
    net.oplists.push_back(makeOp(wire::OpType::ReLU, "reader", {7}, {12}));
    EXPECT_EQ(rewritesOf(net), 0u) << "an intermediate tensor with another reader";
    net = slicedNet();
    net.oplists[1]->main.AsTensorConvertInfo()->dest = wire::MNN_DATA_FORMAT::NHWC;
    EXPECT_EQ(rewritesOf(net), 0u) << "axis 1 is not the channels";
}

}  // namespace
}  // namespace mnnc::test
