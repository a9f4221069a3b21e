// Operators after one whose output shape is known only in a run: they are planned again when that shape changes.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>

#include "net_builder.h"
#include "tensor/host_copy.h"

namespace mnnc::test {
namespace {

class LaterNet : public NetBuilder {
  public:
    // Returns the places of the elements above 0, as rows of indices.
    int where(int x) { return add(wire::OpType::Where, {x}, wire::ExtraT()); }
    int sum(int x) {
        wire::ReductionParamT params;
        params.operation = wire::ReductionType::SUM;
        return add(wire::OpType::Reduction, {x}, std::move(params));
    }
    int patches(int x, int kernel) {
        wire::Convolution2DT params;
        params.common = std::make_unique<wire::Convolution2DCommonT>();
        params.common->kernelX = params.common->kernelY = kernel;
        return add(wire::OpType::Im2Col, {x}, std::move(params));
    }
    int constant(int32_t value) {
        const int id = tensor();
        net_.oplists.push_back(makeIntConst(id, {1}, {value}));
        return id;
    }
    int branch(const std::string& then, const std::string& otherwise, std::vector<int32_t> inputs,
               const std::vector<std::string>& formals, const std::vector<std::string>& results) {
        wire::IfParamT params;
        params.then_graph = then;
        params.else_graph = otherwise;
        params.aliases_inputs.push_back(names({}));  // the condition is passed to no branch
        params.aliases_inputs.push_back(names(formals));
        params.aliases_outputs.push_back(names(results));
        return add(wire::OpType::If, std::move(inputs), std::move(params));
    }
    int reshapeTo(int x, int dims) { return add(wire::OpType::Reshape, {x, dims}, wire::ReshapeT()); }
    int floats(int x) {
        wire::CastParamT params;
        params.dstT = wire::DataType::DT_FLOAT;
        return add(wire::OpType::Cast, {x}, std::move(params));
    }
};

TEST(Stage, IsPlannedAgainWithTheValuesOfARun) {
    LaterNet steps;
    const int found = steps.where(steps.input({6}));
    // -1, the extent that follows from the others, as a value that the same run computes.
    const int zero = steps.binary(wire::BinaryOpOperation::MUL, steps.sum(found), steps.constant(0));
    const int rest = steps.binary(wire::BinaryOpOperation::ADD, zero, steps.constant(-1));
    Session session(open(steps.finish({steps.floats(steps.reshapeTo(found, rest))})), SessionConfig{});
    const std::vector<std::vector<float>> runs = {
        {1, 0, 0, 1, 0, 0}, {0, 1, 0, 0, 1, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 1}, {0, 0, 1, 1, 0, 0}};
    for (const std::vector<float>& values : runs) {
        copyFromHost(session.input(0), session.inputData(0), values.data(), Format::NCHW);
        session.run();
        std::vector<float> wanted;
        for (size_t i = 0; i < values.size(); ++i)
            if (values[i] > 0) wanted.push_back(static_cast<float>(i));
        ASSERT_EQ(session.output(0).shape, Shape{static_cast<int64_t>(wanted.size())});
        std::vector<float> got(wanted.size());
        copyToHost(session.output(0), session.outputData(0), got.data(), Format::NCHW);
        EXPECT_EQ(got, wanted);
    }
}

// Im2Col has a region for each element of a patch. Lists of regions are not in the file, so that nothing but the limit
// on memory would end them.
TEST(Stage, ListsOfRegionsCountAgainstTheLimitOnMemory) {
    LaterNet steps;
    const wire::NetT net = steps.finish({steps.patches(steps.input({1, 1, 256, 256}), 256)});
    SessionConfig config;
    config.maxMemoryBytes = 64 << 20;
    EXPECT_EQ(Session(open(net), config).output(0).shape, (Shape{65536, 1}));
    config.maxMemoryBytes = 8 << 20;
    expectFailure(Status::LimitExceeded, "the list of its regions needs", [&] { Session(open(net), config); });
}

// Each of these operators makes the shapes of the next one known.
TEST(Stage, AnEndlessChainOfThemIsRefused) {
    LaterNet steps;
    int x = steps.input({6});
    for (int i = 0; i < 2050; ++i) x = steps.where(x);
    const wire::NetT net = steps.finish({x});
    expectFailure(Status::LimitExceeded, "operators before it has shapes that only a run knows",
                  [&] { Session(open(net), SessionConfig{}); });
}

// Each constant of a chain is held by what was computed from it. Destroying the chain must not take as much of the
// stack as it is long.
TEST(Stage, ALongChainOfConstantsNeedsNoDeepStack) {
    LaterNet steps;
    int x = steps.scalar(1);
    for (int i = 0; i < 20000; ++i) x = steps.unary(UnaryCode::NEG, x);
    std::shared_ptr<const Interpreter> net = open(steps.finish({steps.binary(BinaryCode::ADD, x, steps.input({4}))}));
    const auto makeAndDestroy = [](void* of) -> void* {
        const auto& own = *static_cast<const std::shared_ptr<const Interpreter>*>(of);
        Session(own, SessionConfig{}).run();
        return nullptr;
    };
    pthread_attr_t attributes;
    pthread_t thread;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 << 10), 0);
    ASSERT_EQ(pthread_create(&thread, &attributes, makeAndDestroy, &net), 0);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
}

