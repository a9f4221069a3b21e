// Static models whose descriptions contradict their operators, or that access memory outside of their tensors, are
// refused; a search may find any number of results.
#include <cmath>

#include "opened_model.h"

namespace mnnc::test {
namespace {

void describe(wire::NetT& net, int32_t id, std::vector<int32_t> dims) {
    auto entry = std::make_unique<wire::TensorDescribeT>();
    entry->index = id;
    entry->blob = std::make_unique<wire::BlobT>();
    entry->blob->dims = std::move(dims);
    net.extraTensorDescribe.push_back(std::move(entry));
}

// input t0 of these extents -> operator -> t1, with this description.
template <typename Param>
wire::NetT makeStatic(std::vector<int32_t> dims, wire::OpType type, Param param, std::vector<int32_t> described) {
    wire::NetT net;
    net.usage = wire::Usage::INFERENCE_STATIC;
    net.tensorName = {"t0", "t1"};
    net.outputName = {"t1"};
    net.oplists.push_back(makeInput(0, dims));
    net.oplists.push_back(makeOp(type, "op", {0}, {1}, std::move(param)));
    describe(net, 0, std::move(dims));
    describe(net, 1, std::move(described));
    return net;
}

void expectStatus(const wire::NetT& net, mnn_status status, const std::string& part) {
    const Opened opened(net, nullptr);
    EXPECT_EQ(opened.status, status) << opened.sentence;
    EXPECT_NE(opened.sentence.find(part), std::string::npos) << opened.sentence;
}

wire::InterpT lowered(float height, float width) {
    wire::InterpT interp;
    interp.resizeType = 2;
    interp.heightScale = height;
    interp.widthScale = width;
    return interp;
}

wire::NetT makeResize(const wire::InterpT& interp, std::vector<int32_t> described) {
    return makeStatic({1, 2, 3, 4}, wire::OpType::Interp, interp, std::move(described));
}

TEST(StaticModel, ResizesToTheDescribedExtentsOnly) {
    const wire::InterpT half = lowered(0.5f, 0.5f);
    expectStatus(makeResize(half, {1, 2, 6, 8}), MNN_OK, "");
    for (const std::vector<int32_t>& extents : {std::vector<int32_t>{1, 3, 6, 8}, {2, 2, 6, 8}, {1, 2, 6}})
        expectStatus(makeResize(half, extents), MNN_ERROR_COMPUTE_SIZE,
                     "op: the static model describes the result of resizing 1x2x3x4 as");
    expectStatus(makeResize(half, {1, 2, 0, 8}), MNN_ERROR_COMPUTE_SIZE,
                 "op: an input 1x2x3x4 cannot be resized to 1x2x0x8");
    expectStatus(makeResize(half, {1, 2, 2147483647, 1}), MNN_ERROR_COMPUTE_SIZE,
                 "op: an input 1x2x3x4 cannot be resized to 1x2x2147483647x1");
}

TEST(StaticModel, MapsOfAResizeAreNumbers) {
    for (const float wrong : {-1.0f, NAN, INFINITY}) {
        expectStatus(makeResize(lowered(0.5f, wrong), {1, 2, 6, 8}), MNN_ERROR_BAD_PARAMETER, "op: a scale is ");
        wire::InterpT interp = lowered(0.5f, 0.5f);
        interp.depthScale = wrong;  // a plane has no depth
        expectStatus(makeResize(interp, {1, 2, 6, 8}), MNN_OK, "");
        interp.heightOffset = wrong;
        if (wrong != -1.0f)
            expectStatus(makeResize(interp, {1, 2, 6, 8}), MNN_ERROR_BAD_PARAMETER, "op: an offset of ");
    }
}

TEST(StaticModel, CoordinateModesMatterInTheOrdinaryFormOnly) {
    wire::InterpT interp = lowered(0.5f, 0.5f);
    interp.ctm = static_cast<wire::CoordinateTransformationMode>(112);
    wire::NetT net = makeResize(interp, {1, 2, 6, 8});
    expectStatus(net, MNN_OK, "");
    net.usage = wire::Usage::INFERENCE;
    expectStatus(net, MNN_ERROR_BAD_PARAMETER, "ctm is 112, 0 to 6 are known");
    interp.outputHeight = 6;
    interp.outputWidth = 8;
    expectStatus(makeResize(interp, {1, 2, 6, 8}), MNN_ERROR_BAD_PARAMETER, "op: the coordinate mode 112 is unknown");
}

struct Copy {
    std::vector<int32_t> size;
    int32_t from = 0, to = 0;
    std::vector<int32_t> strides = {0, 0, 1};
};

// Makes a Raster of an input of 12 elements into 12.
wire::NetT makeRaster(const std::vector<Copy>& copies) {
    wire::NetT net = makeStatic({3, 4}, wire::OpType::Raster, wire::ExtraT(), {3, 4});
    net.oplists[1]->main.Reset();
    net.oplists[1]->inputIndexes.assign(copies.size(), 0);
    for (const Copy& copy : copies) {
        auto region = std::make_unique<wire::RegionT>();
        region->size = copy.size;
        region->src = std::make_unique<wire::ViewT>();
        region->src->offset = copy.from;
        region->src->stride = copy.strides;
        region->dst = std::make_unique<wire::ViewT>();
        region->dst->offset = copy.to;
        region->dst->stride = copy.strides;
        net.extraTensorDescribe[1]->regions.push_back(std::move(region));
    }
    return net;
}

TEST(StaticModel, RegionsStayInTheirTensors) {
    const Copy all{{1, 1, 12}};
    expectStatus(makeRaster({all}), MNN_OK, "");
    expectStatus(makeRaster({{{1, 1, 12}, 1}}), MNN_ERROR_BAD_RANGE,
                 "op: a region reads elements 1 to 12 of a tensor of 12");
    expectStatus(makeRaster({{{1, 1, 6}, 0, 7}}), MNN_ERROR_BAD_RANGE,
                 "op: a region writes elements 7 to 12 of a tensor of 12");
    expectStatus(makeRaster({all, {{1, 1, 6}, 0, 7}}), MNN_ERROR_BAD_RANGE, "op: a region writes elements 7 to 12");
    // A region completely behind the output has no effect, where the others fill the output.
    expectStatus(makeRaster({all, {{1, 1, 6}, 600, 12}}), MNN_OK, "");
    expectStatus(makeRaster({all, {{1, 1, 6}, 0, -6}}), MNN_OK, "");
    expectStatus(makeRaster({{{1, 1, 11}}, {{1, 1, 6}, 0, 12}}), MNN_ERROR_BAD_RANGE,
                 "op: a region writes elements 12 to 17 of a tensor of 12");
    const int32_t maxInt = 2147483647;
    expectStatus(makeRaster({{{maxInt, maxInt, maxInt}, 0, 0, {maxInt, maxInt, maxInt}}}), MNN_ERROR_OVERFLOW, "op");
}

TEST(StaticModel, OperandsHaveTheElementsOfTheResult) {
    wire::NetT net = makeStatic({2, 3}, wire::OpType::BinaryOp, wire::BinaryOpT(), {6, 1});
    net.tensorName.push_back("t2");
    net.oplists.insert(net.oplists.begin(), makeInput(2, {3, 2}));
    net.oplists[2]->inputIndexes = {0, 2};
    describe(net, 2, {3, 2});
    expectStatus(net, MNN_OK, "");
    net.extraTensorDescribe[1]->blob->dims = {5, 1};
    expectStatus(net, MNN_ERROR_COMPUTE_SIZE, "op: shapes 2x3 and 3x2 do not broadcast");
}

// A loop that adds an element of t0 to one of t1.
TEST(StaticModel, LoopsDoNotMixBytesAndFloats) {
    wire::LoopParamT loop;
    loop.tensorNumber = 2;
    loop.loopNumber = 1;
    loop.inputIndexes = {0};
    loop.outputIndexes = {1};
    auto command = std::make_unique<wire::RegionCommandT>();
    command->op = makeOp(wire::OpType::BinaryOp, "", {}, {}, wire::BinaryOpT());
    command->size = {1, 1, 1};
    command->indexes = {1, 0, 1};
    command->steps = {0, 0, 0};
    command->iterIndexes = {-1, -1, -1};
    for (int v = 0; v < 3; ++v) {
        command->view.push_back(std::make_unique<wire::ViewT>());
        command->view.back()->stride = {1, 1, 1};
    }
    loop.commands.push_back(std::move(command));
    wire::NetT net = makeStatic({4}, wire::OpType::While, loop, {4});
    auto setTypes = [&net](wire::DataType input, wire::DataType output) {
        net.oplists[0]->main.AsInput()->dtype = input;
        net.extraTensorDescribe[1]->blob->dataType = output;
    };
    using wire::DataType;
    setTypes(DataType::DT_UINT8, DataType::DT_UINT8);
    expectStatus(net, MNN_OK, "");
    setTypes(DataType::DT_UINT8, DataType::DT_FLOAT);
    expectStatus(net, MNN_ERROR_NOT_SUPPORTED, "op 'op' (While): a command makes float32 of uint8");
    setTypes(DataType::DT_FLOAT, DataType::DT_INT16);
    expectStatus(net, MNN_ERROR_NOT_SUPPORTED, "op 'op' (While): a loop over int16");
    // An integer computed from a byte and a float.
    net.tensorName.push_back("t2");
    net.oplists.insert(net.oplists.begin(), makeInput(2, {4}));
    net.oplists[2]->inputIndexes = {0, 2};
    describe(net, 2, {4});
    wire::LoopParamT& both = *net.oplists[2]->main.AsLoopParam();
    both.tensorNumber = 3;
    both.inputIndexes = {0, 2};
    both.commands[0]->indexes = {1, 0, 2};
    net.oplists[1]->main.AsInput()->dtype = DataType::DT_UINT8;
    net.extraTensorDescribe[1]->blob->dataType = DataType::DT_INT32;
    expectStatus(net, MNN_ERROR_NOT_SUPPORTED, "op 'op' (While): a command mixes floats and integers of 8 bits");
}

// The number of results that a search finds may change from run to run, up to the number of rows for them.
TEST(StaticModel, RoomOfASearchServesAllNumbers) {
    wire::NetT net;
    net.usage = wire::Usage::INFERENCE_STATIC;
    net.tensorName = {"boxes", "scores", "maxKept", "overlap", "minScore", "kept"};
    net.outputName = {"kept"};
    net.oplists.push_back(makeInput(0, {3, 4}));
    net.oplists.push_back(makeInput(1, {3}));
    net.oplists.push_back(makeIntConst(2, {1}, {3}));
    net.oplists.push_back(makeConst(3, {1}, {0.5f}));
    net.oplists.push_back(makeConst(4, {1}, {0.0f}));
    net.oplists.push_back(makeOp(wire::OpType::NonMaxSuppressionV2, "search", {0, 1, 2, 3, 4}, {5}));
    describe(net, 5, {3});
    const Opened opened(net, nullptr);
    ASSERT_EQ(opened.status, MNN_OK) << opened.sentence;
    mnn_tensor_t *boxes = nullptr, *scores = nullptr, *kept = nullptr;
    ASSERT_EQ(mnn_session_input(opened.session, "boxes", &boxes), MNN_OK);
    ASSERT_EQ(mnn_session_input(opened.session, "scores", &scores), MNN_OK);
    const float apart[12] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
    ASSERT_EQ(mnn_tensor_write(boxes, apart, sizeof apart, MNN_FORMAT_NCHW), MNN_OK);
    const struct {
        float scores[3];
        std::vector<int32_t> kept;
    } runs[] = {{{0.1f, 0.3f, 0.2f}, {1, 2, 0}}, {{-1, 0.3f, -1}, {1, -1, -1}},  {{0.3f, 0.2f, 0.1f}, {0, 1, 2}},
                {{-1, -1, -1}, {-1, -1, -1}},    {{-1, 0.1f, 0.2f}, {2, 1, -1}}, {{0.2f, -1, 0.1f}, {0, 2, -1}}};
    for (const auto& run : runs) {
        ASSERT_EQ(mnn_tensor_write(scores, run.scores, sizeof run.scores, MNN_FORMAT_NCHW), MNN_OK);
        ASSERT_EQ(mnn_session_run(opened.session), MNN_OK) << mnn_last_error();
        ASSERT_EQ(mnn_session_output(opened.session, "kept", &kept), MNN_OK);
        std::vector<int32_t> values(3);
        ASSERT_EQ(mnn_tensor_read(kept, values.data(), 12, MNN_FORMAT_NCHW), MNN_OK) << mnn_last_error();
        EXPECT_EQ(values, run.kept);
    }
}

}  // namespace
}  // namespace mnnc::test
