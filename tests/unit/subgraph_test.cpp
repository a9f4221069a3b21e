// Damaged lists of inputs: each of them gives a sentence, since a caller could not fill such an input.
#include <algorithm>

#include "index_cases.h"

namespace mnnc::test {
namespace {

// x -> if (x > 0) body else body, where the body has this list of inputs and computes its tensor 1 from `reads`; its
// tensors 0 and 2 are the results of Input operators. behind: the second one stands behind the reader.
std::vector<uint8_t> branch(Ints inputs, int reads, int output, bool behind = false) {
    IndexNet body;
    body.input({2, 2});
    body.relu(0);
    body.input({2, 2});
    wire::NetT net = body.finish({});
    net.oplists[1]->inputIndexes = {reads};
    if (!behind) std::rotate(net.oplists.begin() + 1, net.oplists.begin() + 2, net.oplists.end());
    auto graph = std::make_unique<wire::SubGraphProtoT>();
    graph->name = "body";
    graph->tensors = net.tensorName;
    graph->inputs = std::move(inputs);
    graph->outputs = {output};
    graph->nodes = std::move(net.oplists);

    IndexNet main;
    const int x = main.input({2, 2});
    wire::IfParamT table;
    table.then_graph = table.else_graph = "body";
    table.aliases_inputs.push_back(std::make_unique<wire::StringVecT>());
    table.aliases_inputs.push_back(std::make_unique<wire::StringVecT>());
    for (const std::string& tensor : graph->tensors) table.aliases_inputs[1]->data.push_back(tensor);
    table.aliases_outputs.push_back(std::make_unique<wire::StringVecT>());
    table.aliases_outputs[0]->data = {graph->tensors[size_t(output)], graph->tensors[size_t(output)]};
    const int result = main.indexed(wire::OpType::If, {main.constant({}, Ints{1}), x}, std::move(table));
    wire::NetT whole = main.finish({result});
    whole.subgraphs.push_back(std::move(graph));
    return pack(whole);
}

const PublicSession::Mode kCpu{"cpu"};

void expectRefused(const std::vector<uint8_t>& model, const std::string& sentence) {
    const PublicSession session(model, kCpu);
    EXPECT_EQ(session.created, MNN_ERROR_BAD_FORMAT);
    EXPECT_NE(session.error.find(sentence), std::string::npos) << session.error;
}

TEST(Subgraph, SoundInputListsRun) {
    for (const bool behind : {false, true}) {
        PublicSession session(branch({0}, 0, 1, behind), kCpu);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        session.write(0, Floats{1, -2, 3, -4});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), (Floats{1, 0, 3, 0}));
    }
}

TEST(Subgraph, AnInputThatIsNotListedIsRefused) {
    expectRefused(branch({0}, 2, 1), "reads 't2', which is not in its list of inputs");
    expectRefused(branch({0}, 0, 2), "reads 't2', which is not in its list of inputs");
    expectRefused(branch({0}, 2, 1, true), "reads 't2', which is not in its list of inputs");
}

TEST(Subgraph, AnInputThatIsListedTwiceIsRefused) {
    expectRefused(branch({0, 2, 0}, 0, 1), "lists its input 't0' twice");
}

TEST(Subgraph, AnInputThatAnOperatorProducesIsRefused) {
    expectRefused(branch({0, 1}, 0, 1), "an operator makes 't1', which is an input of its graph");
}

}  // namespace
}  // namespace mnnc::test
