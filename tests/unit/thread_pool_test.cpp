// Thread pools: every index runs once, exceptions reach the caller, and leases exclude one another.
#include "backend/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/os/threads.h"

namespace mnnc::test {
namespace {

void everyIndexOnce(ThreadPool& pool) {
    for (int n : {0, 1, 2, 3, 17, 1000}) {
        std::vector<std::atomic<int>> hits(n);
        parallelFor(pool, n, [&](int i) { hits[i].fetch_add(1, std::memory_order_relaxed); });
        for (auto& h : hits) ASSERT_EQ(h.load(), 1);
    }
}

TEST(ThreadPool, Inline) {
    InlinePool pool;
    EXPECT_EQ(pool.threads(), 1);
    RunLease lease(pool);
    everyIndexOnce(lease.pool());
}

TEST(ThreadPool, ForkJoin) {
    for (int threads : {1, 2, 4}) {
        ForkJoinPool pool(threads);
        EXPECT_LE(pool.threads(), threads);
        everyIndexOnce(pool);  // without a lease
        for (int round = 0; round < 20; ++round) {
            RunLease lease(pool);
            everyIndexOnce(lease.pool());
        }
    }
}

// Threads beyond the cores would only take turns with the others.
TEST(ThreadPool, AsManyThreadsComputeAsThereAreCores) {
    const size_t cores = os::usableCores().size();
    if (cores == 0) GTEST_SKIP() << "the system does not say which cores there are";
    ForkJoinPool pool(static_cast<int>(cores) + 3);
    std::set<std::thread::id> seen;
    std::mutex mutex;
    // A worker may wake late, so rounds are added until a second thread has computed.
    for (int round = 0; round < 20 || seen.size() < std::min<size_t>(cores, 2); ++round) {
        RunLease lease(pool);
        parallelFor(lease.pool(), 200, [&](int) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
        });
    }
    EXPECT_LE(seen.size(), cores);
}

// A task throws on every thread: a worker has no caller that could catch the exception.
TEST(ThreadPool, ATaskMayThrow) {
    ForkJoinPool pool(3);
    RunLease lease(pool);
    for (int bad = 0; bad < 64; ++bad) {
        std::vector<std::atomic<int>> hits(64);
        const auto body = [&](int i) {
            hits[i].fetch_add(1, std::memory_order_relaxed);
            if (i == bad || i == 63 - bad) throw std::bad_alloc();
        };
        EXPECT_THROW(parallelFor(lease.pool(), 64, body), std::bad_alloc);
        for (auto& h : hits) EXPECT_EQ(h.load(), 1) << "all tasks end before the exception is thrown";
        EXPECT_THROW(parallelSlots(lease.pool(), 64, [&](int, int i) { body(i); }), std::bad_alloc);
    }
    everyIndexOnce(lease.pool());
}

TEST(ThreadPool, ManySmallRuns) {
    ForkJoinPool pool(3);
    RunLease lease(pool);
    long total = 0;  // written by tasks of different runs: the runs order them
    for (int i = 0; i < 20000; ++i) {
        long parts[4] = {};
        parallelFor(lease.pool(), 4, [&](int k) { parts[k] = i + k; });
        for (long p : parts) total += p;
    }
    EXPECT_EQ(total, 4L * 20000 * 19999 / 2 + 6L * 20000);
}

// More threads than cores take turns on them: workers come late to jobs, even after a lease of another number of
// threads has begun.
TEST(ThreadPool, LeasesOfAllNumbersOfThreads) {
    const std::vector<os::UsableCore> usable = os::usableCores();
    if (usable.empty()) GTEST_SKIP() << "the system does not say which cores there are";
    ForkJoinPool pool(8);
    std::vector<int> cores;
    for (int i = 1; i < pool.threads(); ++i) cores.push_back(usable[i % usable.size()].number);
    pool.place(cores);
    std::mt19937 random(1);
    std::vector<int> hits(300);
    for (int round = 0; round < 1500; ++round) {
        ThreadPool* const lease = pool.lease(1 + static_cast<int>(random() % 8));
        ASSERT_NE(lease, nullptr);
        for (unsigned job = random() % 20; job > 0; --job) {
            const unsigned tasks = random() % 4 == 0 ? random() % 300 : random() % 12;
            parallelFor(*lease, static_cast<int>(tasks), [&](int i) { ++hits[i]; });
            for (size_t i = 0; i < hits.size(); ++i) ASSERT_EQ(hits[i], i < tasks ? 1 : 0) << i << " of " << tasks;
            std::fill_n(hits.begin(), tasks, 0);
        }
        lease->endRun();
    }
}

TEST(ThreadPool, SecondLeaseRunsInline) {
    ForkJoinPool pool(2);
    if (pool.threads() < 2) GTEST_SKIP();
    RunLease first(pool);
    EXPECT_EQ(first.pool().threads(), 2);
    {
        RunLease second(pool);
        EXPECT_EQ(second.pool().threads(), 1);
        everyIndexOnce(second.pool());
    }
    everyIndexOnce(first.pool());
}

TEST(ThreadPool, CallersNeverWaitForEachOther) {
    ForkJoinPool pool(2);
    std::vector<std::thread> callers;
    std::atomic<int> finished{0};
    for (int c = 0; c < 4; ++c) {
        callers.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                RunLease lease(pool);
                everyIndexOnce(lease.pool());
            }
            ++finished;
        });
    }
    for (auto& t : callers) t.join();
    EXPECT_EQ(finished, 4);
}

}  // namespace
}  // namespace mnnc::test
