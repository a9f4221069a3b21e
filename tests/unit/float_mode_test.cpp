// Subnormal numbers in runs, and the floating-point mode of the threads that compute and of the caller.
#include "base/float_mode.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <cmath>
#include <thread>
#include <vector>

#include "backend/shared_threads.h"
#include "net_builder.h"
#include "public_session.h"

namespace mnnc::test {
namespace {

// Returns whether a subnormal product gives zero on this thread.
bool flushes() {
    volatile float small = 1e-20f;
    volatile float product = small * small;
    return product == 0;
}

// Returns whether additions round up. std::fegetround() of glibc looks at the x87 unit of x86 processors, which
// computes none of them.
bool roundsUp() {
    const volatile float one = 1, tiny = 1e-10f;
    return one + tiny > one;
}

std::vector<float> squares(float x, bool keepSubnormals) {
    NetBuilder s;
    const int in = s.input({3});
    wire::NetT net = s.finish({s.binary(BinaryCode::MUL, in, in)});
    const auto interpreter = open(net);
    SessionConfig config;
    config.keepSubnormals = keepSubnormals;
    Session session(interpreter, config);
    auto* values = static_cast<float*>(session.inputData(0));
    for (int i = 0; i < 3; ++i) values[i] = x;
    session.run();
    const auto* results = static_cast<const float*>(session.outputData(0));
    return {results, results + 3};
}

TEST(FloatMode, SubnormalsAreZeroInARun) {
    ASSERT_FALSE(flushes());
    EXPECT_EQ(squares(1e-20f, false), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(squares(2.0f, false), (std::vector<float>{4, 4, 4}));
    EXPECT_FALSE(flushes());
}

TEST(FloatMode, SubnormalsAreKeptOnRequest) {
    const float square = 1e-20f * 1e-20f;
    ASSERT_GT(square, 0);
    EXPECT_EQ(squares(1e-20f, true), (std::vector<float>{square, square, square}));
}

TEST(FloatMode, WorkersComputeInTheModeOfTheirCaller) {
    ForkJoinPool pool(3);
    for (const bool keep : {false, true, false}) {
        const ScopedFloatMode mode(FloatMode::computing(keep));
        const RunLease lease(pool);
        std::atomic<int> flushed{0}, workers{0};
        const std::thread::id caller = std::this_thread::get_id();
        // Repeats until a worker has taken tasks.
        while (workers == 0) {
            flushed = 0;
            parallelFor(lease.pool(), 300, [&](int) {
                if (std::this_thread::get_id() != caller) ++workers;
                flushed += flushes();
            });
        }
        EXPECT_EQ(flushed, keep ? 0 : 300);
    }
}

TEST(FloatMode, ThreadsOfTheHostGetTheirModeBack) {
    struct Host {
        bool flushedBefore = true, flushedAfter = true;
    } host;
    const auto threads = makeHostThreads(
        [](void* user, void (*task)(void*, int32_t), void* ctx, int32_t count) {
            std::thread([&] {
                auto& seen = *static_cast<Host*>(user);
                FloatMode::computing(true).apply();
                seen.flushedBefore = flushes();
                for (int i = 0; i < count; ++i) task(ctx, i);
                seen.flushedAfter = flushes();
            }).join();
        },
        &host, nullptr, 2);
    const auto shared = threads->pool(2);
    ThreadPool& pool = *shared;
    const ScopedFloatMode mode(FloatMode::computing(false));
    int flushed = 0;
    parallelFor(pool, 5, [&](int) { flushed += flushes(); });
    EXPECT_EQ(flushed, 5);
    EXPECT_FALSE(host.flushedBefore);
    EXPECT_FALSE(host.flushedAfter);
}

struct Seen {
    int calls = 0, flushed = 0, upward = 0;
};

int32_t look(void* user, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
    auto& seen = *static_cast<Seen*>(user);
    ++seen.calls;
    seen.flushed += flushes();
    seen.upward += roundsUp();
    return MNN_OP_RUN;
}

TEST(FloatMode, CallbacksAndTheCallerHaveTheirOwn) {
    NetBuilder s;
    const int in = s.input({3});
    PublicSession session(pack(s.finish({s.unary(UnaryCode::EXP, s.binary(BinaryCode::MUL, in, in))})), {});
    session.write<float>(0, {0.1f, 0.7f, -1.3f});
    ASSERT_EQ(session.run(), MNN_OK);
    const std::vector<float> nearest = session.read();
    Seen seen;
    mnn_run_options_t options;
    ASSERT_EQ(mnn_run_options_init(&options, sizeof options), MNN_OK);
    options.before = options.after = look;
    options.user_data = &seen;
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    const mnn_status status = mnn_session_run_with_options(session.handle(), &options);
    const bool after = roundsUp();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(status, MNN_OK);
    EXPECT_TRUE(after);
    EXPECT_GE(seen.calls, 2);
    EXPECT_EQ(seen.flushed, 0);
    EXPECT_EQ(seen.upward, seen.calls);
    EXPECT_EQ(session.read(), nearest);
}

TEST(FloatMode, ExpOfWhatIsFarBelowIsZero) {
    NetBuilder s;
    const int in = s.input({4});
    PublicSession session(pack(s.finish({s.unary(UnaryCode::EXP, in)})), {});
    session.write<float>(0, {-87.0f, -88.0f, -1e30f, 100.0f});
    ASSERT_EQ(session.run(), MNN_OK);
    const std::vector<float> y = session.read();
    EXPECT_NEAR(y[0] / 1.6458115e-38f, 1, 1e-6);
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(y[3], INFINITY);
}

}  // namespace
}  // namespace mnnc::test
