// The TensorArray operators in sessions: indices that are known only in a run, and refused ones.
#include "index_cases.h"

namespace mnnc::test {
namespace {

const PublicSession::Mode kCpu{"cpu"};

class SequenceNet : public IndexNet {
  public:
    // Returns the flow of a new sequence.
    int sequence(int size, bool dynamic, std::vector<int32_t> element = {}) {
        wire::TensorArrayT table;
        table.dynamic_size = dynamic;
        table.element_shape = std::move(element);
        const int handle = tensor(), flow = tensor();
        net_.oplists.push_back(
            makeOp(wire::OpType::TensorArray, "array", {constant({}, Ints{size})}, {handle, flow}, std::move(table)));
        return flow;
    }
    // Adds an operator over sequence `flow`; `others` are between the handle and the flow.
    int edit(wire::OpType type, int flow, Ints others, int axis = 0) {
        wire::TensorArrayT table;
        table.axis = axis;
        others.insert(others.begin(), flow);
        others.push_back(flow);
        return indexed(type, std::move(others), std::move(table));
    }
    // Splits x [6, 2] into three parts of 1, 2 and 3 rows.
    int parts(int x) {
        return edit(wire::OpType::TensorArraySplit, sequence(1, true), {x, constant({3}, Ints{1, 2, 3})});
    }
};

const Floats kRows = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

TEST(TensorArray, ReadsTheElementThatARunNames) {
    SequenceNet net;
    const int x = net.input({6, 2}), at = net.ints({});
    PublicSession session(pack(net.finish({net.edit(wire::OpType::TensorArrayRead, net.parts(x), {at})})), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, kRows);
    for (const auto& [index, wanted] : std::vector<std::pair<int, Floats>>{
             {1, {3, 4, 5, 6}}, {0, {1, 2}}, {2, {7, 8, 9, 10, 11, 12}}, {-3, {1, 2}}, {-1, {7, 8, 9, 10, 11, 12}}}) {
        session.write(1, Ints{index});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), wanted) << index;
    }
    for (const int index : {3, -4, INT_MAX, INT_MIN}) {
        session.write(1, Ints{index});
        EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA) << index;
        EXPECT_EQ(session.error, "op 'indexed': element " + std::to_string(index) + " is outside of a sequence of 3");
    }
    session.write(1, Ints{1});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{3, 4, 5, 6}));
}

TEST(TensorArray, WritesWhereARunSays) {
    SequenceNet net;
    const int x = net.input({2}), at = net.ints({});
    const int written = net.edit(wire::OpType::TensorArrayWrite, net.sequence(3, false, {2}), {at, x});
    PublicSession session(pack(net.finish({net.edit(wire::OpType::TensorArrayConcat, written, {})})), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats{5, 6});
    for (const int index : {2, 0, 1}) {
        session.write(1, Ints{index});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        Floats wanted(6, 0.0f);
        wanted[static_cast<size_t>(2 * index)] = 5;
        wanted[static_cast<size_t>(2 * index + 1)] = 6;
        EXPECT_EQ(session.read(), wanted);
    }
    for (const int index : {3, -1}) {
        session.write(1, Ints{index});
        EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA);
        EXPECT_EQ(session.error,
                  "op 'indexed': element " + std::to_string(index) + " cannot be written to a sequence of 3");
    }
}

std::string creationError(SequenceNet& net, int output) {
    return PublicSession(pack(net.finish({output})), kCpu).error;
}

TEST(TensorArray, RefusesWhatIsNoSequenceAndWhatDoesNotFit) {
    SequenceNet plain;
    EXPECT_EQ(creationError(plain, plain.edit(wire::OpType::TensorArrayConcat, plain.input({4}), {})),
              "op 'indexed' (TensorArrayConcat): its last input is a tensor and no sequence");
    SequenceNet stacked;
    const int parts = stacked.parts(stacked.input({6, 2}));
    EXPECT_EQ(creationError(stacked,
                            stacked.edit(wire::OpType::TensorArrayGather, parts, {stacked.constant({2}, Ints{0, 1})})),
              "op 'indexed': elements of 1x2 and 2x2 cannot be stacked");
    SequenceNet joined;
    EXPECT_EQ(
        creationError(joined, joined.edit(wire::OpType::TensorArrayConcat, joined.parts(joined.input({6, 2})), {}, 1)),
        "op 'indexed': elements of 1x2 and 2x2 cannot be joined at axis 1");
    SequenceNet unwritten;
    EXPECT_EQ(creationError(unwritten, unwritten.edit(wire::OpType::TensorArrayRead, unwritten.sequence(2, false),
                                                      {unwritten.constant({}, Ints{1})})),
              "op 'indexed': element 1 of a sequence is read, but was never written");
    SequenceNet huge;
    const int far = huge.constant({}, Ints{INT_MAX});
    const int flow = huge.edit(wire::OpType::TensorArrayWrite, huge.sequence(0, true), {far, huge.input({4})});
    EXPECT_EQ(creationError(huge, huge.edit(wire::OpType::TensorArrayConcat, flow, {})),
              "op 'indexed': an output of shape 8589934592 has an extent above 2^31 - 1");
    SequenceNet negative;
    EXPECT_EQ(creationError(negative, negative.edit(wire::OpType::TensorArraySize, negative.sequence(-1, true), {})),
              "op 'array': a sequence cannot have -1 elements");
}

}  // namespace
}  // namespace mnnc::test
