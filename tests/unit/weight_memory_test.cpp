// Memory of prepared weights: buffers that do not overlap, and pages that are released.
#include "backend/weight_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace mnnc::test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

struct Filled {
    std::shared_ptr<void> memory;
    int64_t bytes;
    char value;

    Filled(WeightMemory& from, int64_t size, int64_t more, char with)
        : memory(from.allocate(size, more)), bytes(size), value(with) {
        std::memset(memory.get(), value, static_cast<size_t>(bytes));
    }
    bool intact() const {
        const auto* data = static_cast<const char*>(memory.get());
        return std::all_of(data, data + bytes, [&](char c) { return c == value; });
    }
};

TEST(WeightMemory, BuffersKeepTheirContent) {
    std::mt19937 random(1);
    for (const int64_t inAll : {int64_t{0}, 100 * kMiB}) {
        WeightMemory memory;
        std::vector<Filled> alive;
        int64_t used = 0;
        // Small and large buffers, some larger than a mapping, are allocated while others are released.
        for (int i = 0; i < 300; ++i) {
            int64_t size = 1 + random() % 5000;
            if (i % 7 == 0) size *= 400;
            if (i == 150) size = 40 * kMiB + 13;
            alive.emplace_back(memory, size, inAll - used, static_cast<char>(i));
            used += size;
            ASSERT_EQ(reinterpret_cast<uintptr_t>(alive.back().memory.get()) % 64, 0u);
            if (i % 3 == 0) alive.erase(alive.begin() + static_cast<long>(random() % alive.size()));
        }
        for (const Filled& at : alive) EXPECT_TRUE(at.intact()) << at.bytes << " bytes";
    }
}

TEST(WeightMemory, ABufferOutlivesItsStore) {
    auto memory = std::make_unique<WeightMemory>();
    const Filled kept(*memory, 3 * kMiB, 0, 7);
    memory.reset();
    EXPECT_TRUE(kept.intact());
}

TEST(WeightMemory, SeveralThreadsAllocate) {
    WeightMemory memory;
    std::vector<std::thread> threads;
    std::vector<int> spoilt(4);
    for (size_t t = 0; t < spoilt.size(); ++t)
        threads.emplace_back([&, t] {
            std::vector<Filled> mine;
            for (int i = 0; i < 100; ++i) {
                mine.emplace_back(memory, 1000 * (i % 50 + 1), kMiB, static_cast<char>(t * 50 + 1));
                if (i % 2) mine.erase(mine.begin());
            }
            for (const Filled& at : mine) spoilt[t] += !at.intact();
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(spoilt, std::vector<int>(spoilt.size()));
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
// The pages between two live buffers are released.
TEST(WeightMemory, PagesAreReleased) {
    WeightMemory memory;
    const Filled before(memory, 1000, 20 * kMiB, 1);
    auto freed = std::make_unique<Filled>(memory, 8 * kMiB, 12 * kMiB, 2);
    const Filled after(memory, 1000, 0, 3);
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), edge = uintptr_t{1} << 17;
    const auto begin = reinterpret_cast<uintptr_t>(freed->memory.get());
    void* const inside = reinterpret_cast<void*>((begin + edge) / page * page);
    const size_t length = static_cast<size_t>(8 * kMiB) - 2 * edge;
    std::vector<unsigned char> resident((length + page - 1) / page);
    const auto held = [&] {
        EXPECT_EQ(mincore(inside, length, resident.data()), 0);
        return std::count_if(resident.begin(), resident.end(), [](unsigned char at) { return at & 1; });
    };
    EXPECT_EQ(held(), static_cast<long>(resident.size()));
    freed.reset();
    EXPECT_EQ(held(), 0);
    EXPECT_TRUE(before.intact());
    EXPECT_TRUE(after.intact());
}

// Small buffers are allocated and released beside one that stays: memory is used for the living ones, not for all that
// ever existed.
TEST(WeightMemory, SmallBuffersLeaveNoPagesBehind) {
    constexpr int kRounds = 5000;
    constexpr int64_t kBytes = 3000;
    WeightMemory memory;
    const Filled stays(memory, 100, 0, 1);
    std::vector<Filled> recent;
    for (int i = 0; i < kRounds; ++i) {
        recent.emplace_back(memory, kBytes, 0, static_cast<char>(i));
        if (recent.size() > 4) recent.erase(recent.begin());
    }
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    void* const begin = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(stays.memory.get()) / page * page);
    std::vector<unsigned char> resident(static_cast<size_t>(kRounds * kBytes) / page);
    ASSERT_EQ(mincore(begin, resident.size() * page, resident.data()), 0);
    const auto held = std::count_if(resident.begin(), resident.end(), [](unsigned char at) { return at & 1; });
    EXPECT_GE(held, 1);
    EXPECT_LE(static_cast<int64_t>(held) * static_cast<int64_t>(page), 4 * (64 << 10));
    for (const Filled& at : recent) EXPECT_TRUE(at.intact());
    EXPECT_TRUE(stays.intact());
}
#endif

}  // namespace
}  // namespace mnnc::test
