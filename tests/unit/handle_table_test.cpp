// The table of handles, and which users of a session exclude one another.
#include "c_api/handle_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "c_api/handles.h"

namespace mnnc::test {
namespace {

HandleEntry tokenEntry() {
    return {HandleKind::Cancel};
}

TEST(HandleTable, AHandleNamesItsObject) {
    const uint64_t handle = handles::create({HandleKind::Tensor, 4711, 42, 3});
    HandleEntry entry;
    ASSERT_EQ(handles::peek(handle, entry), handles::Found::Yes);
    EXPECT_EQ(entry.kind, HandleKind::Tensor);
    EXPECT_EQ(entry.payload, 4711u);
    EXPECT_EQ(entry.index, 42u);
    EXPECT_EQ(entry.flags, 3u);
    EXPECT_EQ(handles::pin(handle, HandleKind::Session, entry), handles::Found::WrongKind);
    handles::release(handle);
    EXPECT_EQ(handles::peek(handle, entry), handles::Found::Destroyed);
}

TEST(HandleTable, AReusedSlotGivesAnotherHandle) {
    const uint64_t first = handles::create(tokenEntry());
    handles::release(first);
    const uint64_t second = handles::create(tokenEntry());
    EXPECT_NE(first, second);
    EXPECT_EQ(first & 0x7ffff8, second & 0x7ffff8) << "the slot that was free last is taken first";
    HandleEntry entry;
    EXPECT_EQ(handles::pin(first, HandleKind::Cancel, entry), handles::Found::Destroyed);
    EXPECT_FALSE(handles::pinCancel(first));
    handles::release(second);
}

TEST(HandleTable, NoBitOfAHandleIsIgnored) {
    const uint64_t handle = handles::create(tokenEntry());
    for (int bit = 0; bit < 64; ++bit) {
        HandleEntry entry;
        EXPECT_NE(handles::peek(handle ^ (uint64_t{1} << bit), entry), handles::Found::Yes) << "bit " << bit;
    }
    handles::release(handle);
}

TEST(HandleTable, ASlotStaysWithThePinsOfADestroyedHandle) {
    const uint64_t handle = handles::create(tokenEntry());
    HandleEntry entry;
    ASSERT_EQ(handles::pin(handle, HandleKind::Cancel, entry), handles::Found::Yes);
    ASSERT_EQ(handles::pin(handle, HandleKind::Cancel, entry), handles::Found::Yes);
    EXPECT_TRUE(handles::destroy(handle));
    EXPECT_FALSE(handles::destroy(handle));
    EXPECT_EQ(handles::pin(handle, HandleKind::Cancel, entry), handles::Found::Destroyed);
    handles::unpin(handle);
    const uint64_t other = handles::create(tokenEntry());
    EXPECT_NE(handle & 0x7ffff8, other & 0x7ffff8) << "a call still holds the slot";
    handles::unpin(handle);
    const uint64_t next = handles::create(tokenEntry());
    EXPECT_EQ(handle & 0x7ffff8, next & 0x7ffff8);
    handles::release(other);
    handles::release(next);
}

TEST(HandleTable, ManySharedUsersOrOneExclusive) {
    const uint64_t handle = handles::create(tokenEntry());
    ASSERT_TRUE(handles::beginRead(handle));
    ASSERT_TRUE(handles::beginRead(handle));
    EXPECT_FALSE(handles::beginAlone(handle));
    handles::endRead(handle);
    EXPECT_FALSE(handles::beginAlone(handle));
    handles::endRead(handle);
    ASSERT_TRUE(handles::beginAlone(handle));
    EXPECT_FALSE(handles::beginAlone(handle));
    EXPECT_FALSE(handles::beginRead(handle));
    handles::endAlone(handle);
    EXPECT_TRUE(handles::beginRead(handle));
    handles::endRead(handle);
    handles::release(handle);
}

TEST(HandleTable, TooManyUsersAreRefused) {
    const uint64_t handle = handles::create(tokenEntry());
    HandleEntry entry;
    for (int i = 0; i < 0xffff; ++i) ASSERT_EQ(handles::pin(handle, HandleKind::Cancel, entry), handles::Found::Yes);
    EXPECT_THROW(handles::pin(handle, HandleKind::Cancel, entry), Error);
    EXPECT_FALSE(handles::pinCancel(handle));
    for (int i = 0; i < 0x7fff; ++i) ASSERT_TRUE(handles::beginRead(handle));
    EXPECT_FALSE(handles::beginRead(handle));
    for (int i = 0; i < 0x7fff; ++i) handles::endRead(handle);
    for (int i = 0; i < 0xffff; ++i) handles::unpin(handle);
    EXPECT_EQ(handles::peek(handle, entry), handles::Found::Yes);
    handles::release(handle);
}

// Threads create and destroy handles: no two of them hold the same one, and destroyed handles stay invalid.
TEST(HandleTable, ThreadsNeverShareASlot) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t)
        threads.emplace_back([&wrong, t] {
            std::vector<uint64_t> mine;
            HandleEntry entry;
            for (uint32_t i = 0; i < 20000; ++i) {
                mine.push_back(handles::create({HandleKind::Tensor, t, i}));
                if (mine.size() < 8) continue;
                for (const uint64_t handle : mine)
                    wrong += handles::peek(handle, entry) != handles::Found::Yes || entry.payload != t;
                for (const uint64_t handle : mine) handles::release(handle);
                for (const uint64_t handle : mine) wrong += handles::peek(handle, entry) == handles::Found::Yes;
                mine.clear();
            }
            for (const uint64_t handle : mine) handles::release(handle);
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// Several threads destroy one handle: one of them succeeds, the others see it alive or destroyed.
TEST(HandleTable, ConcurrentDestroysSucceedOnce) {
    for (int round = 0; round < 200; ++round) {
        const uint64_t handle = handles::create(tokenEntry());
        std::atomic<int> destroyed{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t)
            threads.emplace_back([&] {
                HandleEntry entry;
                if (handles::pin(handle, HandleKind::Cancel, entry) != handles::Found::Yes) return;
                destroyed += handles::destroy(handle);
                handles::unpin(handle);
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(destroyed, 1);
    }
}

}  // namespace
}  // namespace mnnc::test
