// Operators of the host between those of the library: results, types, layouts, stages, control flow.
#include <algorithm>
#include <cmath>

#include "own_operator.h"

namespace mnnc::test {
namespace {

TEST(OwnOperator, RunsBetweenOperatorsOfTheLibrary) {
    OwnOperator own("Own");
    own.compute = [](mnn_operator_call_t& call) {
        EXPECT_EQ(call.struct_size, sizeof call);
        EXPECT_EQ(call.input_count, 1u);
        EXPECT_EQ(call.output_count, 1u);
        EXPECT_EQ(call.state, nullptr);
        EXPECT_STREQ(call.node->name, "indexed");
        EXPECT_STREQ(call.node->type_name, "Own");
        EXPECT_STREQ(call.node->schema_type, "Plugin");
        EXPECT_STREQ(call.node->engine, "");
        EXPECT_EQ(call.node->info, nullptr);
        EXPECT_EQ(call.node->input_count, 1u);
        EXPECT_EQ(call.node->output_count, 1u);
        for (const mnn_host_tensor_t* tensor :
             {call.inputs[0], static_cast<const mnn_host_tensor_t*>(call.outputs[0])}) {
            EXPECT_EQ(tensor->struct_size, sizeof *tensor);
            EXPECT_EQ(tensor->type, MNN_TYPE_FLOAT32);
            EXPECT_EQ(tensor->rank, 2);
            EXPECT_EQ(tensor->dims[0], 2);
            EXPECT_EQ(tensor->dims[1], 3);
            EXPECT_EQ(tensor->bytes, 24u);
        }
        EXPECT_NE(call.inputs[0]->data, call.outputs[0]->data);
        return doubleAll(call);
    };
    {
        OwnNet net(ownChain(), {&own});
        bool supported = false;
        ASSERT_EQ(mnn_interpreter_op_supported(net.interpreter, 2, &supported), MNN_OK);
        EXPECT_TRUE(supported);
        PublicSession session(net.interpreter, kCpu);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        EXPECT_EQ(session.backendOf("indexed"), "cpu");
        session.write(0, Floats{1, -2, 3, 4, -5, 6});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), (Floats{2, 0, 6, 8, 0, 12}));
        EXPECT_EQ(own.computes, 1);
        EXPECT_EQ(own.finalized, 0);
    }
    EXPECT_EQ(own.finalized, 1);
}

TEST(OwnOperator, WithoutRegistrationTheModelLoadsAndItsSessionsNameTheType) {
    PluginNet extra;
    wire::ExtraT table;
    table.type = "Elsewhere";
    const int made = extra.indexed(wire::OpType::Extra, {extra.input({2})}, std::move(table));
    for (const auto& [model, type] :
         {std::pair{ownChain(), "'Own'"}, std::pair{pack(extra.finish({made})), "'Elsewhere'"}}) {
        OwnOperator other("Other");
        other.compute = doubleAll;
        OwnNet net(model, {&other});
        const PublicSession session(net.interpreter, kCpu);
        EXPECT_EQ(session.created, MNN_ERROR_NOT_SUPPORTED);
        EXPECT_NE(session.error.find(type), std::string::npos) << session.error;
        EXPECT_NE(session.error.find("'indexed'"), std::string::npos) << session.error;
    }
}

TEST(OwnOperator, RunsOperatorsOfTheSchemaThatTheLibraryLacks) {
    PluginNet builder;
    const std::vector<uint8_t> model = pack(builder.finish({builder.bare(wire::OpType::Im2Seq, {builder.input({4})})}));
    OwnOperator own("Im2Seq");
    own.compute = [](mnn_operator_call_t& call) {
        EXPECT_STREQ(call.node->schema_type, "Im2Seq");
        EXPECT_EQ(call.node->parameters, nullptr);
        EXPECT_EQ(call.node->parameter_table, 0);
        return doubleAll(call);
    };
    OwnNet net(model, {&own});
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats{1, 2, 3, 4});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{2, 4, 6, 8}));
}