// x(2 x 3) -> |x| as 6 x 1 -> a shape that a run computes: an output that is a view of a view of an earlier stage, in
// memory of the caller.
TEST(Stage, GivesViewsOfEarlierStagesToTheCallersMemory) {
    LaterNet steps;
    const int x = steps.input({2, 3}), wanted = steps.ints({2});
    const int flat = steps.reshape(steps.unary(wire::UnaryOpOperation::ABS, x), {6, 1});
    Session session(open(steps.finish({steps.reshapeTo(flat, wanted)})), SessionConfig{});
    const std::vector<float> values = {-1, 2, -3, 4, -5, 6};
    std::vector<float> memory(6);
    session.bindOutput(0, memory.data(), static_cast<int64_t>(memory.size() * sizeof(float)), Format::NCHW);
    for (const std::vector<int32_t>& shape : {std::vector<int32_t>{3, 2}, {3, 2}, {1, 6}, {3, 2}}) {
        std::fill(memory.begin(), memory.end(), 0.0f);
        copyFromHost(session.input(0), session.inputData(0), values.data(), Format::NCHW);
        copyFromHost(session.input(1), session.inputData(1), shape.data(), Format::NCHW);
        session.run();
        ASSERT_EQ(session.output(0).shape, (Shape{shape[0], shape[1]}));
        EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4, 5, 6}));
    }
}

// x(2 x 2) or, where the condition is 0, x twice -> operators after a branch.
TEST(Stage, IsPlannedAgainWithTheBranchTaken) {
    NetBuilder once, twice;
    const int x = once.input({2, 2}), same = once.reshape(x, {2, 2});
    const int y = twice.input({2, 2}), both = twice.concat({y, y}, 0);
    LaterNet steps;
    const int condition = steps.input({1}), given = steps.input({2, 2});
    const int taken = steps.branch("once", "twice", {condition, given}, {"once_t0", "twice_t0"},
                                   {"once_t" + std::to_string(same), "twice_t" + std::to_string(both)});
    wire::NetT net = steps.finish({steps.relu(taken)});
    net.subgraphs.push_back(asGraph("once", once.finish({}), {x}, {same}));
    net.subgraphs.push_back(asGraph("twice", twice.finish({}), {y}, {both}));
    Session session(open(net), SessionConfig{});
    const float values[] = {3, -1, -2, 4};
    for (const float wanted : {1, 0, 0, 1, 1, 0}) {
        copyFromHost(session.input(0), session.inputData(0), &wanted, Format::NCHW);
        copyFromHost(session.input(1), session.inputData(1), values, Format::NCHW);
        session.run();
        const int64_t rows = wanted != 0 ? 2 : 4;
        ASSERT_EQ(session.output(0).shape, (Shape{rows, 2}));
        std::vector<float> got(static_cast<size_t>(rows * 2));
        copyToHost(session.output(0), session.outputData(0), got.data(), Format::NCHW);
        for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], std::max(0.0f, values[i % 4])) << i;
    }
}

}  // namespace
}  // namespace mnnc::test
