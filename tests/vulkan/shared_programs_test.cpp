// Sessions on one device share their programs, and each records them over memory of its own.
#include <cstring>
#include <thread>

#include "device_nets.h"
#include "session/session.h"
#include "session/value.h"
#include "tensor/host_copy.h"
#include "unit/plans_net.h"

namespace mnnc::vulkan::test {
namespace {

// A convolution, whose weights are on the device, beside a gather by indices of the run, which reports those out of
// range.
class SharedNet : public NetBuilder {
  public:
    wire::NetT make() {
        const int map = conv(input({1, 4, 9, 9}), 4, 8, 3, true);
        const int table = constant({100, 3}), rows = ints({70});
        return finish({map, add(wire::OpType::GatherV2, {table, rows}, wire::GatherT{})});
    }
};

class OpenNet {
  public:
    std::unique_ptr<Session> session() const {
        SessionConfig config;
        config.forwardType = ForwardType::Vulkan;
        return std::make_unique<Session>(interpreter_, config);
    }
    // Returns the results for one of many inputs.
    static std::vector<std::vector<float>> run(Session& session, int seed) {
        std::vector<float> map(4 * 81);
        for (size_t i = 0; i < map.size(); ++i) map[i] = std::sin(static_cast<float>(i * 7) + static_cast<float>(seed));
        std::vector<int32_t> rows(70);
        for (size_t i = 0; i < rows.size(); ++i) rows[i] = (static_cast<int32_t>(i) * 13 + seed) % 100;
        copyFromHost(session.input(0), session.inputData(0), map.data(), Format::NCHW);
        copyFromHost(session.input(1), session.inputData(1), rows.data(), Format::NCHW);
        session.run();
        std::vector<std::vector<float>> results;
        for (size_t i = 0; i < session.outputCount(); ++i) {
            results.emplace_back(static_cast<size_t>(session.output(i).elements()));
            copyToHost(session.output(i), session.outputData(i), results.back().data(), Format::NCHW);
        }
        return results;
    }
    // Returns the results of a session that shares nothing.
    static std::vector<std::vector<float>> alone(int seed) { return run(*OpenNet().session(), seed); }

  private:
    const std::shared_ptr<const Interpreter> interpreter_ = mnnc::test::open(SharedNet().make());
};

TEST(SharedPrograms, AreMadeOnce) {
    const OpenNet net;
    auto first = net.session(), second = net.session();
    EXPECT_EQ(first->planCounts().plans, 1u);
    EXPECT_EQ(second->planCounts().plans, 0u);
    EXPECT_EQ(OpenNet::run(*first, 1), OpenNet::alone(1));
    EXPECT_EQ(OpenNet::run(*second, 2), OpenNet::alone(2));
    EXPECT_EQ(OpenNet::run(*first, 3), OpenNet::alone(3));
    first.reset();  // the program and its executions stay
    EXPECT_EQ(OpenNet::run(*second, 4), OpenNet::alone(4));
    EXPECT_EQ(net.session()->planCounts().plans, 0u);
}

TEST(SharedPrograms, ReportToTheSessionThatRuns) {
    const OpenNet net;
    auto first = net.session(), second = net.session();
    OpenNet::run(*first, 1);
    OpenNet::run(*second, 1);
    static_cast<int32_t*>(first->inputData(1))[5] = 100;
    EXPECT_THROW(first->run(), Error);
    EXPECT_NO_THROW(second->run());
    EXPECT_EQ(OpenNet::run(*first, 6), OpenNet::alone(6));
}

TEST(SharedPrograms, RunAtTheSameTime) {
    const OpenNet net;
    std::vector<std::thread> threads;
    std::vector<std::vector<std::vector<float>>> expected, results(4);
    for (int i = 0; i < 4; ++i) expected.push_back(OpenNet::alone(i));
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            auto own = net.session();
            for (int round = 0; round < 5; ++round) results[static_cast<size_t>(i)] = OpenNet::run(*own, i);
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(results, expected);
}

}  // namespace
}  // namespace mnnc::vulkan::test