// Values and their places, of several types: two outputs, one of them int32.
TEST(OwnOperator, MakesSeveralOutputsOfSeveralTypes) {
    PluginNet builder;
    const int x = builder.relu(builder.input({3, 4}));
    const Ints outputs = builder.several(wire::OpType::Plugin, {x}, 2, PluginNet::table("Own"));
    const int sum = builder.binary(wire::BinaryOpOperation::ADD, outputs[1], builder.constant({}, Ints{10}));
    OwnOperator own("Own");
    own.shape = [](mnn_operator_call_t& call) {
        EXPECT_EQ(call.inputs[0]->data, nullptr);
        for (size_t i = 0; i < 2; ++i) {
            EXPECT_EQ(call.outputs[i]->rank, -1);
            EXPECT_EQ(call.outputs[i]->type, MNN_TYPE_FLOAT32);
            call.outputs[i]->rank = 1;
            call.outputs[i]->dims[0] = call.inputs[0]->dims[0];
        }
        call.outputs[1]->type = MNN_TYPE_INT32;
        return MNN_OK;
    };
    own.compute = [](mnn_operator_call_t& call) {
        for (int row = 0; row < 3; ++row) {
            const float* values = inputFloats(call) + 4 * row;
            const float* largest = std::max_element(values, values + 4);
            outputFloats(call)[row] = *largest;
            static_cast<int32_t*>(call.outputs[1]->data)[row] = static_cast<int32_t>(largest - values);
        }
        return MNN_OK;
    };
    OwnNet net(pack(builder.finish({outputs[0], sum})), {&own});
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats{1, 9, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(0), (Floats{9, 7, 8}));
    Ints places(3);
    mnn_tensor_t* tensor = nullptr;
    ASSERT_EQ(mnn_session_output_at(session.handle(), 1, &tensor), MNN_OK);
    ASSERT_EQ(mnn_tensor_read(tensor, places.data(), 12, MNN_FORMAT_NCHW), MNN_OK);
    EXPECT_EQ(places, (Ints{11, 13, 10}));
}

// Packed maps are converted around it: the operator sees row-major tensors.
TEST(OwnOperator, SeesRowMajorTensorsBetweenConvolutions) {
    const auto build = [](bool own) {
        PluginNet net;
        int x = net.conv(net.input({1, 3, 5, 7}), 3, 6, 3, true);
        x = own ? net.plugin("Own", {x}) : net.relu(net.unary(wire::UnaryOpOperation::SQUARE, x));
        return pack(net.finish({net.conv(x, 6, 5, 1)}));
    };
    OwnOperator own("Own");
    own.compute = [](mnn_operator_call_t& call) {
        for (size_t i = 0; i < 6 * 35; ++i) outputFloats(call)[i] = inputFloats(call)[i] * inputFloats(call)[i];
        return MNN_OK;
    };
    OwnNet net(build(true), {&own});
    PublicSession session(net.interpreter, kCpu), reference(build(false), kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    Floats values(105);
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
    for (PublicSession* one : {&session, &reference}) {
        one->write(0, values);
        ASSERT_EQ(one->run(), MNN_OK) << one->error;
    }
    EXPECT_EQ(session.read(), reference.read());
}

// A node over constants alone computes in each run, not while planning.
TEST(OwnOperator, IsNeverFolded) {
    PluginNet builder;
    const int constant = builder.plugin("Own", {builder.constant({2}, Floats{1, 2})});
    const int sum = builder.binary(wire::BinaryOpOperation::ADD, builder.input({2}), constant);
    OwnOperator own("Own");
    own.compute = doubleAll;
    OwnNet net(pack(builder.finish({sum})), {&own});
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    EXPECT_EQ(own.computes, 0);
    for (int run = 1; run <= 3; ++run) {
        session.write(0, Floats{10, 20});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), (Floats{12, 24}));
        EXPECT_EQ(own.computes, run);
    }
}

// count, value -> that many times the value.
TEST(OwnOperator, ReadsContentsForItsShape) {
    PluginNet builder;
    const int count = builder.ints({1}), value = builder.input({1});
    const int doubled = builder.binary(wire::BinaryOpOperation::ADD, count, count);
    const int filled = builder.relu(builder.plugin("Own", {doubled, value}));
    OwnOperator own("Own");
    own.contentInputs = 1;
    own.shape = [](mnn_operator_call_t& call) {
        if (!call.inputs[0]->data || call.inputs[1]->data) return MNN_ERROR_INTERNAL;
        call.outputs[0]->rank = 1;
        call.outputs[0]->dims[0] = *static_cast<const int32_t*>(call.inputs[0]->data);
        call.outputs[0]->type = MNN_TYPE_FLOAT32;
        return MNN_OK;
    };
    own.compute = [](mnn_operator_call_t& call) {
        std::fill_n(outputFloats(call), call.outputs[0]->dims[0], inputFloats(call, 1)[0]);
        return MNN_OK;
    };
    OwnNet net(pack(builder.finish({filled})), {&own});
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    int shapes = 0;
    int32_t last = -1;
    for (const int32_t wanted : {3, 3, 1, 0, 5, 5}) {
        session.write(0, Ints{wanted});
        session.write(1, Floats{2.5f});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), Floats(static_cast<size_t>(2 * wanted), 2.5f));
        shapes += wanted != last;
        last = wanted;
        EXPECT_EQ(own.shapes, shapes) << "for " << wanted;
    }
    session.write(0, Ints{-1});
    EXPECT_EQ(session.run(), MNN_ERROR_BAD_RANGE);
    EXPECT_NE(session.error.find("the extent -2"), std::string::npos) << session.error;
    session.write(0, Ints{4});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), Floats(8, 2.5f));
}

