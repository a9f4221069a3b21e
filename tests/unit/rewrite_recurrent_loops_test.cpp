// An LSTM or a GRU that is written as a loop runs as one operator, with the numbers of the loop.
#include <algorithm>
#include <cmath>

#include "rewritten_net.h"

namespace mnnc::test {
namespace {

using wire::OpType;

constexpr int kSteps = 5, kInputs = 3, kHidden = 7;
constexpr auto kAdd = wire::BinaryOpOperation::ADD, kSub = wire::BinaryOpOperation::SUB,
               kMul = wire::BinaryOpOperation::MUL;
constexpr auto kSigmoid = wire::UnaryOpOperation::SIGMOID, kTanh = wire::UnaryOpOperation::TANH;

// A graph under construction; its tensors are t0, t1, ...
class Graph {
  public:
    std::vector<std::unique_ptr<wire::OpT>> ops;
    std::vector<std::string> names;

    explicit Graph(std::string prefix) : prefix_(std::move(prefix)) {}

    int tensor() {
        names.push_back(prefix_ + std::to_string(names.size()));
        return static_cast<int>(names.size()) - 1;
    }
    template <typename... Table>
    int add(OpType type, std::vector<int32_t> inputs, Table... table) {
        const int made = tensor();
        ops.push_back(
            makeOp(type, prefix_ + "op" + std::to_string(made), std::move(inputs), {made}, std::move(table)...));
        return made;
    }
    int input(std::vector<int32_t> dims) {
        const int made = tensor();
        ops.push_back(makeInput(made, std::move(dims)));
        return made;
    }
    int integer(int value) {
        const int made = tensor();
        ops.push_back(makeIntConst(made, {1}, {value}));
        return made;
    }
    int constant(std::vector<int32_t> dims, float seed) {
        const int made = tensor();
        int64_t count = 1;
        for (const int extent : dims) count *= extent;
        ops.push_back(makeConst(made, std::move(dims), wave(static_cast<size_t>(count), seed)));
        return made;
    }
    int binary(wire::BinaryOpOperation code, int a, int b) {
        wire::BinaryOpT table;
        table.opType = code;
        return add(OpType::BinaryOp, {a, b}, std::move(table));
    }
    int unary(wire::UnaryOpOperation code, int x) {
        wire::UnaryOpT table;
        table.opType = code;
        return add(OpType::UnaryOp, {x}, std::move(table));
    }
    int extent(int shape, int i) { return add(OpType::SliceTf, {shape, integer(i), integer(1)}); }
    int list(std::vector<int32_t> parts) { return add(OpType::Concat, std::move(parts), wire::AxisT()); }
    int reshape(int x, std::vector<int32_t> dims) {
        wire::ReshapeT table;
        table.dims = std::move(dims);
        table.dimType = wire::MNN_DATA_FORMAT::NCHW;
        return add(OpType::Reshape, {x}, std::move(table));
    }
    int convert(int x, wire::MNN_DATA_FORMAT from, wire::MNN_DATA_FORMAT to) {
        wire::TensorConvertInfoT table;
        table.source = from;
        table.dest = to;
        return add(OpType::ConvertTensor, {x}, std::move(table));
    }
    int product(int x, int inputs, int outputs, float seed) {
        wire::Convolution2DT conv = makeConv(inputs, outputs, 0);
        conv.weight = wave(static_cast<size_t>(inputs) * static_cast<size_t>(outputs), seed);
        conv.bias = wave(static_cast<size_t>(outputs), seed + 0.5f);
        return add(OpType::Convolution, {x}, std::move(conv));
    }
    std::vector<int> parts(int x, int count) {
        wire::SliceT table;
        table.axis = 1;
        table.slicePoints = {count};
        table.sourceType = wire::NetSource::TENSORFLOW;
        std::vector<int> made;
        for (int i = 0; i < count; ++i) made.push_back(tensor());
        ops.push_back(makeOp(OpType::Slice, prefix_ + "slice" + std::to_string(made[0]), {x},
                             {made.begin(), made.end()}, std::move(table)));
        return made;
    }

