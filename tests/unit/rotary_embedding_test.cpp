// The rotation of queries and keys by their position: the kernel, and nets in which exporters wrote it with single
// operators.
#include "backends/cpu/kernels/sequence/rotary.h"

#include <gtest/gtest.h>

#include <cstring>

#include "float_util.h"
#include "net_builder.h"
#include "public_session.h"

namespace mnnc::test {
namespace {

using Dims = std::vector<int32_t>;

TEST(RotaryEmbedding, KernelGivesTheBitsOfSingleProductsAndSums) {
    for (const std::string& isa : availableIsas())
        for (const size_t half : {1, 3, 4, 8, 11, 16, 17, 32})
            for (const size_t rows : {1, 2, 9})
                for (const bool negatesUpper : {true, false}) {
                    const size_t length = 2 * half;
                    Floats x = randomFloats(rows * length, 1), expected(x.size());
                    const Floats cosines = randomFloats(length, 2), sines = randomFloats(length, 3);
                    for (size_t i = 0; i < x.size(); ++i) {
                        const bool lower = i % length < half;
                        const float other = x[lower ? i + half : i - half];
                        const float plain = x[i] * cosines[i % length];
                        const float turned = (lower == negatesUpper ? -other : other) * sines[i % length];
                        expected[i] = plain + turned;
                    }
                    const RotaryKernels& kernels = rotaryKernels(selectKernels(isa).id);
                    Floats y(x.size() + 1, 7);
                    kernels.rotate({x.data(), cosines.data(), sines.data(), y.data(), half, rows, negatesUpper});
                    EXPECT_EQ(y.back(), 7);
                    y.pop_back();
                    EXPECT_EQ(y, expected) << isa << ", " << rows << " rows of two times " << half;
                    kernels.rotate({x.data(), cosines.data(), sines.data(), x.data(), half, rows, negatesUpper});
                    EXPECT_EQ(x, expected) << isa << " in place";
                }
}

// A rotation as exporters write it, and with one thing changed.
struct RotaryNet : NetBuilder {
    bool negatesUpper = true, exchanges = true, sumsFirst = false, factorsFirst = false;
    int axis = -1;      // along which halves are cut; -1: the last one
    int lower = -1;     // elements of the first part; -1: half of them
    int halvesOf = -1;  // another tensor whose halves are taken
    bool negatesBoth = false, negatesNone = false, relu = false;
    BinaryCode last = BinaryCode::ADD;
    std::vector<int> parts;  // tensors between, in order of the operators