TEST(OwnOperator, RunsInBodiesOfControlFlow) {
    // x -> if (c) own(x) else x, and a loop that applies it several times.
    PluginNet yes, no;
    const int yesIn = yes.input({2}), yesOut = yes.plugin("Own", {yesIn});
    const int noIn = no.input({2}), noOut = no.relu(noIn);
    PluginNet builder;
    const int condition = builder.ints({}), x = builder.input({2});
    wire::IfParamT table;
    table.then_graph = "yes";
    table.else_graph = "no";
    table.aliases_inputs.push_back(std::make_unique<wire::StringVecT>());
    table.aliases_inputs.push_back(names({"yes_t0", "no_t0"}));
    table.aliases_outputs.push_back(names({"yes_t1", "no_t1"}));
    const int result = builder.indexed(wire::OpType::If, {condition, x}, std::move(table));
    wire::NetT whole = builder.finish({result});
    whole.subgraphs.push_back(asGraph("yes", yes.finish({}), {yesIn}, {yesOut}));
    whole.subgraphs.push_back(asGraph("no", no.finish({}), {noIn}, {noOut}));
    OwnOperator own("Own");
    own.compute = doubleAll;
    OwnNet net(pack(whole), {&own});
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    for (const int taken : {1, 0, 1}) {
        session.write(0, Ints{taken});
        session.write(1, Floats{3, 4});
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        EXPECT_EQ(session.read(), taken ? (Floats{6, 8}) : (Floats{3, 4}));
    }
    EXPECT_EQ(own.computes, 2);
}

TEST(OwnOperator, RunsInLoops) {
    PluginNet goesOn;
    const int at = goesOn.ints({}), limit = goesOn.ints({});
    const int less = goesOn.binary(wire::BinaryOpOperation::LESS, at, limit);
    PluginNet round;
    const int i = round.ints({}), a = round.input({2});
    const int next = round.binary(wire::BinaryOpOperation::ADD, i, round.constant({}, Ints{1}));
    const int twice = round.plugin("Own", {a});
    PluginNet builder;
    const int begin = builder.constant({}, Ints{0}), steps = builder.ints({}), first = builder.input({2});
    wire::WhileParamT loop;
    loop.cond_graph = "goesOn";
    loop.body_graph = "round";
    loop.aliases_inputs.push_back(names({"goesOn_t0", "round_t0"}));
    loop.aliases_inputs.push_back(names({"goesOn_t1"}));
    loop.aliases_inputs.push_back(names({"round_t1"}));
    loop.aliases_outputs = {"round_t1"};
    const std::string nextName = "round_t" + std::to_string(next), twiceName = "round_t" + std::to_string(twice);
    loop.aliases_updates.push_back(names({nextName, "goesOn_t0"}));
    loop.aliases_updates.push_back(names({nextName, "round_t0"}));
    loop.aliases_updates.push_back(names({twiceName, "round_t1"}));
    const int result = builder.indexed(wire::OpType::While, {begin, steps, first}, std::move(loop));
    wire::NetT whole = builder.finish({result});
    whole.subgraphs.push_back(asGraph("goesOn", goesOn.finish({}), {at, limit}, {less}));
    whole.subgraphs.push_back(asGraph("round", round.finish({}), {i, a}, {next, twice}));
    OwnOperator own("Own");
    own.compute = doubleAll;
    OwnNet net(pack(whole), {&own});
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Ints{5});
    session.write(1, Floats{1, -3});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{32, -96}));
    EXPECT_EQ(own.computes, 5);
}

TEST(OwnOperator, EmptyOutputsAreNotComputed) {
    OwnOperator own("Own");
    own.compute = doubleAll;
    PluginNet builder;
    OwnNet net(pack(builder.finish({builder.plugin("Own", {builder.input({0, 3})})})), {&own});
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(own.computes, 0);
    EXPECT_EQ(session.read(), Floats{});
}

}  // namespace
}  // namespace mnnc::test
