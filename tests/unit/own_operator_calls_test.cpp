// The calls of an operator of the host: their order and threads, its states, and the calls that it may make itself.
#include "own_operator.h"

#include <cfenv>
#include <set>
#include <thread>

namespace mnnc::test {
namespace {

TEST(OwnOperator, AStateBelongsToOnePlan) {
    OwnOperator own("Own");
    std::set<void*> states;
    own.prepare = [&](mnn_operator_call_t& call) {
        EXPECT_EQ(call.inputs[0]->data, nullptr);
        EXPECT_EQ(call.outputs[0]->data, nullptr);
        EXPECT_EQ(call.inputs[1]->bytes, 4u);
        if (call.inputs[1]->data) call.state = new float(inputFloats(call, 1)[0]);
        EXPECT_TRUE(states.insert(call.state).second);
        return MNN_OK;
    };
    own.compute = [](mnn_operator_call_t& call) {
        const float factor = *static_cast<float*>(call.state);
        for (size_t i = 0; i < elementsOf(*call.inputs[0]); ++i) outputFloats(call)[i] = factor * inputFloats(call)[i];
        call.state = nullptr;  // it is not kept
        call.outputs[0]->rank = 0;
        return MNN_OK;
    };
    own.release = [&](void* state) {
        EXPECT_EQ(states.erase(state), 1u);
        delete static_cast<float*>(state);
    };
    PluginNet builder;
    const int made = builder.plugin("Own", {builder.input({2, 3}), builder.constant({1}, Floats{3})});
    OwnNet net(pack(builder.finish({made})), {&own});
    {
        PublicSession one(net.interpreter, kCpu), two(net.interpreter, kCpu);
        ASSERT_EQ(one.created, MNN_OK) << one.error;
        ASSERT_EQ(two.created, MNN_OK) << two.error;
        EXPECT_EQ(states.size(), 2u);
        mnn_tensor_t* input = nullptr;
        ASSERT_EQ(mnn_session_input(one.handle(), nullptr, &input), MNN_OK);
        const int32_t dims[] = {1, 4};
        ASSERT_EQ(mnn_session_resize_input(one.handle(), input, dims, 2), MNN_OK);
        ASSERT_EQ(mnn_session_resize(one.handle()), MNN_OK);
        EXPECT_EQ(states.size(), 3u);  // the plan for the first shape is kept
        EXPECT_EQ(own.releases, 0);
        ASSERT_EQ(mnn_session_trim(one.handle()), MNN_OK) << mnn_last_error();
        EXPECT_EQ(own.releases, 1);
        EXPECT_EQ(states.size(), 2u);
        for (int run = 0; run < 2; ++run) {
            one.write(0, Floats{1, 2, 3, 4});
            ASSERT_EQ(one.run(), MNN_OK) << one.error;
            EXPECT_EQ(one.read(), (Floats{3, 6, 9, 12}));
        }
    }
    EXPECT_TRUE(states.empty());
}

TEST(OwnOperator, ComputesWithSubnormalNumbers) {
    OwnOperator own("Own");
    own.shape = [](mnn_operator_call_t& call) {
        volatile float small = 1e-20f;
        volatile float product = small * small;
        return product == 0 ? MNN_ERROR_INTERNAL : shapeLikeInput(call);
    };
    own.compute = [](mnn_operator_call_t& call) {
        for (size_t i = 0; i < 6; ++i) {
            volatile float small = inputFloats(call)[i];
            outputFloats(call)[i] = small * small == 0 ? 0.0f : 1.0f;
        }
        std::fesetround(FE_UPWARD);  // the library restores the mode
        return MNN_OK;
    };
    OwnNet net(ownChain(), {&own});
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats(6, 1e-20f));
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), Floats(6, 1));
    volatile float one = 1, little = 1e-9f;
    EXPECT_EQ(one + little, 1.0f);
    std::fesetround(FE_TONEAREST);
}

