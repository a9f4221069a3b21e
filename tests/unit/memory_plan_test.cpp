// Plans of an arena: live blocks do not overlap, and little is wasted.
#include "backend/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"

namespace mnnc::test {
namespace {

std::vector<MemoryRequest> randomRequests(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<MemoryRequest> requests;
    for (size_t i = 0; i < count; ++i) {
        const int first = static_cast<int>(i / 2),
                  length = static_cast<int>(random() % 4 ? random() % 3 : random() % 40);
        requests.push_back({static_cast<int64_t>(random() % 5 ? random() % 10000 : 0), first, first + length, 0});
    }
    return requests;
}

// Returns the maximum of bytes alive at one step.
int64_t maxAlive(const std::vector<MemoryRequest>& requests) {
    int64_t maxBytes = 0;
    for (const MemoryRequest& at : requests) {
        int64_t sum = 0;
        for (const MemoryRequest& r : requests)
            if (r.firstStep <= at.firstStep && at.firstStep <= r.lastStep) sum += r.bytes;
        maxBytes = std::max(maxBytes, sum);
    }
    return maxBytes;
}

TEST(MemoryPlan, LiveBlocksDoNotOverlap) {
    for (const size_t count : {size_t{1}, size_t{7}, size_t{300}, size_t{2500}}) {
        for (const int64_t alignment : {64, 256}) {
            std::vector<MemoryRequest> requests = randomRequests(count, static_cast<unsigned>(count));
            const std::vector<MemoryRequest> asked = requests;
            const int64_t end = assignOffsets(requests, alignment);
            for (size_t i = 0; i < requests.size(); ++i) {
                const MemoryRequest& a = requests[i];
                ASSERT_GE(a.bytes, asked[i].bytes);
                if (a.bytes == 0) continue;
                ASSERT_EQ(a.offset % alignment, 0);
                ASSERT_LE(a.offset + a.bytes, end);
                for (size_t k = 0; k < i; ++k) {
                    const MemoryRequest& b = requests[k];
                    const bool together = a.firstStep <= b.lastStep && b.firstStep <= a.lastStep;
                    ASSERT_TRUE(!together || a.offset >= b.offset + b.bytes || b.offset >= a.offset + a.bytes);
                }
            }
            EXPECT_GE(end, maxAlive(requests));
            EXPECT_LE(static_cast<double>(end), 1.25 * static_cast<double>(maxAlive(requests)));
        }
    }
}

TEST(MemoryPlan, NothingTouchesWhereRequestsLieApart) {
    std::vector<MemoryRequest> requests = randomRequests(300, 5);
    const int64_t bytes = assignOffsetsApart(requests);
    int64_t end = 0;  // of the request before and of the gap behind it
    for (const MemoryRequest& request : requests) {
        if (request.bytes == 0) continue;
        ASSERT_EQ(request.offset % 64, 0);
        ASSERT_GE(request.offset, end);
        end = request.offset + request.bytes + 1024;
    }
    EXPECT_GE(bytes, end);
    EXPECT_LT(bytes, end + 64);
}

TEST(MemoryPlan, LargestFirstWhereTimeOrderWastes) {
    // In the order of time the third request does not fit a hole.
    std::vector<MemoryRequest> requests = {{1000, 0, 1, 0}, {1000, 0, 5, 0}, {3000, 2, 5, 0}};
    EXPECT_EQ(assignOffsets(requests), 1088 + 3072);
}

TEST(MemoryPlan, LongestFirstWhereSizesWaste) {
    // Placed in the order of time the requests take 896 bytes, placed from the largest on 768.
    std::vector<MemoryRequest> requests = {{256, 0, 2, 0}, {256, 2, 5, 0}, {64, 4, 7, 0}, {192, 4, 6, 0}};
    EXPECT_EQ(assignOffsets(requests), 704);
}

TEST(MemoryPlan, SumsThatDoNotFitAreRefused) {
    std::vector<MemoryRequest> requests = {{INT64_MAX / 2, 0, 0, 0}, {INT64_MAX / 2, 1, 1, 0}, {1000, 2, 2, 0}};
    try {
        assignOffsets(requests);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::Overflow);
    }
}

}  // namespace
}  // namespace mnnc::test
