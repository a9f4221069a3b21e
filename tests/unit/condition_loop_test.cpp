// While with a graph for its condition: before every iteration that graph decides whether there is one, and after it
// the values are replaced by name, all at once.
#include "index_cases.h"

namespace mnnc::test {
namespace {

const PublicSession::Mode kCpu{"cpu"};
using Names = std::vector<std::string>;

// (i, a, b), steps -> the values of a and b after as many iterations of (i + 1, b, a + b) as i is below `steps`.
std::vector<uint8_t> fibonacciNet() {
    IndexNet goesOn;
    const int at = goesOn.ints({}), limit = goesOn.ints({});
    const int less = goesOn.binary(wire::BinaryOpOperation::LESS, at, limit);

    IndexNet round;
    const int i = round.ints({}), a = round.input({2}), b = round.input({2});
    const int next = round.binary(wire::BinaryOpOperation::ADD, i, round.constant({}, Ints{1}));
    const int sum = round.binary(wire::BinaryOpOperation::ADD, a, b), same = round.reshape(b, {2});

    IndexNet net;
    const int begin = net.constant({}, Ints{0}), steps = net.ints({});
    const int first = net.input({2}), second = net.input({2});
    wire::WhileParamT loop;
    loop.cond_graph = "goesOn";
    loop.body_graph = "round";
    for (const Names& formals : {Names{"goesOn_t0", "round_t0"}, {"goesOn_t1"}, {"round_t1"}, {"round_t2"}})
        loop.aliases_inputs.push_back(names(formals));
    loop.aliases_outputs = {"round_t1"};
    const auto update = [&](int output, const std::string& slot) {
        loop.aliases_updates.push_back(names({"round_t" + std::to_string(output), slot}));
    };
    update(next, "goesOn_t0");
    update(next, "round_t0");
    update(same, "round_t1");
    update(sum, "round_t2");
    const int result = net.indexed(wire::OpType::While, {begin, steps, first, second}, std::move(loop));
    wire::NetT whole = net.finish({result});
    whole.subgraphs.push_back(asGraph("goesOn", goesOn.finish({}), {at, limit}, {less}));
    whole.subgraphs.push_back(asGraph("round", round.finish({}), {i, a, b}, {next, same, sum}));
    return pack(whole);
}

TEST(ConditionLoop, ReplacesItsValuesAtOnce) {
    PublicSession session(fibonacciNet(), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    for (const int steps : {7, 0, 1, 10, -3}) {
        Floats a = {0, 2}, b = {1, 1};
        session.write(0, Ints{steps});
        session.write(1, a);
        session.write(2, b);
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        for (int round = 0; round < steps; ++round) {
            const Floats sum = {a[0] + b[0], a[1] + b[1]};
            a = b;
            b = sum;
        }
        EXPECT_EQ(session.read(), a) << steps << " rounds";
    }
}

}  // namespace
}  // namespace mnnc::test
