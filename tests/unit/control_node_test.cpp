// Records of the operators of loops and branches: their work in one run, and their backends.
#include <map>

#include "index_cases.h"

namespace mnnc::test {
namespace {

constexpr double kWork = 2 * 2 * 2 * 2;  // a product of two 2 x 2 matrices

enum class GoesOn { AsGiven, Always, Never, Computed };

// t2 = t2 x matrix; `goesOn` selects how the body decides about the next iteration.
std::unique_ptr<wire::SubGraphProtoT> loopBody(GoesOn goesOn) {
    IndexNet net;
    net.ints({});
    int next = net.ints({});
    const int carried = net.input({2, 2});
    const int product = net.matmul(carried, net.constant({2, 2}, Floats{1, 1, 0, 1}));
    if (goesOn == GoesOn::Always) next = net.constant({}, Ints{1});
    if (goesOn == GoesOn::Never) next = net.constant({}, Ints{0});
    if (goesOn == GoesOn::Computed) next = net.binary(wire::BinaryOpOperation::MUL, next, net.constant({}, Ints{1}));
    return asGraph("body", net.finish({}), {0, 1, carried}, {next, product});
}

// x(2 x 2), trips -> the loop's result; trips is a constant if it is not negative.
std::vector<uint8_t> loopNet(int trips, GoesOn goesOn = GoesOn::AsGiven) {
    IndexNet net;
    const int x = net.input({2, 2});
    const int limit = trips < 0 ? net.ints({}) : net.constant({}, Ints{trips});
    wire::WhileParamT loop;
    loop.body_graph = "body";
    const int result = net.indexed(wire::OpType::While, {limit, net.constant({}, Ints{1}), x}, std::move(loop));
    wire::NetT whole = net.finish({result});
    whole.subgraphs.push_back(loopBody(goesOn));
    return pack(whole);
}

// x(2 x 2) -> a loop of as many rounds of a loop of as many rounds.
std::vector<uint8_t> nestedLoops(int outer, int inner) {
    IndexNet body;
    body.ints({});
    const int next = body.ints({}), carried = body.input({2, 2});
    wire::WhileParamT loop;
    loop.body_graph = "body";
    const int result = body.indexed(
        wire::OpType::While, {body.constant({}, Ints{inner}), body.constant({}, Ints{1}), carried}, std::move(loop));
    IndexNet net;
    const int x = net.input({2, 2});
    wire::WhileParamT around;
    around.body_graph = "around";
    const int whole = net.indexed(wire::OpType::While, {net.constant({}, Ints{outer}), net.constant({}, Ints{1}), x},
                                  std::move(around));
    wire::NetT all = net.finish({whole});
    all.subgraphs.push_back(loopBody(GoesOn::AsGiven));
    all.subgraphs.push_back(asGraph("around", body.finish({}), {0, next, carried}, {next, result}));
    return pack(all);
}

struct Work {
    double flops = -1;
    bool complete = false;
};

Work workOf(const PublicSession& session) {
    Work work;
    EXPECT_EQ(mnn_session_flops(session.handle(), &work.flops, &work.complete), MNN_OK) << mnn_last_error();
    return work;
}

const PublicSession::Mode kCpu{"cpu"};

TEST(ControlNode, WorkOfACountedLoop) {
    for (const int trips : {0, 1, 2, 5}) {
        PublicSession session(loopNet(trips), kCpu);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        EXPECT_FALSE(workOf(session).complete);  // a run plans the body
        session.write(0, Floats{1, 2, 3, 4});
        for (int round = 0; round < 2; ++round) {
            ASSERT_EQ(session.run(), MNN_OK) << session.error;
            const auto t = static_cast<float>(trips);
            EXPECT_EQ(session.read(), (Floats{1, 2 + t, 3, 4 + 3 * t}));
            EXPECT_EQ(workOf(session).flops, trips * kWork);
            EXPECT_TRUE(workOf(session).complete);
        }
    }
}

// Runs nested loops within 12 iterations of each loop, and returns whether the limit ended them.
bool passesLimit(int outer, int inner) {
    mnn_schedule_config_t config;
    mnn_session_t* session = nullptr;
    mnn_interpreter_t* net = nullptr;
    const std::vector<uint8_t> model = nestedLoops(outer, inner);
    EXPECT_EQ(mnn_interpreter_create_from_memory(model.data(), model.size(), nullptr, &net), MNN_OK);
    EXPECT_EQ(mnn_schedule_config_init(&config, sizeof config), MNN_OK);
    config.max_loop_iterations = 12;
    EXPECT_EQ(mnn_session_create(net, &config, &session), MNN_OK) << mnn_last_error();
    mnn_status status = MNN_OK;
    for (int run = 0; run < 2 && status == MNN_OK; ++run) status = mnn_session_run(session);
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    EXPECT_TRUE(status == MNN_OK || status == MNN_ERROR_LIMIT_EXCEEDED) << status;
    return status != MNN_OK;
}

TEST(ControlNode, RoundsOfAnInnerLoopAddUp) {
    EXPECT_FALSE(passesLimit(4, 3));
    EXPECT_FALSE(passesLimit(12, 1));
    EXPECT_TRUE(passesLimit(5, 3));
    EXPECT_TRUE(passesLimit(13, 0));
    EXPECT_TRUE(passesLimit(1, 13));
}

TEST(ControlNode, WorkOfALoopWithAConditionInItsBody) {
    const std::map<GoesOn, double> wanted{{GoesOn::Always, 3 * kWork}, {GoesOn::Never, kWork}};
    for (const auto& [goesOn, flops] : wanted) {
        PublicSession session(loopNet(3, goesOn), kCpu);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(workOf(session).flops, flops);
        EXPECT_TRUE(workOf(session).complete);
    }
    PublicSession computed(loopNet(3, GoesOn::Computed), kCpu);
    ASSERT_EQ(computed.created, MNN_OK) << computed.error;
    ASSERT_EQ(computed.run(), MNN_OK) << computed.error;
    EXPECT_FALSE(workOf(computed).complete);
}

TEST(ControlNode, WorkOfALoopWithATripCountFromARun) {
    PublicSession session(loopNet(-1), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats{1, 2, 3, 4});
    session.write(1, Ints{4});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{1, 6, 3, 16}));
    EXPECT_EQ(workOf(session).flops, 0);
    EXPECT_FALSE(workOf(session).complete);
}