// A callback may use other sessions; its own one is busy.
TEST(OwnOperator, CallsBackIntoTheLibrary) {
    OwnOperator own("Own");
    mnn_session_t* running = nullptr;
    OwnNet* self = nullptr;
    std::vector<mnn_status> statuses;
    std::string sentence;
    Floats inner;
    own.compute = [&](mnn_operator_call_t& call) {
        if (!running) return doubleAll(call);
        mnn_session_t* copy = std::exchange(running, nullptr);
        statuses.push_back(mnn_session_run(copy));
        sentence = mnn_last_error();
        size_t count = 0;
        statuses.push_back(mnn_session_op_count(copy, &count));
        statuses.push_back(mnn_session_destroy(&copy));
        OwnOperator late("Late");
        late.compute = doubleAll;
        statuses.push_back(late.add(self->interpreter));
        PublicSession other(self->interpreter, kCpu);
        other.write(0, Floats(6, 4));
        statuses.push_back(other.run());
        inner = other.read();
        return doubleAll(call);
    };
    OwnNet net(ownChain(), {&own});
    self = &net;
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    running = session.handle();
    session.write(0, Floats(6, 1));
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), Floats(6, 2));
    EXPECT_EQ(inner, Floats(6, 8));
    EXPECT_EQ(statuses,
              (std::vector<mnn_status>{MNN_ERROR_BUSY, MNN_ERROR_BUSY, MNN_ERROR_BUSY, MNN_ERROR_BAD_STATE, MNN_OK}));
    EXPECT_NE(sentence.find("running this callback"), std::string::npos) << sentence;
}

// While a session is created, its operators are fixed; after a failed creation more can be added.
TEST(OwnOperator, IsAddedBeforeTheFirstSession) {
    OwnOperator own("Own"), second("Second"), third("Third");
    own.compute = second.compute = third.compute = doubleAll;
    PluginNet builder;
    const int x = builder.plugin("Own", {builder.input({2})});
    OwnNet net(pack(builder.finish({builder.plugin("Second", {x})})), {&own});
    own.shape = nullptr;
    {
        const PublicSession refused(net.interpreter, kCpu);
        EXPECT_EQ(refused.created, MNN_ERROR_NOT_SUPPORTED);
    }
    mnn_status inside = MNN_OK;
    second.shape = [&](mnn_operator_call_t& call) {
        inside = third.add(net.interpreter);
        return shapeLikeInput(call);
    };
    ASSERT_EQ(second.add(net.interpreter), MNN_OK) << mnn_last_error();
    PublicSession session(net.interpreter, kCpu);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    EXPECT_EQ(inside, MNN_ERROR_BAD_STATE);
    EXPECT_EQ(third.add(net.interpreter), MNN_ERROR_BAD_STATE);
    EXPECT_EQ(third.finalized, 0);
    session.write(0, Floats{1, 2});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), (Floats{4, 8}));
}

TEST(OwnOperator, IsKeptByTheLastSession) {
    OwnOperator own("Own");
    own.compute = doubleAll;
    std::unique_ptr<PublicSession> session;
    {
        OwnNet net(ownChain(), {&own});
        session = std::make_unique<PublicSession>(net.interpreter, kCpu);
        ASSERT_EQ(session->created, MNN_OK) << session->error;
    }
    EXPECT_EQ(own.finalized, 0);
    session->write(0, Floats(6, 1));
    EXPECT_EQ(session->run(), MNN_OK) << session->error;
    session.reset();
    EXPECT_EQ(own.finalized, 1);
    OwnOperator unused("Unused");
    unused.compute = doubleAll;
    { const OwnNet net(ownChain(), {&unused}); }
    EXPECT_EQ(unused.finalized, 1);
}

TEST(OwnOperator, IsCalledBySeveralThreads) {
    OwnOperator own("Own");
    own.compute = doubleAll;
    OwnNet net(ownChain(), {&own});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&net, t] {
            PublicSession session(net.interpreter, {"cpu", MNN_FORWARD_CPU, 2});
            for (int run = 0; run < 50; ++run) {
                const auto value = static_cast<float>(t * 100 + run);
                session.write(0, Floats(6, value));
                ASSERT_EQ(session.run(), MNN_OK) << session.error;
                ASSERT_EQ(session.read(), Floats(6, 2 * value));
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(own.computes, 200);
}

}  // namespace
}  // namespace mnnc::test