    int product(int a, int b) { return factorsFirst ? binary(BinaryCode::MUL, b, a) : binary(BinaryCode::MUL, a, b); }
    int rotate(int x, const Dims& dims, int cosines, int sines) {
        const int at = axis < 0 ? static_cast<int>(dims.size()) - 1 : axis;
        const int plain = product(x, cosines);
        const std::vector<int> cut =
            split(halvesOf < 0 ? x : halvesOf, at, {lower < 0 ? dims[static_cast<size_t>(at)] / 2 : lower});
        int first = cut[exchanges ? 1 : 0], second = cut[exchanges ? 0 : 1];
        if (!negatesNone && (negatesUpper || negatesBoth)) first = unary(UnaryCode::NEG, first);
        if (!negatesNone && (!negatesUpper || negatesBoth)) second = unary(UnaryCode::NEG, second);
        const int joined = concat({first, second}, at);
        const int turned = product(joined, sines);
        parts = {plain, cut[0], cut[1], first, second, joined, turned};
        return sumsFirst ? binary(last, turned, plain, relu) : binary(last, plain, turned, relu);
    }
};

// Expects `fused` rotations, with every bit of the separate operators, for each number of threads.
void expectRotations(const wire::NetT& net, size_t fused) {
    const NetResult apart = runUnfused(net);
    EXPECT_EQ(apart.count("RotaryEmbedding"), 0u);
    double flops[2] = {0, 0};
    for (const OpRecord& op : apart.ops) flops[0] += op.flops;
    for (const int threads : {1, 2, 3}) {
        SessionConfig config;
        config.backend.threads = threads;
        const NetResult together = runNet(net, config);
        EXPECT_EQ(together.count("RotaryEmbedding"), fused);
        EXPECT_EQ(together.outputs, apart.outputs) << threads << " threads";
        flops[1] = 0;
        for (const OpRecord& op : together.ops) flops[1] += op.flops;
        EXPECT_DOUBLE_EQ(flops[0], flops[1]);
    }
}

struct Shapes {
    Dims x, cosines, sines;
};

const std::vector<Shapes> kShapes = {
    {{1, 1, 9, 64}, {1, 1, 1, 64}, {1, 1, 1, 64}},      // one token
    {{1, 5, 3, 10}, {1, 5, 1, 10}, {1, 5, 1, 10}},      // several ones
    {{1, 80, 20, 34}, {1, 80, 1, 34}, {1, 80, 1, 34}},  // shared by threads
    {{2, 4, 7, 6}, {1, 1, 7, 6}, {1, 1, 7, 6}},         // heads before positions
    {{2, 3, 5, 2}, {2, 1, 5, 2}, {2, 1, 5, 2}},         // a batch with positions of its own
    {{2, 5, 3, 10}, {1, 5, 1, 10}, {10}},               // factors that are broadcast along other axes
    {{3, 2, 2, 3, 6}, {3, 1, 2, 1, 6}, {1, 2, 1, 3, 6}},
    {{4, 18}, {4, 18}, {18}},
    {{8}, {8}, {8}},
};

TEST(RotaryEmbedding, IsOneCommandInAnyShape) {
    for (const Shapes& shapes : kShapes)
        for (const int form : {0, 1, 2, 3}) {
            RotaryNet s;
            s.negatesUpper = form != 1;
            s.sumsFirst = form == 2;
            s.factorsFirst = form == 3;
            const int x = s.input(shapes.x), cosines = s.input(shapes.cosines), sines = s.input(shapes.sines);
            const wire::NetT net = s.finish({s.rotate(x, shapes.x, cosines, sines)});
            SCOPED_TRACE(format("rank %zu, form %d", shapes.x.size(), form));
            expectRotations(net, 1);
            EXPECT_EQ(runNet(net).ops.size(), 1u);
        }
}

TEST(RotaryEmbedding, FormulaInDouble) {
    const Shapes& shapes = kShapes[1];
    RotaryNet s;
    const int x = s.input(shapes.x), cosines = s.input(shapes.cosines), sines = s.input(shapes.sines);
    const int y = s.rotate(x, shapes.x, cosines, sines);
    const NetResult result = runNet(s.finish({y, x, cosines, sines}));
    EXPECT_EQ(result.count("RotaryEmbedding"), 1u);
    const Floats &out = result.outputs[0], &in = result.outputs[1];
    ASSERT_EQ(out.size(), 150u);
    for (size_t i = 0; i < out.size(); ++i) {
        const size_t column = i % 10, factor = i / 30 * 10 + column;
        const double other = column < 5 ? -double(in[i + 5]) : double(in[i - 5]);
        EXPECT_NEAR(out[i], in[i] * double(result.outputs[2][factor]) + other * result.outputs[3][factor], 2e-6);
    }
}

// Convolutions, which use another layout, produce x and read z, and x has a second consumer.
TEST(RotaryEmbedding, BetweenOtherOperators) {
    RotaryNet s;
    const Dims dims = {1, 16, 5, 8};
    const int x = s.conv(s.input(dims), 16, 16, 1), cosines = s.input({1, 1, 5, 8}), sines = s.input({1, 1, 5, 8});
    const int y = s.rotate(x, dims, cosines, sines), z = s.rotate(y, dims, cosines, sines);
    const int w = s.conv(z, 16, 16, 1);
    expectRotations(s.finish({s.binary(BinaryCode::ADD, s.unary(UnaryCode::TANH, x), w)}), 2);
}

// The cosines, or cosines and sines, are the rotated tensor itself.
TEST(RotaryEmbedding, OneTensorForAll) {
    for (const bool asBoth : {true, false}) {
        RotaryNet s;
        const Dims dims = {2, 3, 10};
        const int x = s.unary(UnaryCode::TANH, s.input(dims));
        expectRotations(s.finish({s.rotate(x, dims, x, asBoth ? x : s.input(dims))}), 1);
    }
}

TEST(RotaryEmbedding, OtherFormsStayApart) {
    const Dims dims = {1, 4, 6, 8};
    const auto expectApart = [&](const char* what, const auto& change, const Dims& factors = {1, 4, 1, 8},
                                 const Dims& shape = {1, 4, 6, 8}) {
        SCOPED_TRACE(what);
        RotaryNet s;
        const int x = s.input(shape), cosines = s.input(factors), sines = s.input(factors);
        change(s);
        expectRotations(s.finish({s.rotate(x, shape, cosines, sines)}), 0);
    };
    expectApart("no half is negated", [](RotaryNet& s) { s.negatesNone = true; });
    expectApart("both halves are negated", [](RotaryNet& s) { s.negatesBoth = true; });
    expectApart("the halves keep their places", [](RotaryNet& s) { s.exchanges = false; });
    expectApart("parts of other sizes", [](RotaryNet& s) { s.lower = 3; });
    expectApart("another axis", [](RotaryNet& s) { s.axis = 2; });
    expectApart("halves of another tensor", [&](RotaryNet& s) { s.halvesOf = s.input(dims); });
    expectApart("a difference", [](RotaryNet& s) { s.last = BinaryCode::SUB; });
    expectApart("a sum that is clamped", [](RotaryNet& s) { s.relu = true; });
    const auto same = [](RotaryNet&) {};
    expectApart("a factor for each row", same, {1, 4, 6, 1});
    expectApart("one number", same, {1});
    expectApart("x is broadcast", same, {3, 4, 6, 8});
    expectApart("an odd row", [](RotaryNet& s) { s.lower = 2; }, {5}, {2, 5});
}

TEST(RotaryEmbedding, ValuesWithOtherConsumersStayApart) {
    const Dims dims = {1, 4, 6, 8};
    for (size_t part = 0; part < 7; ++part)
        for (const bool isOutput : {true, false}) {
            RotaryNet s;
            const int x = s.input(dims), factors = s.input({1, 4, 1, 8});
            const int y = s.rotate(x, dims, factors, factors);
            const int between = isOutput ? s.parts[part] : s.unary(UnaryCode::TANH, s.parts[part]);
            SCOPED_TRACE(part);
            expectRotations(s.finish({y, between}), 0);
        }
}

TEST(RotaryEmbedding, IntegersStayApart) {
    const Dims dims = {1, 4, 6, 8};
    RotaryNet s;
    const int x = s.ints(dims), factors = s.ints({8});
    const int y = s.rotate(x, dims, factors, factors);
    expectRotations(s.finish({s.select(y, s.input(dims), s.input(dims))}), 0);
}

// Sessions of the public interface: tensors between that are saved keep the operators apart, with the same bits.
TEST(RotaryEmbedding, PublicSessions) {
    const Shapes& shapes = kShapes[2];
    RotaryNet s;
    const int x = s.input(shapes.x), cosines = s.input(shapes.cosines), sines = s.input(shapes.sines);
    const int y = s.rotate(x, shapes.x, cosines, sines);
    const std::string between = "t" + std::to_string(s.parts[5]);
    const std::vector<uint8_t> model = pack(s.finish({y}));
    mnn_interpreter_t* net = nullptr;
    ASSERT_EQ(mnn_interpreter_create_from_memory(model.data(), model.size(), nullptr, &net), MNN_OK);
    std::vector<Floats> results;
    for (const bool saved : {false, true})
        for (const int32_t threads : {1, 2, 3}) {
            PublicSession::Mode mode;
            mode.threads = threads;
            if (saved) mode.saved = {between.c_str()};
            PublicSession session(net, mode);
            EXPECT_EQ(session.opCount(), saved ? 7u : 1u);
            const size_t sizes[] = {1 * 80 * 20 * 34, 80 * 34, 80 * 34};
            for (unsigned i = 0; i < 3; ++i) session.write(i, randomFloats(sizes[i], i + 1));
            for (int run = 0; run < 2; ++run) {
                ASSERT_EQ(session.run(), MNN_OK) << session.error;
                results.push_back(session.read());
                EXPECT_EQ(results.back(), results.front());
            }
        }
    EXPECT_GT(distance(results[0], Floats(results[0].size())), 0.5);
    EXPECT_EQ(mnn_interpreter_destroy(&net), MNN_OK);
}

}  // namespace
}  // namespace mnnc::test
