// Nets with operators that this library does not run: they can be loaded, and a session names the node.
#include "opened_model.h"

namespace mnnc::test {
namespace {

// Expects the net to load, and the creation of a session to fail with a sentence that contains `part`.
void expectNotSupported(const wire::NetT& net, const std::string& part) {
    const Opened opened(net, nullptr);
    EXPECT_TRUE(opened.loaded) << opened.sentence;
    EXPECT_EQ(opened.status, MNN_ERROR_NOT_SUPPORTED) << opened.sentence;
    EXPECT_EQ(opened.session, nullptr);
    EXPECT_NE(opened.sentence.find(part), std::string::npos) << opened.sentence;
}

TEST(Net, OperatorWithoutADefinition) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(wire::OpType::Plugin, "mine", {0}, {1}, wire::PluginT());
    expectNotSupported(net, "Plugin of node 'mine'");
    const Opened opened(net, nullptr);
    bool supported = true;
    ASSERT_EQ(mnn_interpreter_op_supported(opened.net, 1, &supported), MNN_OK);
    EXPECT_FALSE(supported);
    ASSERT_EQ(mnn_interpreter_op_supported(opened.net, 0, &supported), MNN_OK);
    EXPECT_TRUE(supported);
}

TEST(Net, OperatorOfAnUnknownNumber) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(static_cast<wire::OpType>(4242), "later", {0}, {1});
    expectNotSupported(net, "4242 of node 'later'");
}

TEST(Net, UnneededNodesMayBeUnsupported) {
    wire::NetT net = makeReluNet();
    net.tensorName.push_back("t2");
    net.oplists.push_back(makeOp(wire::OpType::Plugin, "mine", {0}, {2}, wire::PluginT()));
    const Opened opened(net, nullptr);
    EXPECT_EQ(opened.status, MNN_OK) << opened.sentence;
}

// A static model describes the shapes of all tensors.
wire::NetT makeStaticNet(std::vector<int32_t> described) {
    wire::NetT net = makeReluNet();
    net.usage = wire::Usage::INFERENCE_STATIC;
    for (int i = 0; i < 2; ++i) {
        auto describe = std::make_unique<wire::TensorDescribeT>();
        describe->index = i;
        describe->blob = std::make_unique<wire::BlobT>();
        describe->blob->dims = described;
        net.extraTensorDescribe.push_back(std::move(describe));
    }
    return net;
}

TEST(Net, StaticModelsKeepTheirShapes) {
    const auto dims = makeReluNet().oplists[0]->main.AsInput()->dims;
    const Opened opened(makeStaticNet(dims), nullptr);
    ASSERT_EQ(opened.status, MNN_OK) << opened.sentence;
    const Opened wrong(makeStaticNet({7, 11}), nullptr);
    EXPECT_EQ(wrong.status, MNN_ERROR_COMPUTE_SIZE) << wrong.sentence;
    EXPECT_NE(wrong.sentence.find("the static model describes it as 7x11"), std::string::npos) << wrong.sentence;
    wire::NetT silent = makeReluNet();
    silent.usage = wire::Usage::INFERENCE_STATIC;
    const Opened undescribed(silent, nullptr);
    EXPECT_EQ(undescribed.status, MNN_ERROR_BAD_FORMAT) << undescribed.sentence;
}