  private:
    static std::vector<float> wave(size_t count, float seed) {
        std::vector<float> values(count);
        for (size_t i = 0; i < count; ++i) values[i] = 0.6f * std::sin(seed + 1.7f * static_cast<float>(i));
        return values;
    }
    const std::string prefix_;
};

struct Layer {
    bool gru = false, backwards = false;
    int batch = 3, rows = 3;  // rows: of the first state
};

// The converter's net for a layer.
class Written {
  public:
    Graph main{"t"}, body{"b"};
    std::vector<int32_t> formal, results;  // inputs and outputs of the body
    std::unique_ptr<wire::OpT> loop;
    int all = 0, handedOn = 0;  // outputs of the loop: all states, the shape of the sequence

    explicit Written(const Layer& layer = {}) : layer_(layer), gates_(layer.gru ? 3 : 4) {
        writeBody();
        const int x = main.input({kSteps, layer.batch, kInputs});
        const int shape = main.add(OpType::Shape, {x});
        const int limit = main.extent(shape, 0), condition = main.integer(1);
        const int images = main.convert(main.reshape(x, {-1, kInputs, 1, 1}), wire::MNN_DATA_FORMAT::NCHW,
                                        wire::MNN_DATA_FORMAT::NC4HW4);
        const int products = main.convert(main.product(images, kInputs, gates_ * kHidden, 1),
                                          wire::MNN_DATA_FORMAT::NC4HW4, wire::MNN_DATA_FORMAT::NCHW);
        std::vector<int32_t> given = {limit, condition, shape, products}, made;
        for (size_t i = 4; i < formal.size(); ++i)
            given.push_back(layer.gru ? main.constant({layer.rows, kHidden, 1, 1}, 3)
                                      : main.constant({1, layer.rows, kHidden}, 3 + static_cast<float>(i)));
        for (size_t i = 1; i < results.size(); ++i) made.push_back(main.tensor());
        handedOn = made.front();
        all = made.back();
        wire::WhileParamT table;
        table.body_graph = "body";
        loop = makeOp(OpType::While, "loop", std::move(given), std::move(made), std::move(table));
    }

    wire::NetT net() {
        wire::NetT net;
        auto graph = std::make_unique<wire::SubGraphProtoT>();
        graph->name = "body";
        graph->inputs = formal;
        graph->outputs = results;
        graph->tensors = body.names;
        graph->nodes = std::move(body.ops);
        net.subgraphs.push_back(std::move(graph));
        for (auto& op : main.ops) net.oplists.push_back(std::move(op));
        const std::vector<int32_t> made = loop->outputIndexes;
        net.oplists.push_back(std::move(loop));
        net.tensorName = main.names;
        for (auto id = made.rbegin(); id + 2 != made.rend(); ++id)
            net.outputName.push_back(net.tensorName[size_t(*id)]);
        return net;
    }
    // Returns the last operator of this type in the body.
    wire::OpT& inBody(OpType type) {
        return **std::find_if(body.ops.rbegin(), body.ops.rend(), [type](const auto& op) { return op->type == type; });
    }
    wire::OpT& inMain(OpType type) {
        return **std::find_if(main.ops.begin(), main.ops.end(), [type](const auto& op) { return op->type == type; });
    }

