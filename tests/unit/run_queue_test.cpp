// The thread of submitted runs: a single one starts when many threads submit first runs, and it keeps their order.
#include "backend/run_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace mnnc::test {
namespace {

struct Counted final : RunQueue::Job {
    explicit Counted(std::atomic<int>& calls) : calls_(calls) {}
    void run() noexcept override {
        order = calls_.fetch_add(1);
        thread = std::this_thread::get_id();
    }
    int order = -1;
    std::thread::id thread;

  private:
    std::atomic<int>& calls_;
};

// The queue ends when no job is waiting or running.
void await(const std::atomic<int>& calls, int wanted) {
    while (calls < wanted) std::this_thread::yield();
}

// A second thread of the queue would end the process, because nothing joins the first one.
TEST(RunQueue, StartedByManyThreadsAtOnce) {
    constexpr int kThreads = 4;
    for (int round = 0; round < 300; ++round) {
        std::atomic<int> ready{0}, calls{0};
        std::vector<Counted> jobs(kThreads, Counted(calls));
        {
            RunQueue queue;
            std::vector<std::thread> threads;
            for (Counted& job : jobs)
                threads.emplace_back([&] {
                    ++ready;
                    while (ready < kThreads) std::this_thread::yield();
                    queue.start();
                    queue.push(job);
                });
            for (std::thread& thread : threads) thread.join();
            await(calls, kThreads);
        }
        for (const Counted& job : jobs) ASSERT_EQ(job.thread, jobs.front().thread);
    }
}

TEST(RunQueue, RunsInOrder) {
    std::atomic<int> calls{0};
    std::vector<Counted> jobs(20, Counted(calls));
    {
        RunQueue queue;
        queue.start();
        for (Counted& job : jobs) queue.push(job);
        await(calls, static_cast<int>(jobs.size()));
    }
    for (size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(jobs[i].order, static_cast<int>(i));
}

}  // namespace
}  // namespace mnnc::test
