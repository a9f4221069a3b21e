// Graphs that operators call: damaged references, recursion, and bounds of call trees.
#include <algorithm>

#include "model_builder.h"

namespace mnnc::test {
namespace {

std::unique_ptr<wire::SubGraphProtoT> makeBranch(const std::string& name, const std::string& calls = {}) {
    auto graph = std::make_unique<wire::SubGraphProtoT>();
    graph->name = name;
    graph->tensors = {name + "_in", name + "_out"};
    graph->inputs = {0};
    graph->outputs = {1};
    graph->nodes.push_back(makeInput(0));
    if (calls.empty()) {
        graph->nodes.push_back(makeOp(wire::OpType::ReLU, "relu", {0}, {1}));
        return graph;
    }
    wire::WhileParamT loop;
    loop.cond_graph = calls;
    loop.body_graph = calls;
    auto alias = std::make_unique<wire::StringVecT>();
    alias->data = {calls + "_in"};
    loop.aliases_inputs.push_back(std::move(alias));
    loop.aliases_outputs = {calls + "_out"};
    graph->nodes.push_back(makeOp(wire::OpType::While, "loop", {0}, {1}, std::move(loop)));
    return graph;
}

wire::NetT makeIfNet() {
    wire::NetT net = makeReluNet();
    wire::IfParamT branch;
    branch.then_graph = "yes";
    branch.else_graph = "no";
    auto inputs = std::make_unique<wire::StringVecT>();
    inputs->data = {"yes_in", "no_in"};
    branch.aliases_inputs.push_back(std::move(inputs));
    auto outputs = std::make_unique<wire::StringVecT>();
    outputs->data = {"yes_out", "no_out"};
    branch.aliases_outputs.push_back(std::move(outputs));
    net.oplists[1] = makeOp(wire::OpType::If, "if", {0}, {1}, std::move(branch));
    net.subgraphs.push_back(makeBranch("yes"));
    net.subgraphs.push_back(makeBranch("no"));
    return net;
}

TEST(VerifyCalls, Subgraphs) {
    const auto model = loadNet(makeIfNet());
    ASSERT_EQ(model->graphs().size(), 3u);
    EXPECT_EQ(model->findGraph("yes"), 1);
    EXPECT_EQ(model->findGraph("no"), 2);
    EXPECT_EQ(model->graphs()[2].tensorNames[1], "no_out");
    EXPECT_EQ(model->graphs()[2].outputs, std::vector<int32_t>{1});
}

TEST(VerifyCalls, SubgraphFaults) {
    wire::NetT net = makeIfNet();
    net.oplists[1]->main.AsIfParam()->else_graph = "gone";
    expectRefused(net, Status::BadIndex, "gone");
    net = makeIfNet();
    net.subgraphs[1]->name = "yes";
    expectRefused(net, Status::BadFormat, "two subgraphs");
    net = makeIfNet();
    net.oplists[1]->main.AsIfParam()->aliases_inputs[0]->data.pop_back();
    expectRefused(net, Status::BadParameter, "input 'no_in' of subgraph 'no' receives nothing");
    net = makeIfNet();
    net.oplists[1]->main.AsIfParam()->aliases_outputs[0]->data.pop_back();
    expectRefused(net, Status::BadParameter, "output alias");
    net = makeIfNet();
    net.subgraphs[0]->nodes[1]->inputIndexes = {9};
    expectRefused(net, Status::BadIndex, "subgraph 'yes': operator 1 'relu'");
    net = makeIfNet();
    net.subgraphs[0]->outputs = {4};
    expectRefused(net, Status::BadIndex, "output 0 is tensor 4");
}

TEST(VerifyCalls, SubgraphThatCallsItself) {
    wire::NetT net = makeIfNet();
    net.subgraphs[0] = makeBranch("yes", "yes");
    expectRefused(net, Status::Cycle, "subgraph 'yes' calls itself");
    net.subgraphs[0] = makeBranch("yes", "no");
    net.subgraphs[1] = makeBranch("no", "yes");
    expectRefused(net, Status::Cycle, "calls itself");
}

// 'yes' calls g1 twice, g1 calls g2 twice, and so on.
wire::NetT makeDoublingNet(int levels, bool leafFirst) {
    wire::NetT net = makeIfNet();
    for (int i = 1; i <= levels; ++i)
        net.subgraphs.push_back(
            makeBranch("g" + std::to_string(i), i < levels ? "g" + std::to_string(i + 1) : std::string()));
    net.subgraphs[0] = makeBranch("yes", "g1");
    if (leafFirst) std::reverse(net.subgraphs.begin(), net.subgraphs.end());
    return net;
}

TEST(VerifyCalls, CallTreesAreBounded) {
    for (const bool leafFirst : {false, true}) {
        EXPECT_NO_THROW(loadNet(makeDoublingNet(10, leafFirst)));
        expectRefused(makeDoublingNet(12, leafFirst), Status::LimitExceeded, "at most 4096");
        expectRefused(makeDoublingNet(63, leafFirst), Status::LimitExceeded, "at most 4096");
        expectRefused(makeDoublingNet(70, leafFirst), Status::LimitExceeded, "deeper than 64");
    }
}

TEST(VerifyCalls, CalledOperatorsAreBounded) {
    // 300 calls of a body of 1,000 operators: few calls, many operators.
    wire::NetT net = makeReluNet();
    auto body = makeBranch("body");
    while (body->nodes.size() < 1000)
        body->nodes.push_back(makeOp(wire::OpType::ReLU, "", {0}, {static_cast<int32_t>(body->nodes.size()) % 2}));
    net.subgraphs.push_back(std::move(body));
    const auto call = [&] {
        wire::IfParamT param;
        param.then_graph = param.else_graph = "body";
        auto fed = std::make_unique<wire::StringVecT>();
        fed->data = net.subgraphs[0]->tensors;
        param.aliases_inputs.push_back(std::move(fed));
        net.oplists.push_back(makeOp(wire::OpType::If, "", {0}, {1}, std::move(param)));
    };
    for (int i = 0; i < 100; ++i) call();
    EXPECT_NE(loadNet(net), nullptr);
    for (int i = 0; i < 200; ++i) call();
    expectRefused(net, Status::LimitExceeded, "at most 262144");
}

// Each call has places for all names of its subgraph, also for those that no operator uses.
TEST(VerifyCalls, CalledTensorsAreBounded) {
    wire::NetT net = makeDoublingNet(10, false);
    for (auto& graph : net.subgraphs)
        if (graph->name == "g10") graph->tensors.resize(10'000, "unused");
    expectRefused(net, Status::LimitExceeded, "more than 4194304 tensors");
    for (auto& graph : net.subgraphs)
        if (graph->name == "g10") graph->tensors.resize(1'000);
    EXPECT_NO_THROW(loadNet(net));
}

}  // namespace
}  // namespace mnnc::test
