// Indices outside of their tables end in MNN_ERROR_INPUT_DATA on the CPU; negative ones count from the end.
#include <filesystem>
#include <fstream>

#include "index_cases.h"

namespace mnnc::test {
namespace {

const PublicSession::Mode kModes[] = {{"1 thread"}, {"4 threads", MNN_FORWARD_CPU, 4}};

TEST(IndexBounds, BadIndicesOfARun) {
    for (const PublicSession::Mode& mode : kModes)
        for (const IndexCase& one : indexCases()) expectIndicesOfRuns(one, mode);
}

TEST(IndexBounds, BadConstantIndices) {
    for (const IndexCase& one : indexCases()) expectConstantIndices(one, kModes[0]);
}

// Data and indices are constants, so the gather is computed while planning.
TEST(IndexBounds, FoldedConstants) {
    for (const int32_t index : {3, -3, -4, INT32_MIN}) {
        IndexNet net;
        const int table = net.constant({3, 2}, Floats{1, 2, 3, 4, 5, 6});
        const int row = net.gather(table, net.constant({5}, Ints{0, 1, index, 2, 2}), 0);
        const PublicSession session(
            pack(net.finish({net.binary(wire::BinaryOpOperation::ADD, net.input({5, 2}), row)})), kModes[0]);
        if (index == -3) {
            EXPECT_EQ(session.created, MNN_OK) << session.error;
            continue;
        }
        EXPECT_EQ(session.created, MNN_ERROR_INPUT_DATA);
        EXPECT_EQ(session.error, "op 'indexed': index " + std::to_string(index) +
                                     " (element 2 of the indices) is outside of an axis of extent 3");
    }
}

// (indices + rows) mod rows, the converters' form of ONNX's negative indices: the gather reads the indices through it.
TEST(IndexBounds, WrappedByAConverter) {
    for (const int32_t rows : {3, 4}) {  // with another number than the table's it is ordinary arithmetic
        IndexNet net;
        const int indices = net.ints({2}), count = net.constant({}, Ints{rows});
        const int shifted = net.binary(wire::BinaryOpOperation::ADD, indices, count);
        const int wrapped = net.binary(wire::BinaryOpOperation::MOD, shifted, count);
        const int table = net.constant({3, 2}, Floats{1, 2, 3, 4, 5, 6});
        PublicSession session(pack(net.finish({net.gather(table, wrapped, 0)})), kModes[0]);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        session.write(0, Ints{-rows, 2});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), (Floats{1, 2, 5, 6}));
        for (const int32_t bad : {4, 1000000000}) {
            session.write(0, Ints{2, bad});
            EXPECT_EQ(session.run(), rows == 3 ? MNN_ERROR_INPUT_DATA : MNN_OK) << session.error;
            const std::string sentence = "op 'indexed': index " + std::to_string(bad) +
                                         " (element 1 of the indices) is outside of an axis of extent 3";
            EXPECT_EQ(session.error, rows == 3 ? sentence : "");
        }
    }
}

// The numbers of a large constant stay in the file, so that the rewrite of wrapped indices cannot read an axis there.
TEST(IndexBounds, AnAxisThatStaysInTheFile) {
    IndexNet net;
    const int indices = net.ints({2}), count = net.constant({}, Ints{3});
    const int shifted = net.binary(wire::BinaryOpOperation::ADD, indices, count);
    const int wrapped = net.binary(wire::BinaryOpOperation::MOD, shifted, count);
    const int table = net.constant({3, 2}, Floats{1, 2, 3, 4, 5, 6}), axis = net.constant({5000}, Ints(5000, 0));
    const auto bytes = pack(net.finish({net.indexed(wire::OpType::GatherV2, {table, wrapped, axis})}));
    const std::string path = ::testing::TempDir() + "mnnc_large_axis.mnn";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    mnn_interpreter_t* interpreter = nullptr;
    mnn_session_t* session = nullptr;
    ASSERT_EQ(mnn_interpreter_create_from_file(path.c_str(), nullptr, &interpreter), MNN_OK) << mnn_last_error();
    EXPECT_EQ(mnn_session_create(interpreter, nullptr, &session), MNN_OK) << mnn_last_error();
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&interpreter);
    std::filesystem::remove(path);
}