// x(1 x 2) -> x times a matrix plus three rows, again and again: all iterations but the first one have three rows.
std::vector<uint8_t> growingNet(int trips) {
    IndexNet body;
    body.ints({});
    const int goesOn = body.ints({}), carried = body.input({1, 2});
    const int product = body.matmul(carried, body.constant({2, 2}, Floats{1, 1, 0, 1}));
    const int rows = body.constant({3, 2}, Floats{0, 0, 1, 0, 0, 1});
    const int next = body.binary(wire::BinaryOpOperation::ADD, product, rows);
    IndexNet net;
    const int x = net.input({1, 2});
    wire::WhileParamT loop;
    loop.body_graph = "body";
    const int limit = net.constant({}, Ints{trips});
    const int result = net.indexed(wire::OpType::While, {limit, net.constant({}, Ints{1}), x}, std::move(loop));
    wire::NetT whole = net.finish({result});
    whole.subgraphs.push_back(asGraph("body", body.finish({}), {0, 1, carried}, {goesOn, next}));
    return pack(whole);
}

TEST(ControlNode, WorkOfALoopWhoseFirstIterationIsSmaller) {
    std::map<int, double> flops;
    for (const int trips : {1, 2, 3, 6}) {
        PublicSession session(growingNet(trips), kCpu);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        session.write(0, Floats{1, 2});
        uint64_t plans = 0;
        for (int round = 0; round < 3; ++round) {
            ASSERT_EQ(session.run(), MNN_OK) << session.error;
            const auto t = static_cast<float>(trips);
            const float sum = t * (t - 1) / 2;  // what the first of the rows adds to the second column
            EXPECT_EQ(session.read(), (Floats{1, 2 + t, 1 + t, 2 + t + sum, 1, 2 + 2 * t}));
            EXPECT_TRUE(workOf(session).complete);
            flops[trips] = workOf(session).flops;
            mnn_statistics_t statistics{};
            statistics.struct_size = sizeof statistics;
            ASSERT_EQ(mnn_session_statistics(session.handle(), &statistics), MNN_OK);
            if (round > 0) {
                EXPECT_EQ(statistics.stage_plans, plans);
            }
            plans = statistics.stage_plans;
        }
    }
    EXPECT_EQ(flops[6] - flops[3], 3 * (flops[3] - flops[2]));
    EXPECT_EQ(flops[3] - flops[2], flops[2] - flops[1]);
    EXPECT_EQ(flops[2] - 2 * flops[1], kWork);  // a product with two rows more
}

