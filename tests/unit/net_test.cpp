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

TEST(Net, StaticModelsAreRefused) {
    wire::NetT net = makeReluNet();
    net.usage = wire::Usage::INFERENCE_STATIC;
    expectNotSupported(net, "static models");
}

TEST(Net, LoopsInTheirLoopFormAreRefused) {
    wire::NetT net = makeReluNet();
    wire::LoopParamT loop;
    loop.tensorNumber = 2;
    loop.loopNumber = 1;
    loop.inputIndexes = {0};
    loop.outputIndexes = {1};
    loop.extraTensorInfos.push_back(std::make_unique<wire::TensorDescribeT>());
    loop.extraTensorInfos[0]->blob = std::make_unique<wire::BlobT>();
    net.oplists[1] = makeOp(wire::OpType::While, "loop", {0}, {1}, std::move(loop));
    expectNotSupported(net, "While of node 'loop'");
}

}  // namespace
}  // namespace mnnc::test