// Constant indices must fit the extent after a resize.
TEST(IndexBounds, AResizeMayMakeIndicesBad) {
    const std::vector<IndexCase> cases = indexCases();
    const IndexCase& one = cases.front();
    PublicSession session(one.model(&one.good), kModes[0]);
    mnn_tensor_t* input = nullptr;
    ASSERT_EQ(mnn_session_input(session.handle(), nullptr, &input), MNN_OK);
    const int32_t low[] = {3, 4, 8}, right[] = {3, 5, 8};
    ASSERT_EQ(mnn_session_resize_input(session.handle(), input, low, 3), MNN_OK);
    EXPECT_EQ(mnn_session_resize(session.handle()), MNN_ERROR_INPUT_DATA);
    EXPECT_STREQ(mnn_last_error(),
                 "op 'indexed': index 4 (element 1 of the indices) is outside of an axis of extent 4");
    ASSERT_EQ(mnn_session_resize_input(session.handle(), input, right, 3), MNN_OK);
    ASSERT_EQ(mnn_session_resize(session.handle()), MNN_OK) << mnn_last_error();
    session.write(0, one.data());
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), one.wanted(one.data(), one.good));
}

// A table without rows has no index that fits.
TEST(IndexBounds, AnEmptyTable) {
    IndexNet net;
    const int data = net.input({0, 4});
    PublicSession session(pack(net.finish({net.gather(data, net.ints({2}), 0)})), kModes[0]);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA);
    EXPECT_EQ(session.error, "op 'indexed': index 0 (element 0 of the indices) is outside of an axis of extent 0");
}

std::unique_ptr<wire::StringVecT> names(std::vector<std::string> list) {
    auto result = std::make_unique<wire::StringVecT>();
    result->data = std::move(list);
    return result;
}

// data(3 x 2), indices(4) -> rows, as a graph that is called.
std::unique_ptr<wire::SubGraphProtoT> gatherGraph(const std::string& name) {
    IndexNet steps;
    const int data = steps.input({3, 2}), indices = steps.ints({4});
    const int rows = steps.gather(data, indices, 0);
    wire::NetT net = steps.finish({rows});
    auto graph = std::make_unique<wire::SubGraphProtoT>();
    graph->name = name;
    for (const std::string& tensor : net.tensorName) graph->tensors.push_back(name + "_" + tensor);
    graph->inputs = {data, indices};
    graph->outputs = {rows};
    graph->nodes = std::move(net.oplists);
    return graph;
}

TEST(IndexBounds, InABranch) {
    IndexNet steps;
    const int condition = steps.ints({}), data = steps.input({3, 2}), indices = steps.ints({4});
    wire::IfParamT branch;
    branch.then_graph = "yes";
    branch.else_graph = "no";
    branch.aliases_inputs.push_back(names({}));
    branch.aliases_inputs.push_back(names({"yes_t0", "no_t0"}));
    branch.aliases_inputs.push_back(names({"yes_t1", "no_t1"}));
    branch.aliases_outputs.push_back(names({"yes_t2", "no_t2"}));
    const int chosen = steps.indexed(wire::OpType::If, {condition, data, indices}, std::move(branch));
    wire::NetT net = steps.finish({chosen});
    net.subgraphs.push_back(gatherGraph("yes"));
    net.subgraphs.push_back(gatherGraph("no"));
    PublicSession session(pack(net), kModes[0]);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(1, Floats{1, 2, 3, 4, 5, 6});
    for (const int32_t side : {1, 0, 1}) {
        session.write(0, Ints{side});
        session.write(2, Ints{0, 1, 3, 2});
        EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA);
        EXPECT_EQ(session.error, "op 'indexed': index 3 (element 2 of the indices) is outside of an axis of extent 3");
        session.write(2, Ints{0, 1, -3, 2});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), (Floats{1, 2, 3, 4, 1, 2, 5, 6}));
    }
}

