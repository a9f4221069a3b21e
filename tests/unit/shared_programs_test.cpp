// Sessions of one interpreter with equal settings share their programs, and nothing else.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "ops/source.h"
#include "plans_net.h"
#include "session/session.h"
#include "session/value.h"
#include "tensor/host_copy.h"

namespace mnnc::test {
namespace {

using Outputs = std::vector<std::vector<uint8_t>>;

void write(Session& session, uint32_t seed) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < session.inputCount(); ++i) {
        Operand& tensor = session.input(i);
        std::vector<float> reals(static_cast<size_t>(tensor.elements()));
        std::vector<int32_t> wholes(reals.size());
        for (size_t k = 0; k < reals.size(); ++k) {
            reals[k] = static_cast<float>(random() % 21) / 8 - 1;
            wholes[k] = static_cast<int32_t>(random() % 4);
        }
        copyFromHost(tensor, session.inputData(i),
                     tensor.type == DataType::Int32 ? static_cast<const void*>(wholes.data()) : reals.data(),
                     rowMajor(tensor));
    }
}

Outputs run(Session& session, uint32_t seed) {
    write(session, seed);
    session.run();
    Outputs outputs;
    for (size_t i = 0; i < session.outputCount(); ++i) {
        const Operand& output = session.output(i);
        outputs.emplace_back(static_cast<size_t>(hostBytes(output, rowMajor(output))));
        copyToHost(output, session.outputData(i), outputs.back().data(), rowMajor(output));
    }
    return outputs;
}

// Returns the outputs of a session that shares nothing.
Outputs alone(const wire::NetT& net, uint32_t seed) {
    Session session(open(net), SessionConfig{});
    return run(session, seed);
}

uint64_t plansOf(const Session& session) {
    return session.planCounts().plans;
}

TEST(SharedPrograms, AreMadeOnce) {
    const wire::NetT net = PlansNet().branches();
    const auto interpreter = open(net);
    auto first = std::make_unique<Session>(interpreter, SessionConfig{});
    const int64_t weights = first->memory().weights;
    Session second(interpreter, SessionConfig{});
    EXPECT_EQ(plansOf(*first), 1u);
    EXPECT_EQ(plansOf(second), 0u);
    EXPECT_EQ(second.planCounts().executions, 0);
    EXPECT_EQ(second.memory().weights, weights);
    EXPECT_EQ(run(*first, 1), alone(net, 1));
    EXPECT_EQ(run(second, 2), alone(net, 2));
    first.reset();  // the program, its executions and their backend stay
    EXPECT_EQ(run(second, 3), alone(net, 3));
    Session third(interpreter, SessionConfig{});
    EXPECT_EQ(plansOf(third), 0u);
    EXPECT_EQ(run(third, 4), alone(net, 4));
}

TEST(SharedPrograms, AreOfTheShapesThatASessionHas) {
    const auto interpreter = open(PlansNet().branches());
    Session first(interpreter, SessionConfig{}), second(interpreter, SessionConfig{});
    for (Session* session : {&first, &second}) {
        session->resizeInput(0, {1, 4, 12, 10});
        session->resize();
    }
    EXPECT_EQ(plansOf(first), 2u);
    EXPECT_EQ(plansOf(second), 0u);
    EXPECT_EQ(run(first, 5), run(second, 5));
}

TEST(SharedPrograms, AreOfEqualSettings) {
    const auto interpreter = open(PlansNet().branches());
    Session first(interpreter, SessionConfig{});
    SessionConfig limited;
    limited.maxMemoryBytes = int64_t{1} << 30;
    limited.maxLoopIterations = 7;
    EXPECT_EQ(plansOf(Session(interpreter, limited)), 0u);
    SessionConfig threads, subnormals, recorded, isa;
    threads.backend.threads = 2;
    subnormals.keepSubnormals = true;
    recorded.recordPlans = true;
    isa.backend.cpuIsa = "portable";
    for (const SessionConfig& other : {threads, subnormals, recorded, isa})
        EXPECT_EQ(plansOf(Session(interpreter, other)), 1u);
}

// Values of a run decide the later stage: equal values find the stages of the other session.
TEST(SharedPrograms, OfLaterStagesAreFoundByTheirGuards) {
    const wire::NetT net = PlansNet().stages();
    const auto interpreter = open(net);
    Session first(interpreter, SessionConfig{}), second(interpreter, SessionConfig{});
    EXPECT_EQ(run(first, 1), alone(net, 1));
    const uint64_t before = plansOf(second);
    EXPECT_EQ(run(second, 1), alone(net, 1));
    EXPECT_EQ(plansOf(second), before);
    for (uint32_t seed = 2; seed < 12; ++seed) {
        EXPECT_EQ(run(first, seed), alone(net, seed));
        EXPECT_EQ(run(second, seed + 1), alone(net, seed + 1));
    }
}

TEST(SharedPrograms, RunBodiesOfLoopsOverFramesOfTheirOwn) {
    const wire::NetT net = PlansNet().loop();
    const auto interpreter = open(net);
    Session first(interpreter, SessionConfig{}), second(interpreter, SessionConfig{});
    for (uint32_t seed = 1; seed < 8; ++seed) {
        EXPECT_EQ(run(first, seed), alone(net, seed));
        EXPECT_EQ(run(second, seed + 100), alone(net, seed + 100));
    }
}

// A session that wrote a constant has its own programs, which other sessions do not use.
TEST(SharedPrograms, AreNotThoseOfASessionWithOwnConstants) {
    const wire::NetT net = PlansNet().loop();  // the matrix of its body stays; the trips of the main graph change
    const auto interpreter = open(net);
    Session first(interpreter, SessionConfig{}), second(interpreter, SessionConfig{});
    int condition = -1;
    for (const Node& node : interpreter->net->graphs[0].nodes)
        if (isConstantNode(node)) condition = node.outputs[0];
    ASSERT_GE(condition, 0);
    const Outputs before = run(second, 3);
    *static_cast<int32_t*>(first.ownConstant(condition)) = 0;  // no iteration
    first.constantWritten(condition);
    first.resize();
    EXPECT_NE(run(first, 3), before);
    EXPECT_EQ(run(second, 3), before);
    Session third(interpreter, SessionConfig{});
    EXPECT_EQ(run(third, 3), before);
}

TEST(SharedPrograms, AreFoundAndRunByManyThreadsAtOnce) {
    const wire::NetT net = PlansNet().branches();
    const auto interpreter = open(net);
    constexpr int kThreads = 4, kRounds = 6;
    std::vector<Outputs> wanted;
    for (uint32_t seed = 0; seed < kThreads * kRounds; ++seed) wanted.push_back(alone(net, seed));
    std::vector<int> wrong(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (int round = 0; round < kRounds; ++round) {
                Session session(interpreter, SessionConfig{});
                const auto seed = static_cast<uint32_t>(t * kRounds + round);
                wrong[static_cast<size_t>(t)] += run(session, seed) != wanted[seed];
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(kThreads));
}

}  // namespace
}  // namespace mnnc::test
