// Pools of sessions over the threads of a runtime: their number, which pool gets the workers, hosts that skip or repeat
// numbers.
#include "backend/shared_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace mnnc::test {
namespace {

void everyIndexOnce(ThreadPool& pool) {
    for (const int n : {0, 1, 2, 3, 17, 1000}) {
        std::vector<std::atomic<int>> hits(n);
        parallelFor(pool, n, [&](int i) { hits[i].fetch_add(1, std::memory_order_relaxed); });
        for (auto& h : hits) ASSERT_EQ(h.load(), 1);
        std::vector<std::atomic<int>> slots(n);
        parallelSlots(pool, n, [&](int slot, int i) {
            EXPECT_LT(slot, pool.threads());
            slots[i].fetch_add(1, std::memory_order_relaxed);
        });
        for (auto& h : slots) ASSERT_EQ(h.load(), 1);
    }
}

// Returns the threads that take part in many jobs.
size_t threadsAtWork(ThreadPool& pool) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    for (int round = 0; round < 200; ++round)
        parallelFor(pool, 64, [&](int) {
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
        });
    return seen.size();
}

TEST(SharedThreads, APoolHasAtMostItsThreads) {
    const SharedThreadsPtr threads = makeWorkers(4, {});
    ASSERT_EQ(threads->threads(), 4);
    for (const int wanted : {-1, 0, 1, 2, 3, 4, 5, 100}) {
        const auto pool = threads->pool(wanted);
        EXPECT_EQ(pool->threads(), std::clamp(wanted, 1, 4));
        everyIndexOnce(*pool);  // without a lease
        const RunLease lease(*pool);
        EXPECT_EQ(lease.pool().threads(), pool->threads());
        everyIndexOnce(lease.pool());
        EXPECT_LE(threadsAtWork(lease.pool()), static_cast<size_t>(pool->threads()));
    }
}

TEST(SharedThreads, LeasesOfSeveralSizesFollowOneAnother) {
    const SharedThreadsPtr threads = makeWorkers(4, {});
    std::vector<std::unique_ptr<ThreadPool>> pools;
    for (int i = 1; i <= 4; ++i) pools.push_back(threads->pool(i));
    for (int round = 0; round < 500; ++round) {
        ThreadPool& pool = *pools[static_cast<size_t>(round * 7 % 4)];
        const RunLease lease(pool);
        std::vector<std::atomic<int>> hits(37);
        parallelFor(lease.pool(), 37, [&](int i) { hits[i].fetch_add(1, std::memory_order_relaxed); });
        for (auto& h : hits) ASSERT_EQ(h.load(), 1);
    }
}

// The second of two runs splits its work in the same way, so that the planned scratch suffices.
TEST(SharedThreads, WhoFindsTheWorkersLeasedRunsAlone) {
    const SharedThreadsPtr threads = makeWorkers(3, {});
    const auto first = threads->pool(3), second = threads->pool(2);
    const RunLease held(*first);
    {
        const RunLease other(*second);
        EXPECT_EQ(other.pool().threads(), 2);
        everyIndexOnce(other.pool());
        EXPECT_EQ(threadsAtWork(other.pool()), 1u);
    }
    everyIndexOnce(held.pool());
    everyIndexOnce(*second);
}

TEST(SharedThreads, PoolsKeepTheThreads) {
    SharedThreadsPtr threads = makeWorkers(3, {});
    const auto pool = threads->pool(3);
    threads.reset();
    everyIndexOnce(*pool);
}

struct Host {
    std::atomic<int> calls{0};
    int maxCount = 0;
};

void honest(void* user, void (*task)(void*, int32_t), void* context, int32_t count) {
    Host& host = *static_cast<Host*>(user);
    ++host.calls;
    host.maxCount = std::max(host.maxCount, count);
    std::thread other([&] {
        for (int32_t i = 1; i < count; i += 2) task(context, i);
    });
    for (int32_t i = 0; i < count; i += 2) task(context, i);
    other.join();
}

TEST(HostThreads, EveryIndexOnce) {
    Host host;
    const SharedThreadsPtr threads = makeHostThreads(honest, &host, nullptr, 3);
    for (const int wanted : {1, 2, 3, 9}) {
        const auto pool = threads->pool(wanted);
        EXPECT_EQ(pool->threads(), std::min(wanted, 3));
        host.maxCount = 0;
        everyIndexOnce(*pool);
        const RunLease lease(*pool);
        everyIndexOnce(lease.pool());
        EXPECT_EQ(host.maxCount, wanted == 1 ? 0 : std::min(wanted, 3));
    }
    EXPECT_GT(host.calls, 0);
}

TEST(HostThreads, AHostThatDoesNothing) {
    const SharedThreadsPtr threads =
        makeHostThreads([](void*, void (*)(void*, int32_t), void*, int32_t) {}, nullptr, nullptr, 2);
    everyIndexOnce(*threads->pool(2));
}

// Calls of earlier jobs may arrive during later ones, because the host has not joined the threads that make them.
TEST(HostThreads, LateCallsDoNoHarm) {
    struct Late {
        std::vector<std::thread> threads;
    } late;
    const SharedThreadsPtr threads = makeHostThreads(
        [](void* user, void (*task)(void*, int32_t), void* context, int32_t count) {
            static_cast<Late*>(user)->threads.emplace_back([=] {
                for (int32_t round = 0; round < 20; ++round) {
                    for (int32_t i = -1; i <= count; ++i) task(context, i);
                    std::this_thread::yield();
                }
            });
        },
        &late, nullptr, 4);
    auto pool = threads->pool(4);
    for (int round = 0; round < 20; ++round) everyIndexOnce(*pool);
    pool = threads->pool(4);  // the same work space again, or another: both are right
    everyIndexOnce(*pool);
    for (std::thread& thread : late.threads) thread.join();
}

TEST(HostThreads, TheOwnerOutlivesThePools) {
    auto owner = std::make_shared<int>(0);
    Host host;
    SharedThreadsPtr threads = makeHostThreads(honest, &host, owner, 2);
    auto pool = threads->pool(2);
    threads.reset();
    EXPECT_EQ(owner.use_count(), 2);
    everyIndexOnce(*pool);
    pool.reset();
    EXPECT_EQ(owner.use_count(), 1);
}

}  // namespace
}  // namespace mnnc::test