// x(2 x 2), condition -> x times a matrix once or twice; the condition is a constant if it is not negative.
std::vector<uint8_t> branchNet(int condition) {
    const auto branch = [](const std::string& name, int products) {
        IndexNet net;
        int value = net.input({2, 2});
        for (int i = 0; i < products; ++i) value = net.matmul(value, net.constant({2, 2}, Floats{1, 1, 0, 1}));
        return asGraph(name, net.finish({}), {0}, {value});
    };
    IndexNet net;
    const int x = net.input({2, 2});
    const int chosen = condition < 0 ? net.ints({}) : net.constant({}, Ints{condition});
    wire::IfParamT table;
    table.then_graph = "yes";
    table.else_graph = "no";
    table.aliases_inputs.push_back(names({}));
    table.aliases_inputs.push_back(names({"yes_t0", "no_t0"}));
    table.aliases_outputs.push_back(names({"yes_t2", "no_t4"}));
    const int result = net.indexed(wire::OpType::If, {chosen, x}, std::move(table));
    wire::NetT whole = net.finish({result});
    whole.subgraphs.push_back(branch("yes", 1));
    whole.subgraphs.push_back(branch("no", 2));
    return pack(whole);
}

TEST(ControlNode, WorkOfABranch) {
    for (const int condition : {1, 0}) {
        PublicSession session(branchNet(condition), kCpu);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        EXPECT_FALSE(workOf(session).complete);
        session.write(0, Floats{1, 2, 3, 4});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), condition ? (Floats{1, 3, 3, 7}) : (Floats{1, 4, 3, 10}));
        EXPECT_EQ(workOf(session).flops, condition ? kWork : 2 * kWork);
        EXPECT_TRUE(workOf(session).complete);
    }
    PublicSession session(branchNet(-1), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats{1, 2, 3, 4});
    session.write(1, Ints{1});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_FALSE(workOf(session).complete);
}

// Counts the backend names of all operators, which may be empty.
std::vector<mnn_op_info_t> infosOf(const PublicSession& session) {
    size_t count = 0;
    EXPECT_EQ(mnn_session_op_count(session.handle(), &count), MNN_OK);
    std::vector<mnn_op_info_t> infos(count);
    for (size_t i = 0; i < count; ++i) {
        infos[i].struct_size = sizeof infos[i];
        EXPECT_EQ(mnn_session_op_info(session.handle(), i, &infos[i]), MNN_OK);
    }
    return infos;
}

std::map<std::string, int> placesOf(const PublicSession& session) {
    std::map<std::string, int> places;
    for (const mnn_op_info_t& info : infosOf(session)) {
        ++places[info.backend_name];
        EXPECT_TRUE(info.backend_name[0] != '\0' || info.flops < 0) << info.name;
    }
    return places;
}

// Returns types and numbers of the operators, by name.
std::map<std::string, std::pair<std::string, int>> operatorsOf(const PublicSession& session) {
    std::map<std::string, std::pair<std::string, int>> operators;
    for (const mnn_op_info_t& info : infosOf(session)) operators[info.name] = {info.type_name, info.op_index};
    return operators;
}

