// Divides rows among the invocations of a work group.
#include "backends/vulkan/ops/rows.h"

#include <algorithm>
#include <bit>

namespace mnnc::vulkan {

namespace {

constexpr int64_t kSmallGroup = 64, kLargeGroup = 256;
constexpr int64_t kSharedMemory = 16384;  // every device has this much (Vulkan specification, "Required Limits")

}  // namespace

Rows::Rows(const VulkanBackend& backend, int64_t outer, int64_t length, int64_t innerSize, int64_t sharedBytes)
    : rows(outer * innerSize), steps(length), inner(innerSize) {
    if (inner == 1 && length % 4 == 0) {
        kind = Kind::Quads;
        steps /= 4;
    } else if (inner % 4 == 0) {
        kind = Kind::QuadsOfRows;
        rows /= 4;
        inner /= 4;
    }
    share(backend, sharedBytes);
}

Rows::Rows(const VulkanBackend& backend, const Packed& packed, int64_t sharedBytes)
    : kind(Kind::QuadsOfRows), rows(packed.n * packed.blocks), steps(packed.plane) {
    share(backend, sharedBytes);
}

void Rows::share(const VulkanBackend& backend, int64_t sharedBytes) {
    const Limits& limits = backend.limits();
    const int64_t shared = std::min<int64_t>(limits.sharedMemory, kSharedMemory);
    const auto maxSize = std::bit_floor(
        static_cast<uint64_t>(std::max<int64_t>(1, std::min<int64_t>(limits.groupInvocations, shared / sharedBytes))));
    const auto wanted = static_cast<uint64_t>(steps > 4 * kSmallGroup ? kLargeGroup : kSmallGroup);
    localSize = static_cast<uint32_t>(std::min(maxSize, wanted));
    // Steps that are contiguous are best read by neighbouring invocations; neighbouring rows are best read by one
    // invocation each, as long as there are enough of them.
    const int64_t useful = inner == 1 ? steps : std::min(ceilDiv(steps, 4), ceilDiv(kEnoughInvocations, rows));
    lanes = static_cast<uint32_t>(
        std::min<uint64_t>(localSize, std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(useful, 1)))));
}

}  // namespace mnnc::vulkan
