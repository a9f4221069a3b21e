// Coordinates keep 32 bits where they enter the body of an If or a While, and where they leave one.
#include "coordinate_net.h"

namespace mnnc::vulkan::test {

namespace {

using mnnc::test::asGraph;
using mnnc::test::names;

// An If whose condition is true, and whose two branches are this body.
class CallingNet : public CoordinateNet {
  public:
    // body_t<i>: the names of the formal inputs, for `inputs`.
    int branch(std::vector<int32_t> inputs, std::unique_ptr<wire::SubGraphProtoT> body) {
        wire::IfParamT table;
        table.then_graph = table.else_graph = body->name;
        table.aliases_inputs.push_back(names({}));
        for (const int32_t formal : body->inputs)
            table.aliases_inputs.push_back(names({body->tensors[static_cast<size_t>(formal)]}));
        const std::string result = body->tensors[static_cast<size_t>(body->outputs[0])];
        table.aliases_outputs.push_back(names({result, result}));
        inputs.insert(inputs.begin(), ints({}, {1}));
        return call(wire::OpType::If, inputs, std::move(table), std::move(body));
    }
    // Three iterations over one carried value.
    int rounds(int value, std::unique_ptr<wire::SubGraphProtoT> body) {
        wire::WhileParamT table;
        table.body_graph = body->name;
        return call(wire::OpType::While, {ints({}, {3}), ints({}, {1}), value}, std::move(table), std::move(body));
    }
    template <typename Table>
    int call(wire::OpType type, std::vector<int32_t> inputs, Table table, std::unique_ptr<wire::SubGraphProtoT> body) {
        net_.subgraphs.push_back(std::move(body));
        return add(type, std::move(inputs), std::move(table));
    }
    void attach(std::unique_ptr<wire::SubGraphProtoT> graph) { net_.subgraphs.push_back(std::move(graph)); }
    int count() {
        wire::InputT table;
        table.dtype = wire::DataType::DT_INT32;
        table.dformat = wire::MNN_DATA_FORMAT::NCHW;
        return add(wire::OpType::Input, {}, std::move(table));
    }
    int toFloat(int x) { return cast(x, wire::DataType::DT_INT32, wire::DataType::DT_FLOAT); }
    int toInt(int x) { return cast(x, wire::DataType::DT_FLOAT, wire::DataType::DT_INT32); }
};

void expectOnDevice(const std::string& places, const std::string& op) {
    EXPECT_NE(places.find(op + " on vulkan"), std::string::npos) << places;
}

}  // namespace

// With 16 bits the boxes would be points.
TEST(ControlCoordinates, ABranchMakesBoxes) {
    CallingNet body;
    const int formal = body.input({kPlaces, 2});
    const int corner = body.affine(formal, 0.02f, 900);
    const int boxes = body.concat({corner, body.affine(corner, 1, 0.05f)}, 1);
    CallingNet net;
    const int made = net.branch({net.input({kPlaces, 2})}, asGraph("body", body.done(boxes), {formal}, {boxes}));
    const int kept = net.suppress(made, net.input({kPlaces}));
    const wire::NetT built = net.done(net.relu(net.toFloat(kept)));
    expectOnDevice(expectExactPlaces(built, 0), "ElementwiseChain");
    const size_t hits = mnnc::test::runNet(built).outputs[0].size();
    EXPECT_GT(hits, 1u);
    EXPECT_LT(hits, static_cast<size_t>(kPlaces));
}

TEST(ControlCoordinates, ABranchReadsAGrid) {
    CallingNet body;
    const int map = body.input({1, 3, 2, kWidth}), places = body.input({1, 3, kPlaces, 2});
    const int sampled = body.sample(map, places);
    CallingNet net;
    const int grid = net.affine(net.input({1, 3, kPlaces, 2}), 0.3f, 0.05f);
    const int result =
        net.branch({net.input({1, 3, 2, kWidth}), grid}, asGraph("body", body.done(sampled), {map, places}, {sampled}));
    expectOnDevice(expectExactPlaces(net.done(result)), "GridSample");
}

// 16 bits do not represent odd numbers above 2,048.
TEST(ControlCoordinates, ABranchMakesIntegers) {
    CallingNet body;
    const int formal = body.input({1, 3, 2, kPlaces});
    const int small = body.binary(BinaryOpOperation::SUB, body.toInt(formal), body.ints({1}, {4096}));
    const int result = body.toFloat(small);
    CallingNet net;
    const int x = net.affine(net.input({1, 3, 2, kPlaces}), 100, 4096);
    const int made = net.branch({x}, asGraph("body", body.done(result), {formal}, {result}));
    expectOnDevice(expectExactPlaces(net.done(made), 0), "ElementwiseChain");
}

TEST(ControlCoordinates, ALoopMovesAGrid) {
    CallingNet body;
    const int round = body.count(), goesOn = body.count(), grid = body.input({1, 3, kPlaces, 2});
    const int moved = body.affine(grid, 0.9f, 0.01f);
    CallingNet net;
    const int begin = net.affine(net.input({1, 3, kPlaces, 2}), 0.3f, 0.05f);
    const int end = net.rounds(begin, asGraph("body", body.done(moved), {round, goesOn, grid}, {goesOn, moved}));
    expectOnDevice(expectExactPlaces(net.done(net.sample(net.input({1, 3, 2, kWidth}), end))), "ElementwiseChain");
}

// The loop of TensorFlow, with a graph for its condition.
TEST(ControlCoordinates, ALoopMovesNumbersThatBecomeIntegers) {
    CallingNet goesOn;
    const int at = goesOn.count();
    const int less = goesOn.binary(BinaryOpOperation::LESS, at, goesOn.ints({}, {3}));
    CallingNet body;
    const int i = body.count(), x = body.input({1, 3, 2, kPlaces});
    const int next = body.binary(BinaryOpOperation::ADD, i, body.ints({}, {1}));
    const int moved = body.affine(x, 1, 7);
    CallingNet net;
    wire::WhileParamT loop;
    loop.cond_graph = "goesOn";
    loop.body_graph = "body";
    loop.aliases_inputs.push_back(names({"goesOn_t0", "body_t0"}));
    loop.aliases_inputs.push_back(names({"body_t1"}));
    loop.aliases_outputs = {"body_t1"};
    const std::string updated = "body_t" + std::to_string(next);
    loop.aliases_updates.push_back(names({updated, "goesOn_t0"}));
    loop.aliases_updates.push_back(names({updated, "body_t0"}));
    loop.aliases_updates.push_back(names({"body_t" + std::to_string(moved), "body_t1"}));
    net.attach(asGraph("goesOn", goesOn.done(less), {at}, {less}));
    const int begin = net.affine(net.input({1, 3, 2, kPlaces}), 100, 4096);
    const int end = net.call(wire::OpType::While, {net.ints({}, {0}), begin}, std::move(loop),
                             asGraph("body", body.finish({next, moved}), {i, x}, {next, moved}));
    const int small = net.binary(BinaryOpOperation::SUB, net.toInt(end), net.ints({1}, {4096}));
    expectOnDevice(expectExactPlaces(net.done(net.toFloat(small)), 0), "ElementwiseChain");
}

}  // namespace mnnc::vulkan::test
