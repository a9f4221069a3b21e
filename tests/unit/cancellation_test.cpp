// A token of cancellation: triggers and resets, seen by calls that began before and after them.
#include "base/cancellation.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"

namespace mnnc::test {
namespace {

TEST(Cancellation, ATriggerAlsoEndsCallsThatBeganBeforeAReset) {
    std::atomic<uint64_t> state{0};
    const Cancellation before(state);
    EXPECT_FALSE(before.requested());
    Cancellation::reset(state);
    EXPECT_FALSE(before.requested()) << "resetting a token that is not triggered changes nothing";
    Cancellation::trigger(state);
    EXPECT_TRUE(before.requested());
    EXPECT_TRUE(Cancellation(state).requested());
    EXPECT_THROW(before.check(), Error);
    Cancellation::reset(state);
    EXPECT_TRUE(before.requested());
    EXPECT_FALSE(Cancellation(state).requested());
    EXPECT_FALSE(Cancellation().requested());
}

}  // namespace
}  // namespace mnnc::test