// An operator that no output needs is not an obstacle.
TEST(Net, UnneededFormsMayBeUnsupported) {
    wire::NetT net = makeReluNet();
    net.tensorName.insert(net.tensorName.end(), {"t2", "t3", "t4", "t5"});
    wire::BinaryOpT strange;
    strange.activationType = 7;
    net.oplists.push_back(makeOp(wire::OpType::BinaryOp, "strange", {0, 0}, {2}, std::move(strange)));
    wire::EltwiseT product;
    product.coeff = {2, 3};
    net.oplists.push_back(makeOp(wire::OpType::Eltwise, "product", {0, 0}, {3}, std::move(product)));
    wire::CastParamT text;
    text.dstT = wire::DataType::DT_STRING;
    net.oplists.push_back(makeOp(wire::OpType::Cast, "text", {0}, {4}, std::move(text)));
    wire::BinaryOpT division;
    division.opType = wire::BinaryOpOperation::REALDIV;
    net.oplists.push_back(makeOp(wire::OpType::ScatterElements, "scatter", {0, 0, 0}, {5}, std::move(division)));
    const Opened opened(net, nullptr);
    EXPECT_EQ(opened.status, MNN_OK) << opened.sentence;
    const std::pair<const char*, const char*> needed[] = {
        {"t2",
         "operator BinaryOp of node 'strange' cannot run: the activation 7 of a binary operator is not "
         "supported"},
        {"t3",
         "operator Eltwise of node 'product' cannot run: coefficients of an Eltwise that is no sum are not "
         "supported"},
        {"t4", "operator Cast of node 'text' cannot run: a cast to DT_STRING is not supported"},
        {"t5",
         "operator ScatterElements of node 'scatter' cannot run: a scatter that combines by binary code 7 is "
         "not "
         "supported"}};
    for (const auto& [output, sentence] : needed) {
        net.outputName = {output};
        expectNotSupported(net, sentence);
    }
}

// A net whose second operator is a loop of one operator, or of copies, over a box.
wire::NetT makeLoopNet(wire::OpType type, std::vector<int32_t> box, int rounds) {
    wire::NetT net = makeReluNet();
    wire::LoopParamT loop;
    loop.tensorNumber = 2;
    loop.loopNumber = rounds;
    loop.inputIndexes = {0};
    loop.outputIndexes = {1};
    loop.extraTensorInfos.push_back(std::make_unique<wire::TensorDescribeT>());
    loop.extraTensorInfos[0]->blob = std::make_unique<wire::BlobT>();
    auto command = std::make_unique<wire::RegionCommandT>();
    command->op = std::make_unique<wire::OpT>();
    command->op->type = type;
    command->size = std::move(box);
    command->indexes = {1, 0};
    command->steps = {0, 0};
    command->iterIndexes = {-1, -1};
    for (int v = 0; v < 2; ++v) {
        command->view.push_back(std::make_unique<wire::ViewT>());
        command->view.back()->stride = {1, 1, 1};
    }
    loop.commands.push_back(std::move(command));
    net.oplists[1] = makeOp(wire::OpType::While, "loop", {0}, {1}, std::move(loop));
    return net;
}

TEST(Net, LoopsOfOperatorsThatNoLoopHasAreRefused) {
    expectNotSupported(makeLoopNet(wire::OpType::Rank, {1, 1, 1}, 1), "op 'loop' (While): a loop of Rank");
}

// A small file could describe days of work over small tensors.
TEST(Net, LoopsOfEndlessWorkAreRefused) {
    const Opened fine(makeLoopNet(wire::OpType::UnaryOp, {1, 1, 1}, 1000), nullptr);
    EXPECT_EQ(fine.status, MNN_OK) << fine.sentence;
    double flops = 0;
    bool complete = false;
    ASSERT_EQ(mnn_session_flops(fine.session, &flops, &complete), MNN_OK);
    EXPECT_GE(flops, 1000);
    const std::pair<std::vector<int32_t>, int> endless[] = {
        {{1, 1, 1}, INT32_MAX}, {{0, 1, 1}, INT32_MAX}, {{1000, 1000, 1000}, 1}, {{100, 100, 100}, 100000}};
    for (const auto& [box, rounds] : endless) {
        const Opened opened(makeLoopNet(wire::OpType::UnaryOp, box, rounds), nullptr);
        EXPECT_EQ(opened.status, MNN_ERROR_LIMIT_EXCEEDED) << opened.sentence;
        EXPECT_NE(opened.sentence.find("op 'loop' (While): its commands visit "), std::string::npos) << opened.sentence;
    }
}