  private:
    void writeBody() {
        Graph& b = body;
        const int round = b.input({}), condition = b.input({}), shape = b.input({}), products = b.input({});
        b.ops[0]->main.AsInput()->dtype = b.ops[1]->main.AsInput()->dtype = b.ops[2]->main.AsInput()->dtype =
            wire::DataType::DT_INT32;
        const int rows = b.extent(shape, 1);
        int step = round;
        if (layer_.backwards) step = b.binary(kSub, b.binary(kSub, b.extent(shape, 0), b.integer(1)), round);
        const int zero = b.integer(0), one = b.integer(1);
        const int begin = b.list({b.binary(kMul, rows, step), zero, zero, zero});
        const int columns = b.binary(kMul, b.integer(kHidden), b.integer(gates_));
        const int slice = b.add(OpType::SliceTf, {products, begin, b.list({rows, columns, one, one})});
        const int goesOn = b.tensor();
        b.ops.push_back(makeConst(goesOn, {}, {1}));
        formal = {round, condition, shape, products};
        results = {goesOn, shape, products};
        const auto rowsOf = [&](int state) { return b.reshape(state, {-1, kHidden, 1, 1}); };
        int next = 0;
        if (layer_.gru) {
            const int state = b.input({-1, kHidden, 1, 1});
            formal.push_back(state);
            const std::vector<int> x = b.parts(slice, 3),
                                   h = b.parts(b.product(rowsOf(state), kHidden, 3 * kHidden, 2), 3);
            const int r = b.unary(kSigmoid, b.binary(kAdd, x[1], h[1]));
            const int n = b.unary(kTanh, b.binary(kAdd, x[2], b.binary(kMul, r, h[2])));
            const int z = b.unary(kSigmoid, b.binary(kAdd, x[0], h[0]));
            next = b.binary(kSub, n, b.binary(kMul, z, b.binary(kSub, n, state)));
            results.push_back(next);
        } else {
            const int state = b.input({1, -1, kHidden}), cell = b.input({1, -1, kHidden});
            formal.insert(formal.end(), {state, cell});
            const int own = b.product(rowsOf(state), kHidden, 4 * kHidden, 2);
            const std::vector<int> sums = b.parts(b.binary(kAdd, slice, own), 4);
            const int added = b.binary(kMul, b.unary(kSigmoid, sums[0]), b.unary(kTanh, sums[3]));
            const int kept = b.binary(kMul, b.unary(kSigmoid, sums[2]), rowsOf(cell));
            const int newCell = b.binary(kAdd, added, kept);
            const int hidden = b.binary(kMul, b.unary(kTanh, newCell), b.unary(kSigmoid, sums[1]));
            next = b.reshape(hidden, {1, -1, kHidden});
            results.insert(results.end(), {next, b.reshape(newCell, {1, -1, kHidden})});
        }
        results.push_back(b.add(OpType::Identity, {next}));
    }

