// A backend of the host beside the CPU: the nodes that it computes, in several nets.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "own_backend.h"

namespace mnnc::test {
namespace {

Floats waves(size_t count) {
    Floats values(count);
    for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i * 3 + 1));
    return values;
}

// Without the backend the ReLU would be the convolution's epilogue, and the two around it one chain.
TEST(OwnBackend, NothingThatItTakesIsFused) {
    OwnBackend own;
    own.of("ReLU", addOne);
    NetBuilder net;
    int x = net.relu(net.conv(net.input({1, 3, 5, 7}), 3, 6, 3));
    x = net.unary(wire::UnaryOpOperation::SQUARE, net.relu(net.unary(wire::UnaryOpOperation::ABS, x)));
    const std::vector<uint8_t> model = pack(net.finish({x}));
    NetBuilder plain;
    const std::vector<uint8_t> reference = pack(plain.finish({plain.conv(plain.input({1, 3, 5, 7}), 3, 6, 3)}));
    PublicSession session(model, own.mode()), first(reference, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    for (PublicSession* one : {&session, &first}) {
        one->write(0, waves(105));
        ASSERT_EQ(one->run(), MNN_OK) << one->error;
    }
    Floats wanted = first.read();
    for (float& value : wanted) value = (std::fabs(value + 1) + 1) * (std::fabs(value + 1) + 1);
    EXPECT_EQ(session.read(), wanted);
    EXPECT_EQ(own.computed, 2);
    EXPECT_EQ(own.asked, (std::vector<std::string>{"Convolution", "ReLU", "UnaryOp", "ReLU", "UnaryOp"}));
}

// The CPU would execute a group convolution that a converter wrote as slices as one convolution.
TEST(OwnBackend, SeesTheNodesOfTheFile) {
    OwnBackend own;
    own.of("Convolution", [](mnn_operator_call_t& call) {
        std::fill_n(outputFloats(call), elementsOf(*call.outputs[0]), 2.5f);
        return MNN_OK;
    });
    NetBuilder net;
    const std::vector<int> parts = net.split(net.input({1, 4, 3, 3}), 1, {2});
    const int joined = net.concat({net.conv(parts[0], 2, 3, 3), net.conv(parts[1], 2, 3, 3)});
    PublicSession session(pack(net.finish({joined})), own.mode());
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), Floats(54, 2.5f));
    EXPECT_EQ(own.computed, 2);
    EXPECT_EQ(own.asked, (std::vector<std::string>{"Slice", "Convolution", "Convolution", "Concat"}));
}

TEST(OwnBackend, SeesShapesConstantsAndKnownContents) {
    OwnBackend own;
    const auto check = [](bool planning, const mnn_operator_call_t& call) {
        ASSERT_EQ(call.input_count, 2u);
        ASSERT_EQ(call.output_count, 1u);
        EXPECT_EQ(call.inputs[0]->data == nullptr, planning);
        EXPECT_EQ(call.outputs[0]->data == nullptr, planning);
        ASSERT_NE(call.inputs[1]->data, nullptr);
        EXPECT_EQ(inputFloats(call, 1)[5], 6);
        EXPECT_EQ(call.outputs[0]->rank, 2);
        EXPECT_EQ(call.outputs[0]->dims[0], 4);
        EXPECT_EQ(call.outputs[0]->dims[1], 2);
        EXPECT_EQ(call.outputs[0]->bytes, 32u);
        EXPECT_EQ(call.outputs[0]->type, MNN_TYPE_FLOAT32);
        EXPECT_STREQ(call.inputs[0]->name, "t0");
        EXPECT_STREQ(call.node->schema_type, "MatMul");
        EXPECT_EQ(call.node->parameter_table, static_cast<int32_t>(wire::OpParameter::MatMul));
        EXPECT_NE(call.node->parameters, nullptr);
    };
    own.ask = own.prepare = [&](mnn_operator_call_t& call) { return check(true, call), MNN_OK; };
    own.of("MatMul", [&](mnn_operator_call_t& call) {
        check(false, call);
        for (int r = 0; r < 4; ++r)
            for (int c = 0; c < 2; ++c) {
                float sum = 0;
                for (int k = 0; k < 3; ++k) sum += inputFloats(call)[r * 3 + k] * inputFloats(call, 1)[c * 3 + k];
                outputFloats(call)[r * 2 + c] = sum;
            }
        return MNN_OK;
    });
    IndexNet net;
    const int x = net.input({4, 3}), weights = net.constant({2, 3}, Floats{1, 2, 3, 4, 5, 6});
    PublicSession session(pack(net.finish({net.matmul(x, weights, false, true)})), own.mode());
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{1, 4, 2, 5, 3, 6, 6, 15}));
    EXPECT_EQ(own.computed, 1);
}