TEST(IndexBounds, UnravelIndex) {
    IndexNet net;
    const int indices = net.ints({3}), dims = net.ints({2});
    PublicSession session(pack(net.finish({net.indexed(wire::OpType::UnravelIndex, {indices, dims})})), kModes[0]);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(1, Ints{3, 4});
    for (const int32_t bad : {12, -1, INT32_MAX, INT32_MIN}) {
        session.write(0, Ints{0, bad, 99});
        EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA);
        EXPECT_EQ(session.error,
                  "op 'indexed': index " + std::to_string(bad) + " (element 1 of the indices) is outside of the shape");
        session.write(0, Ints{0, 11, 6});
        EXPECT_EQ(session.run(), MNN_OK) << session.error;
    }
    session.write(1, Ints{3, 0});
    EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA);
    EXPECT_EQ(session.error, "op 'indexed': extent 1 of the shape is 0");
}

TEST(IndexBounds, OneHotOutsideIsOff) {
    IndexNet net;
    const int hot = net.indexed(
        wire::OpType::OneHot,
        {net.ints({4}), net.constant({}, Ints{3}), net.constant({}, Floats{2}), net.constant({}, Floats{-1})},
        wire::OneHotParamT());
    PublicSession session(pack(net.finish({hot})), kModes[0]);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Ints{2, 3, INT32_MIN, INT32_MAX});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{-1, -1, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
}

// Begins and lengths that are tensors, in operators that move ranges.
TEST(IndexBounds, SlicesAndSequences) {
    IndexNet slices;
    const int x = slices.input({6, 5});
    PublicSession moving(pack(slices.finish({slices.indexed(wire::OpType::SliceTf,
                                                            {x, slices.ints({2}), slices.constant({2}, Ints{2, 3})})})),
                         kModes[0]);
    ASSERT_EQ(moving.created, MNN_OK) << moving.error;
    for (const Ints& bad : {Ints{5, 0}, Ints{0, 3}, Ints{-7, 0}, Ints{INT32_MIN, 0}, Ints{INT32_MAX, 0}}) {
        moving.write(1, bad);
        EXPECT_EQ(moving.run(), MNN_ERROR_INPUT_DATA) << moving.error;
        moving.write(1, Ints{4, -3});
        EXPECT_EQ(moving.run(), MNN_OK) << moving.error;
    }
    IndexNet sequences;
    wire::ReverseSequenceParamT reverse;
    reverse.batchDim = 0;
    reverse.seqDim = 1;
    const int data = sequences.input({2, 3});
    const int reversed =
        sequences.indexed(wire::OpType::ReverseSequence, {data, sequences.ints({2})}, std::move(reverse));
    PublicSession session(pack(sequences.finish({reversed})), kModes[0]);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats{1, 2, 3, 4, 5, 6});
    for (const int32_t bad : {-1, 4, INT32_MAX, INT32_MIN}) {
        session.write(1, Ints{3, bad});
        EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA) << session.error;
        session.write(1, Ints{3, 2});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), (Floats{3, 2, 1, 5, 4, 6}));
    }
}

// Element-wise gathers and scatters have no data for positions beyond it along the other axes.
TEST(IndexBounds, BeyondTheDataOnAnotherAxis) {
    IndexNet net;
    const int data = net.input({2, 3});
    const PublicSession session(pack(net.finish({net.indexed(wire::OpType::GatherElements, {data, net.ints({2, 4})})})),
                                kModes[0]);
    EXPECT_EQ(session.created, MNN_ERROR_COMPUTE_SIZE);
    EXPECT_EQ(session.error, "op 'indexed': indices 2x4 reach beyond data 2x3 along axis 1");
}

}  // namespace
}  // namespace mnnc::test