    const Layer layer_;
    const int gates_;
};

size_t rewritesIn(Written written) {
    return rewritesOf(written.net());
}

TEST(RewriteRecurrentLoops, RunsAsOneUnlessWhatItHandsOnIsAnOutput) {
    for (const bool gru : {false, true})
        for (const bool backwards : {false, true})
            for (const auto& [batch, rows] : {std::pair{3, 3}, {3, 1}, {1, 1}}) {
                SCOPED_TRACE(testing::Message() << gru << backwards << batch << rows);
                Written written({gru, backwards, batch, rows});
                const std::string handedOn = written.main.names[static_cast<size_t>(written.handedOn)];
                const auto interpreter = open(written.net());
                const RewrittenRun one = runRewritten(interpreter, {}), loop = runRewritten(interpreter, {handedOn});
                EXPECT_EQ(one.operations.at(gru ? "RNNSequenceGRU" : "LSTM"), 1);
                EXPECT_EQ(loop.operations.count(gru ? "RNNSequenceGRU" : "LSTM"), 0u);
                EXPECT_GE(loop.operations.at("Convolution"), 2);
                ASSERT_EQ(one.values.size(), static_cast<size_t>(kSteps * batch * kHidden));
                ASSERT_EQ(one.values.size(), loop.values.size());
                for (size_t i = 0; i < one.values.size(); ++i) EXPECT_NEAR(one.values[i], loop.values[i], 2e-6f) << i;
                const auto [minimum, maximum] = std::minmax_element(one.values.begin(), one.values.end());
                EXPECT_GT(*maximum - *minimum, 0.5f);
            }
}

TEST(RewriteRecurrentLoops, OtherLoopsAreKept) {
    EXPECT_EQ(rewritesIn(Written()), 1u);
    EXPECT_EQ(rewritesIn(Written({true})), 1u);
    Written read;
    wire::NetT net = read.net();
    net.tensorName.push_back("reader");
    net.oplists.push_back(
        makeOp(OpType::Shape, "reader", {read.handedOn}, {static_cast<int32_t>(net.tensorName.size()) - 1}));
    EXPECT_EQ(rewritesOf(net), 0u) << "a reader of the values that are handed on";
    const auto changed = [](const Layer& layer, const std::function<void(Written&)>& change) {
        Written written(layer);
        change(written);
        return rewritesIn(std::move(written));
    };
    for (const bool gru : {false, true}) {
        const Layer layer{gru};
        EXPECT_EQ(changed(layer,
                          [](Written& w) {
                              w.inBody(OpType::UnaryOp).main.AsUnaryOp()->opType = wire::UnaryOpOperation::EXP;
                          }),
                  0u)
            << "another gate";
        EXPECT_EQ(changed(layer, [](Written& w) { w.inBody(OpType::BinaryOp).main.AsBinaryOp()->activationType = 1; }),
                  0u)
            << "a clipped state";
        EXPECT_EQ(changed(layer,
                          [](Written& w) {
                              std::vector<int32_t>& parts = w.inBody(OpType::Slice).outputIndexes;
                              std::swap(parts[0], parts[1]);
                          }),
                  0u)
            << "another order of the gates";
        EXPECT_EQ(changed(layer,
                          [](Written& w) {
                              w.inBody(OpType::Slice).main.AsSlice()->slicePoints = {kHidden, 5};
                          }),
                  0u)
            << "parts of other sizes";
        EXPECT_EQ(
            changed(layer,
                    [](Written& w) { w.inBody(OpType::Convolution).main.AsConvolution2D()->common->relu = true; }),
            0u)
            << "a clipped product";
        EXPECT_EQ(
            changed(layer,
                    [](Written& w) { w.inMain(OpType::Convolution).main.AsConvolution2D()->common->strideX = 2; }),
            0u)
            << "a convolution with a stride";
        EXPECT_EQ(changed(layer,
                          [](Written& w) {
                              w.inMain(OpType::Reshape).main.AsReshape()->dims = {kInputs, -1, 1, 1};
                          }),
                  0u)
            << "images of other values";
        EXPECT_EQ(changed(layer, [](Written& w) { w.loop->inputIndexes[0] = w.main.integer(kSteps); }), 0u)
            << "a number of rounds that does not follow the sequence";
        EXPECT_EQ(changed(layer,
                          [](Written& w) {
                              const int never = w.main.tensor();
                              w.main.ops.push_back(makeIntConst(never, {1}, {0}));
                              w.loop->inputIndexes[1] = never;
                          }),
                  0u)
            << "a loop that never runs";
        EXPECT_EQ(changed(layer,
                          [](Written& w) {
                              const int stops = w.body.tensor();
                              w.body.ops.push_back(makeConst(stops, {}, {0}));
                              w.results[0] = stops;
                          }),
                  0u)
            << "a loop that ends after a round";
        EXPECT_EQ(changed(layer, [](Written& w) { w.results[1] = w.body.add(OpType::Identity, {w.formal[2]}); }), 0u)
            << "a shape that the body makes anew";
        EXPECT_EQ(changed(layer,
                          [](Written& w) {
                              for (const auto& op : w.body.ops)
                                  if (op->type == OpType::SliceTf && op->inputIndexes[0] == w.formal[3])
                                      op->inputIndexes[1] = w.body.list({w.formal[0], w.formal[0]});
                              std::rotate(w.body.ops.begin() + 6, w.body.ops.end() - 1, w.body.ops.end());
                          }),
                  0u)
            << "rows of another place";
        EXPECT_EQ(changed(layer, [](Written& w) { w.results.back() = w.formal[4]; }), 0u)
            << "the states before their steps as the result";
    }
    EXPECT_EQ(changed({}, [](Written& w) { std::swap(w.results[3], w.results[4]); }), 0u) << "state and cell exchanged";
    EXPECT_EQ(changed({true},
                      [](Written& w) {
                          std::vector<int32_t>& inputs = w.inBody(OpType::BinaryOp).inputIndexes;
                          std::swap(inputs[0], inputs[1]);
                      }),
              0u)
        << "the negative of a state";
}

}  // namespace
}  // namespace mnnc::test