// A large constant that the CPU's matrix product would load itself is available, too.
TEST(OwnBackend, SeesLargeConstantsOfFiles) {
    constexpr int kWide = 300;
    OwnBackend own;
    own.of("MatMul", [](mnn_operator_call_t& call) {
        for (int c = 0; c < kWide; ++c) outputFloats(call)[c] = inputFloats(call, 1)[c * kWide + c];
        return MNN_OK;
    });
    IndexNet net;
    Floats weights(kWide * kWide);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
    const int x = net.input({1, kWide}), constant = net.constant({kWide, kWide}, weights);
    const std::vector<uint8_t> model = pack(net.finish({net.matmul(x, constant)}));
    const std::string path = testing::TempDir() + "own_backend_large.mnn";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(model.data()), static_cast<std::streamsize>(model.size()));
    // A newer file would be read into memory completely.
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    mnn_interpreter_t* interpreter = nullptr;
    ASSERT_EQ(mnn_interpreter_create_from_file(path.c_str(), nullptr, &interpreter), MNN_OK) << mnn_last_error();
    {
        PublicSession session(interpreter, own.mode());
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        const Floats got = session.read();
        ASSERT_EQ(got.size(), static_cast<size_t>(kWide));
        for (size_t i = 0; i < kWide; ++i) EXPECT_EQ(got[i], static_cast<float>(i * (kWide + 1)));
    }
    EXPECT_EQ(mnn_interpreter_destroy(&interpreter), MNN_OK);
    std::remove(path.c_str());
}

// The library computes everything that follows from constants and shapes, and runs own operators.
TEST(OwnBackend, IsNotAskedForWhatPlanningComputes) {
    OwnBackend own;
    own.of("BinaryOp", addOne).of("UnaryOp", addOne).of("Own", addOne).of("Shape", addOne);
    PluginNet net;
    const int x = net.input({2, 3});
    const int constant = net.unary(wire::UnaryOpOperation::SQUARE, net.constant({2, 3}, Floats{1, 2, 3, 4, 5, 6}));
    const int doubled = net.plugin("Own", {x});
    const int shape = net.bare(wire::OpType::Shape, {x});
    const int sum = net.binary(wire::BinaryOpOperation::ADD, doubled, constant);
    OwnOperator op("Own");
    op.compute = doubleAll;
    OwnNet opened(pack(net.finish({sum, shape})), {&op});
    PublicSession session(opened.interpreter, own.mode());
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    EXPECT_EQ(own.asked, std::vector<std::string>{"BinaryOp"});
    session.write(0, Floats{1, 2, 3, 4, 5, 6});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{3, 5, 7, 9, 11, 13}));
    EXPECT_EQ(op.computes, 1);
    EXPECT_EQ(own.computed, 1);
}

// count, value -> that many values, whose number is known only in a run: the backend is called in the run.
TEST(OwnBackend, ComputesWhatIsPlannedDuringARun) {
    OwnBackend own;
    own.of("ReLU", addOne);
    IndexNet net;
    const int count = net.ints({1}), value = net.input({});
    const int filled = net.relu(net.indexed(wire::OpType::Fill, {count, value}));
    PublicSession session(pack(net.finish({filled})), own.mode());
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    for (const int32_t wanted : {3, 3, 0, 5}) {
        session.write(0, Ints{wanted});
        session.write(1, Floats{2.5f});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), Floats(static_cast<size_t>(wanted), 3.5f));
    }
    EXPECT_EQ(own.computed, 3);
}

TEST(OwnBackend, ComputesInBodiesOfControlFlow) {
    PluginNet yes, no;
    const int yesIn = yes.input({2}), yesOut = yes.unary(wire::UnaryOpOperation::SQUARE, yes.relu(yesIn));
    const int noIn = no.input({2}), noOut = no.unary(wire::UnaryOpOperation::SQUARE, noIn);
    PluginNet builder;
    const int condition = builder.ints({}), x = builder.input({2});
    wire::IfParamT table;
    table.then_graph = "yes";
    table.else_graph = "no";
    table.aliases_inputs.push_back(std::make_unique<wire::StringVecT>());
    table.aliases_inputs.push_back(names({"yes_t0", "no_t0"}));
    table.aliases_outputs.push_back(names({"yes_t2", "no_t1"}));
    const int result = builder.indexed(wire::OpType::If, {condition, x}, std::move(table));
    wire::NetT whole = builder.finish({result});
    whole.subgraphs.push_back(asGraph("yes", yes.finish({}), {yesIn}, {yesOut}));
    whole.subgraphs.push_back(asGraph("no", no.finish({}), {noIn}, {noOut}));
    OwnBackend own;
    own.of("ReLU", addOne);
    PublicSession session(pack(whole), own.mode());
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    for (const int taken : {1, 0, 1}) {
        session.write(0, Ints{taken});
        session.write(1, Floats{3, -4});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), taken ? (Floats{16, 9}) : (Floats{9, 16}));
    }
    EXPECT_EQ(own.computed, 2);
}

TEST(OwnBackend, ComputesInTheDefaultFloatingPointMode) {
    OwnBackend own;
    own.of("ReLU", [](mnn_operator_call_t& call) {
        for (size_t i = 0; i < 2; ++i) outputFloats(call)[i] = inputFloats(call)[i] * 0.5f;
        return MNN_OK;
    });
    NetBuilder net;
    PublicSession session(pack(net.finish({net.relu(net.input({2}))})), own.mode());
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats{1e-39f, 2});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{0.5f * 1e-39f, 1}));
}

}  // namespace
}  // namespace mnnc::test