// Writers of language models describe tensors by codes of 16 bits, whose zeros do not fit 8.
TEST(Net, DescriptionsOfOtherCodesAreIgnored) {
    wire::NetT net = makeReluNet();
    auto describe = std::make_unique<wire::TensorDescribeT>();
    describe->index = 1;
    describe->quantInfo = std::make_unique<wire::TensorQuantInfoT>();
    describe->quantInfo->scale = 1e-4f;
    describe->quantInfo->zero = -38407;
    describe->quantInfo->min = -32767;
    describe->quantInfo->max = 32767;
    describe->quantInfo->type = wire::DataType::DT_INT16;
    net.extraTensorDescribe.push_back(std::move(describe));
    EXPECT_EQ(Opened(net, nullptr).status, MNN_OK);
    net.extraTensorDescribe[0]->quantInfo->type = wire::DataType::DT_INT8;
    const Opened wrong(net, nullptr);
    EXPECT_FALSE(wrong.loaded);
    EXPECT_NE(wrong.sentence.find("quantisation of tensor 1 is impossible"), std::string::npos) << wrong.sentence;
}

// A batch of 1 is a guess: a net that is not valid for it can be resized.
TEST(Net, BatchesThatAreNotOne) {
    wire::NetT net = makeReluNet();
    net.oplists[0]->main.AsInput()->dims = {-1, 4};
    wire::ReshapeT fives;
    fives.dims = {-1, 5, 4};
    fives.dimType = wire::MNN_DATA_FORMAT::NCHW;
    net.oplists[1] = makeOp(wire::OpType::Reshape, "fives", {0}, {1}, std::move(fives));
    const Opened opened(net, nullptr);
    ASSERT_EQ(opened.status, MNN_OK) << opened.sentence;
    EXPECT_EQ(mnn_session_run(opened.session), MNN_ERROR_COMPUTE_SIZE);
    mnn_tensor_t* input = nullptr;
    ASSERT_EQ(mnn_session_input(opened.session, nullptr, &input), MNN_OK);
    const int32_t ten[] = {10, 4};
    ASSERT_EQ(mnn_session_resize_input(opened.session, input, ten, 2), MNN_OK);
    ASSERT_EQ(mnn_session_resize(opened.session), MNN_OK);
    EXPECT_EQ(mnn_session_run(opened.session), MNN_OK);
    net.oplists[0]->main.AsInput()->dims = {1, 4};
    EXPECT_EQ(Opened(net, nullptr).status, MNN_ERROR_COMPUTE_SIZE);
}

// The same for a known index that lies beyond a batch of 1.
TEST(Net, IndicesBeyondABatchOfOne) {
    wire::NetT net = makeReluNet();
    net.oplists[0]->main.AsInput()->dims = {-1, 4};
    wire::BlobT two;
    two.dims = {1};
    two.dataType = wire::DataType::DT_INT32;
    two.int32s = {2};
    net.tensorName.emplace_back("two");
    net.oplists.insert(net.oplists.begin() + 1, makeOp(wire::OpType::Const, "two", {}, {2}, std::move(two)));
    net.oplists[2] = makeOp(wire::OpType::GatherV2, "row", {0, 2}, {1}, wire::GatherV2T());
    const Opened opened(net, nullptr);
    ASSERT_EQ(opened.status, MNN_OK) << opened.sentence;
    EXPECT_EQ(mnn_session_run(opened.session), MNN_ERROR_INPUT_DATA);
    mnn_tensor_t* input = nullptr;
    ASSERT_EQ(mnn_session_input(opened.session, nullptr, &input), MNN_OK);
    const int32_t three[] = {3, 4};
    ASSERT_EQ(mnn_session_resize_input(opened.session, input, three, 2), MNN_OK);
    ASSERT_EQ(mnn_session_resize(opened.session), MNN_OK);
    EXPECT_EQ(mnn_session_run(opened.session), MNN_OK);
}

TEST(Net, LoopsWithoutADescriptionOfTheirOutputsAreRefused) {
    wire::NetT net = makeReluNet();
    wire::LoopParamT loop;
    loop.tensorNumber = 2;
    loop.inputIndexes = {0};
    loop.outputIndexes = {1};
    net.oplists[1] = makeOp(wire::OpType::While, "loop", {0}, {1}, std::move(loop));
    const Opened opened(net, nullptr);
    EXPECT_EQ(opened.session, nullptr);
    EXPECT_NE(opened.sentence.find("op 'loop' (While): output 0 has no description"), std::string::npos)
        << opened.sentence;
}

}  // namespace
}  // namespace mnnc::test
