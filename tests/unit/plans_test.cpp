// Plans of a session over time: which parts a resize plans again, which are kept, and the state after a failure. After
// each step a session computes the results of a fresh one, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "plans_net.h"
#include "session/value.h"
#include "tensor/host_copy.h"

namespace mnnc::test {
namespace {

using Bytes = std::vector<uint8_t>;
using Shapes = std::vector<std::vector<Shape>>;  // for each input, the shapes that it may have

// A session and the results that it should have.
class Watched {
  public:
    Watched(std::shared_ptr<const Interpreter> net, const SessionConfig& config)
        : net_(std::move(net)), config_(config), session_(net_, config) {
        for (size_t i = 0; i < session_.inputCount(); ++i)
            contents_.emplace_back(static_cast<size_t>(session_.input(i).storageBytes()));
    }
    Session& session() { return session_; }

    void write(size_t input, std::mt19937& random) {
        Operand& tensor = session_.input(input);
        for (size_t i = 0; i < contents_[input].size(); i += 4) {
            const float real = static_cast<float>(random() % 21) / 8 - 1;
            const auto whole = static_cast<int32_t>(random() % 4);
            std::memcpy(&contents_[input][i], tensor.type == DataType::Int32 ? static_cast<const void*>(&whole) : &real,
                        4);
        }
        copyFromHost(tensor, session_.inputData(input), contents_[input].data(), rowMajor(tensor));
    }
    // Resizes; inputs whose shape changes become zeros.
    void resize(const std::vector<Shape>& shapes) {
        std::vector<bool> changed;
        for (size_t i = 0; i < shapes.size(); ++i) {
            changed.push_back(!(shapes[i] == session_.input(i).shape));
            session_.resizeInput(i, shapes[i]);
        }
        session_.resize();
        for (size_t i = 0; i < shapes.size(); ++i)
            if (changed[i]) contents_[i].assign(static_cast<size_t>(session_.input(i).storageBytes()), 0);
    }
    // Runs, and compares inputs with the written ones and outputs with those of a fresh session.
    void check() {
        session_.run();
        SessionConfig deferred = config_;
        deferred.deferPlanning = true;
        Session fresh(net_, deferred);
        for (size_t i = 0; i < contents_.size(); ++i) {
            ASSERT_EQ(read(session_.input(i), session_.inputData(i)), contents_[i]) << "input " << i;
            fresh.resizeInput(i, session_.input(i).shape);
        }
        fresh.resize();
        for (size_t i = 0; i < contents_.size(); ++i)
            copyFromHost(fresh.input(i), fresh.inputData(i), contents_[i].data(), rowMajor(fresh.input(i)));
        fresh.run();
        for (size_t i = 0; i < fresh.outputCount(); ++i) {
            ASSERT_EQ(session_.output(i).shape, fresh.output(i).shape) << "output " << i;
            ASSERT_EQ(read(session_.output(i), session_.outputData(i)), read(fresh.output(i), fresh.outputData(i)))
                << "output " << i;
        }
    }

