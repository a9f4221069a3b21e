// The tensors of a net that are coordinates: those that operators read as places, boxes or indices, followed into the
// bodies of If and While and out of them.
#include <set>

#include "index_cases.h"

namespace mnnc::test {
namespace {

using Names = std::set<std::string>;
using Code = wire::BinaryOpOperation;

// Returns the names of the tensors that are coordinates; those of the main graph are t0, t1, ...
Names coordinatesOf(const wire::NetT& net) {
    Names found;
    const auto parsed = parseNet(loadNet(net));
    for (const NetGraph& graph : parsed->graphs)
        for (size_t id = 0; id < graph.coordinates.size(); ++id)
            if (graph.coordinates[id]) found.insert(graph.source->tensorNames[id]);
    return found;
}

std::string numbered(const std::string& prefix, int id) {
    return prefix + "_t" + std::to_string(id);
}

int toInt(IndexNet& net, int x) {
    wire::CastParamT table;
    table.dstT = wire::DataType::DT_INT32;
    return net.indexed(wire::OpType::Cast, {x}, std::move(table));
}

// x -> x + y, with a softmax of x beside it. Tensors: x 0, y 1, sum 2, softmax 3.
std::unique_ptr<wire::SubGraphProtoT> sumBody(const std::string& name) {
    IndexNet net;
    const int x = net.input({1, 4, 4, 2}), y = net.input({1, 4, 4, 2});
    const int sum = net.binary(Code::ADD, x, y), soft = net.softmax(x);
    return asGraph(name, net.finish({}), {x, y}, {sum, soft});
}

}  // namespace

TEST(NetCoordinates, OneGraph) {
    IndexNet net;
    const int map = net.input({1, 3, 5, 5}), flow = net.input({1, 4, 4, 2});  // t0, t1
    const int soft = net.softmax(flow), grid = net.relu(flow);                // t2, t3
    const int index = toInt(net, net.relu(net.sample(map, grid)));            // t4 to t6
    EXPECT_EQ(coordinatesOf(net.finish({index, soft})), (Names{"t1", "t3", "t5", "t4"}));
}

// The branches have different outputs: the operand of the softmax is no coordinate, but x is one because of the other
// branch.
TEST(NetCoordinates, Branches) {
    IndexNet net;
    const int map = net.input({1, 3, 5, 5}), x = net.input({1, 4, 4, 2}), y = net.input({1, 4, 4, 2});
    const int condition = net.constant({}, Ints{1});
    wire::IfParamT table;
    table.then_graph = "yes";
    table.else_graph = "no";
    table.aliases_inputs.push_back(names({}));
    table.aliases_inputs.push_back(names({"yes_t0", "no_t0"}));
    table.aliases_inputs.push_back(names({"yes_t1", "no_t1"}));
    table.aliases_outputs.push_back(names({"yes_t2", "no_t3"}));
    const int grid = net.indexed(wire::OpType::If, {condition, x, y}, std::move(table));
    wire::NetT whole = net.finish({net.sample(map, grid)});
    whole.subgraphs.push_back(sumBody("yes"));
    whole.subgraphs.push_back(sumBody("no"));
    EXPECT_EQ(coordinatesOf(whole), (Names{"t1", "t2", "t4", "yes_t0", "yes_t1", "yes_t2", "no_t3"}));
}

// A tensor that a body reads as a grid is a coordinate in the caller and, because the body passes it on, in earlier
// iterations.
TEST(NetCoordinates, CountedLoop) {
    IndexNet body;
    const int round = body.ints({}), goesOn = body.ints({});
    const int map = body.input({1, 3, 5, 5}), grid = body.input({1, 4, 4, 2}), step = body.input({1, 4, 4, 2});
    const int moved = body.binary(Code::ADD, grid, step), sampled = body.sample(map, grid);
    IndexNet net;
    const int limit = net.constant({}, Ints{3}), first = net.constant({}, Ints{1});
    const int pixels = net.input({1, 3, 5, 5});
    const int flow = net.input({1, 4, 4, 2}), begin = net.relu(flow), by = net.input({1, 4, 4, 2});
    wire::WhileParamT loop;
    loop.body_graph = "body";
    wire::NetT whole = net.finish({});
    for (int i = 0; i < 4; ++i) whole.tensorName.push_back("out" + std::to_string(i));
    const int out = static_cast<int>(whole.tensorName.size()) - 4;
    whole.oplists.push_back(makeOp(wire::OpType::While, "loop", {limit, first, pixels, begin, by},
                                   {out, out + 1, out + 2, out + 3}, std::move(loop)));
    whole.outputName = {"out3"};
    whole.subgraphs.push_back(
        asGraph("body", body.finish({}), {round, goesOn, map, grid, step}, {goesOn, map, moved, step, sampled}));
    EXPECT_EQ(coordinatesOf(whole),
              (Names{"t3", "t4", "t5", numbered("body", grid), numbered("body", step), numbered("body", moved)}));
}

// The value is replaced by name after each iteration, and becomes a count after the loop.
TEST(NetCoordinates, ConditionLoop) {
    IndexNet goesOn;
    const int at = goesOn.input({1}), less = goesOn.binary(Code::LESS, at, goesOn.constant({}, Floats{9}));
    IndexNet body;
    const int x = body.input({1}), other = body.input({1});
    const int next = body.binary(Code::ADD, x, other), soft = body.softmax(other, 0);
    IndexNet net;
    const int begin = net.input({1}), by = net.input({1});
    wire::WhileParamT loop;
    loop.cond_graph = "goesOn";
    loop.body_graph = "body";
    loop.aliases_inputs.push_back(names({"goesOn_t0", "body_t0"}));
    loop.aliases_inputs.push_back(names({"body_t1"}));
    loop.aliases_outputs = {numbered("body", next)};
    loop.aliases_updates.push_back(names({numbered("body", next), "goesOn_t0"}));
    loop.aliases_updates.push_back(names({numbered("body", next), "body_t0"}));
    loop.aliases_updates.push_back(names({numbered("body", soft), "body_t1"}));
    const int end = net.indexed(wire::OpType::While, {begin, by}, std::move(loop));
    wire::NetT whole = net.finish({toInt(net, end)});
    whole.subgraphs.push_back(asGraph("goesOn", goesOn.finish({}), {at}, {less}));
    whole.subgraphs.push_back(asGraph("body", body.finish({}), {x, other}, {next, soft}));
    EXPECT_EQ(coordinatesOf(whole), (Names{"t0", "t1", "t2", "goesOn_t0", "body_t0", "body_t1", numbered("body", next),
                                           numbered("body", soft)}));
}

}  // namespace mnnc::test