TEST(ControlNode, OperatorsOfABodyAreKnownBeforeARun) {
    PublicSession session(loopNet(2, GoesOn::Computed), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    const auto before = operatorsOf(session);
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_GE(before.size(), 2u);
    EXPECT_EQ(before, operatorsOf(session));
}

TEST(ControlNode, OperatorsOfABodyHaveNoBackendBeforeARun) {
    PublicSession session(loopNet(2), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    EXPECT_EQ(placesOf(session), (std::map<std::string, int>{{"", 1}}));
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(placesOf(session), (std::map<std::string, int>{{"cpu", 1}}));
    // After a resize the next run decides.
    mnn_tensor_t* input = nullptr;
    ASSERT_EQ(mnn_session_input(session.handle(), nullptr, &input), MNN_OK);
    const int32_t dims[] = {3, 2};
    ASSERT_EQ(mnn_session_resize_input(session.handle(), input, dims, 2), MNN_OK);
    ASSERT_EQ(mnn_session_resize(session.handle()), MNN_OK) << mnn_last_error();
    EXPECT_EQ(placesOf(session), (std::map<std::string, int>{{"", 1}}));
    EXPECT_FALSE(workOf(session).complete);
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(placesOf(session), (std::map<std::string, int>{{"cpu", 1}}));
    EXPECT_EQ(workOf(session).flops, 2 * 3 * 2 * 2 * 2);
}

TEST(ControlNode, OperatorsOfALaterStageHaveNoBackendBeforeARun) {
    IndexNet net;
    const int x = net.relu(net.input({3, 2}));
    wire::ExtraT form;
    const int places = net.indexed(wire::OpType::Where, {x}, std::move(form));
    const int shifted = net.binary(wire::BinaryOpOperation::ADD, places, net.constant({}, Ints{1}));
    PublicSession session(pack(net.finish({shifted})), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    EXPECT_EQ(placesOf(session), (std::map<std::string, int>{{"cpu", 1}, {"", 2}}));
    EXPECT_EQ(session.backendOf("indexed"), "");
    session.write(0, Floats{1, 0, 2, 3, 0, 0});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(placesOf(session), (std::map<std::string, int>{{"cpu", 3}}));
}

// An output has its shape before a run, whichever others wait for contents.
TEST(ControlNode, OutputsOfTheFirstStageHaveTheirShapeBeforeARun) {
    IndexNet net;
    const int x = net.relu(net.input({3, 2}));
    wire::ExtraT form;
    const int places = net.indexed(wire::OpType::Where, {x}, std::move(form));
    PublicSession session(pack(net.finish({x, places})), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    for (const bool ran : {false, true}) {
        mnn_tensor_t *known = nullptr, *later = nullptr;
        ASSERT_EQ(mnn_session_output_at(session.handle(), 0, &known), MNN_OK);
        ASSERT_EQ(mnn_session_output_at(session.handle(), 1, &later), MNN_OK);
        ASSERT_EQ(mnn_tensor_shape(known, dims, MNN_MAX_RANK, &rank), MNN_OK) << mnn_last_error();
        EXPECT_EQ(std::vector<int32_t>(dims, dims + rank), (std::vector<int32_t>{3, 2}));
        EXPECT_EQ(mnn_tensor_shape(later, dims, MNN_MAX_RANK, &rank), ran ? MNN_OK : MNN_ERROR_BAD_STATE);
        session.write(0, Floats{1, 0, 2, 3, 0, 0});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
    }
}

// The shapes of the outputs of a loop are not known before a run.
TEST(ControlNode, OutputsOfALoopHaveNoShapeBeforeARun) {
    PublicSession session(loopNet(2), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    mnn_tensor_t* output = nullptr;
    ASSERT_EQ(mnn_session_output(session.handle(), nullptr, &output), MNN_OK);
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    EXPECT_EQ(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank), MNN_ERROR_BAD_STATE);
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    ASSERT_EQ(mnn_tensor_shape(output, dims, MNN_MAX_RANK, &rank), MNN_OK) << mnn_last_error();
    EXPECT_EQ(rank, 2u);
}

}  // namespace
}  // namespace mnnc::test