  private:
    static Bytes read(const Operand& tensor, const void* data) {
        Bytes bytes(static_cast<size_t>(hostBytes(tensor, rowMajor(tensor))));
        if (!bytes.empty()) copyToHost(tensor, data, bytes.data(), rowMajor(tensor));
        return bytes;
    }
    const std::shared_ptr<const Interpreter> net_;
    const SessionConfig config_;
    Session session_;
    std::vector<Bytes> contents_;
};

// The last shape of each list is refused.
const Shapes kBranchShapes = {{{1, 4, 9, 11}, {1, 4, 20, 17}, {1, 4, 3, 3}, {1, 3, 9, 11}},
                              {{1, 4, 7, 5}, {1, 4, 33, 8}, {1, 4, 1, 1}, {1, 4, 7, 5, 1, 1}}};

struct Plans {
    const char* name;
    wire::NetT net;
    Shapes shapes;
};

std::vector<Plans> allNets() {
    std::vector<Plans> nets;
    nets.push_back({"branches", PlansNet().branches(), kBranchShapes});
    nets.push_back({"stages", PlansNet().stages(), {{{6}, {9}, {1}}, {{2, 3}, {4, 5}, {1, 1}}}});
    nets.push_back({"suppression", PlansNet().suppression(), {{{6, 4}, {40, 4}, {1, 4}}, {{2, 3}, {4, 5}, {1, 1}}}});
    nets.push_back({"loop", PlansNet().loop(), {{{2, 2}, {5, 2}, {1, 2}}, {Shape{}}}});
    return nets;
}

std::vector<SessionConfig> configs() {
    std::vector<SessionConfig> list(3);
    list[1].backend.threads = 2;
    list[2].forwardType = ForwardType::Vulkan;
    list[2].allowFallback = true;
    return list;
}

TEST(Plans, RandomSequencesOfResizesComputeWhatAFreshSessionComputes) {
    for (const Plans& plans : allNets())
        for (SessionConfig config : configs())
            for (const int kept : {1, 2, 3}) {
                SCOPED_TRACE(plans.name + std::to_string(kept) + (config.allowFallback ? " vulkan" : " cpu"));
                config.planCache = kept;
                Watched watched(open(plans.net), config);
                std::mt19937 random(static_cast<unsigned>(kept));
                std::vector<Shape> shapes;
                for (const auto& list : plans.shapes) shapes.push_back(list[0]);
                for (int step = 0; step < 25; ++step) {
                    std::vector<Shape> wanted = shapes;
                    for (size_t i = 0; i < wanted.size(); ++i) {
                        if (random() % 2) wanted[i] = plans.shapes[i][random() % plans.shapes[i].size()];
                        if (random() % 2) watched.write(i, random);
                    }
                    if (random() % 8 == 0) watched.session().trim();
                    try {
                        watched.resize(wanted);
                        shapes = wanted;
                    } catch (const Error&) {
                        // Resizes back, which needs no plan and has lost nothing.
                        for (size_t i = 0; i < shapes.size(); ++i) watched.session().resizeInput(i, shapes[i]);
                        ASSERT_FALSE(watched.session().needsResize());
                    }
                    watched.check();
                    if (testing::Test::HasFatalFailure()) FAIL() << "step " << step;
                }
            }
}

TEST(Plans, AResizePlansWhatDependsOnTheChangedInput) {
    Session session(open(PlansNet().branches()), SessionConfig{});
    const auto whole = session.planCounts();
    EXPECT_EQ(whole.encoded, 8);
    session.resizeInput(0, {1, 4, 20, 17});
    session.resize();
    const auto after = session.planCounts();
    EXPECT_EQ(after.plans, whole.plans + 1);
    EXPECT_EQ(after.encoded - whole.encoded, 2) << "the convolution of the first input and its resize";
    EXPECT_GT(after.executions, whole.executions);
    EXPECT_LE(after.executions - whole.executions, 3);
}

// The plan after it depends on how many boxes are kept, not on which ones.
TEST(Plans, ASuppressionPlansForTheNumberOfItsResults) {
    Session session(open(PlansNet().suppression()), SessionConfig{});
    // Boxes of height 1 and width 10, of these places and scores.
    const auto run = [&](const Floats& places, const Floats& scores) {
        Floats boxes;
        for (size_t i = 0; i < 6; ++i) boxes.insert(boxes.end(), {places[i], scores[i], places[i] + 1, scores[i] + 10});
        copyFromHost(session.input(0), session.inputData(0), boxes.data(), Format::NCHW);
        session.run();
        const auto* kept = static_cast<const int32_t*>(session.outputData(1));
        return Ints(kept, kept + session.output(1).elements());
    };
    const Floats apart = {0, 2, 4, 6, 8, 10};
    const auto before = session.planCounts();
    EXPECT_EQ(run(apart, {0.5f, 0.75f, 0.25f, 0, 0, 0}), (Ints{1, 0, 2, 3}));
    const auto first = session.planCounts();
    EXPECT_EQ(first.plans, before.plans + 1);
    EXPECT_EQ(run(apart, {0.75f, 0.5f, 0, 0, 0, 0.25f}), (Ints{0, 1, 5, 2}));
    EXPECT_EQ(session.planCounts().plans, first.plans);
    EXPECT_EQ(run({0, 0, 0, 0, 0, 5}, {0.75f, 0.5f, 0, 0, 0, 0}), (Ints{0, 5}));
    EXPECT_EQ(session.planCounts().plans, first.plans + 1);
}

TEST(Plans, ASuppressionPlansForTheNumberOfAllResultsOfItsClasses) {
    Session session(open(PlansNet().classes()), SessionConfig{});
    const auto run = [&](const Floats& scores) {
        copyFromHost(session.input(0), session.inputData(0), scores.data(), Format::NCHW);
        session.run();
        const auto* rows = static_cast<const int32_t*>(session.outputData(0));
        return Ints(rows, rows + session.output(0).elements());
    };
    EXPECT_EQ(run({0.75f, 0.5f, 0, 0, 0.625f, 1}), (Ints{0, 0, 0, 0, 1, 2, 0, 1, 1}));
    const auto first = session.planCounts();
    EXPECT_EQ(run({0, 0.75f, 1, 0.625f, 0, 0}), (Ints{0, 0, 2, 0, 0, 1, 0, 1, 0}));
    EXPECT_EQ(session.planCounts().plans, first.plans);
    EXPECT_EQ(run({0, 0, 0, 0.625f, 0, 0}), (Ints{0, 1, 0}));
    EXPECT_EQ(session.planCounts().plans, first.plans + 1);
}

TEST(Plans, AKeptPlanIsTakenAsItIs) {
    for (SessionConfig config : configs()) {
        for (Plans& plans : allNets()) {
            config.planCache = 2;
            Watched watched(open(plans.net), config);
            std::mt19937 random(7);
            const std::vector<std::vector<Shape>> both = {{plans.shapes[0][0], plans.shapes[1][0]},
                                                          {plans.shapes[0][1], plans.shapes[1][0]}};
            for (int round = 0; round < 2; ++round) {
                watched.resize(both[static_cast<size_t>(round)]);
                watched.write(0, random);
                watched.write(1, random);
                watched.check();
            }
            const int64_t arena = watched.session().memory().arena;
            for (int round = 0; round < 4; ++round) {
                const uint64_t before = watched.session().planCounts().plans;
                watched.resize(both[static_cast<size_t>(round % 2)]);
                EXPECT_EQ(watched.session().planCounts().plans, before) << plans.name;
                EXPECT_EQ(watched.session().memory().arena, arena) << plans.name;
                watched.check();
            }
        }
    }
}

TEST(Plans, AFailedResizeLeavesThePlanBefore) {
    for (const SessionConfig& config : configs()) {
        Watched watched(open(PlansNet().branches()), config);
        std::mt19937 random(3);
        watched.write(0, random);
        watched.write(1, random);
        const auto before = watched.session().planCounts();
        for (int round = 0; round < 2; ++round) {
            const std::vector<Shape> good = {kBranchShapes[0][0], kBranchShapes[1][0]};
            EXPECT_THROW(watched.resize({kBranchShapes[0][1], kBranchShapes[1][3]}), Error);
            EXPECT_TRUE(watched.session().needsResize());
            EXPECT_THROW(watched.session().run(), Error);
            watched.resize(good);
            EXPECT_EQ(watched.session().planCounts().plans, before.plans);
            watched.check();
        }
    }
}

TEST(Plans, KeptPlansMakeRoomWithinTheLimit) {
    const wire::NetT net = PlansNet().branches();
    SessionConfig config;
    config.planCache = 3;
    Session generous(open(net), config);
    const int64_t small = generous.memory().arena;
    generous.resizeInput(0, {1, 4, 60, 60});
    generous.resize();
    generous.trim();
    const Session::Memory alone = generous.memory();
    generous.resizeInput(0, {1, 4, 9, 11});
    generous.resize();
    EXPECT_EQ(generous.memory().arena, alone.arena);
    EXPECT_GT(alone.arena, small);
    generous.trim();
    EXPECT_EQ(generous.memory().arena, small);
    // The limit suffices only for the largest plan: the others are released.
    config.maxMemoryBytes = alone.peak + 4096;
    Watched scarce(open(net), config);
    std::mt19937 random(5);
    for (int round = 0; round < 6; ++round) {
        const int64_t extent = round % 3 == 0 ? 60 : 9 + round;
        scarce.resize({{1, 4, extent, extent}, kBranchShapes[1][0]});
        scarce.write(0, random);
        scarce.check();
        EXPECT_LE(scarce.session().memory().peak, config.maxMemoryBytes);
    }
}

// A convolution prepares other weights for each of these extents.
TEST(Plans, WeightsOfKeptPlansMakeRoomWithinTheLimit) {
    NetBuilder steps;
    const wire::NetT net = steps.finish({steps.conv(steps.input({1, 64, 12, 12}), 64, 64, 3)});
    const auto resize = [](Session& session, int extent) {
        session.resizeInput(0, {1, 64, extent, extent});
        session.resize();
    };
    SessionConfig config;
    Session forgetful(open(net), config);
    const int64_t first = forgetful.memory().weights, slack = 4096;
    ASSERT_GT(first, slack);
    for (const int extent : {2, 40}) resize(forgetful, extent);
    config.maxMemoryBytes = forgetful.memory().peak + slack;
    config.planCache = 3;
    Session scarce(open(net), config);
    for (const int extent : {2, 40}) resize(scarce, extent);
    EXPECT_LE(scarce.memory().total, config.maxMemoryBytes);
}

// The smaller extent needs no larger arena, but weights of another form beside those in use.
TEST(Plans, WeightsOfALaterPlanCountBesideTheArena) {
    NetBuilder steps;
    const wire::NetT net = steps.finish({steps.conv(steps.input({1, 64, 40, 40}), 64, 64, 3)});
    SessionConfig config;
    config.planCache = 1;
    const auto resize = [](Session& session) {
        session.resizeInput(0, {1, 64, 1, 2});
        session.resize();
    };
    Session generous(open(net), config);
    const Session::Memory before = generous.memory();
    resize(generous);
    ASSERT_GT(generous.memory().peak, before.peak);
    config.maxMemoryBytes = generous.memory().peak - 1;
    ASSERT_GT(config.maxMemoryBytes, before.weights + generous.memory().weights);

    Session scarce(open(net), config);
    try {
        resize(scarce);
        FAIL() << "the session holds " << scarce.memory().total;
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::LimitExceeded) << error.what();
    }
    EXPECT_LE(scarce.memory().total, config.maxMemoryBytes);
    scarce.resizeInput(0, {1, 64, 40, 40});
    scarce.resize();
    scarce.run();
}

}  // namespace
}  // namespace mnnc::test
