// Dispatches the check of an index tensor and turns its report into an error.
#include "backends/vulkan/ops/index_check.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kIndexChunk = 4096;  // indices of one group

}  // namespace

void IndexCheck::plan(VulkanBackend& backend, const IndexBounds& bounds, int64_t count) {
    bounds_ = bounds;
    groups_ = ceilDiv(count, kIndexChunk);
    pipeline_ = &backend.exactPipeline("index_check_i32", 2, kLocal, {static_cast<uint32_t>(bounds.depth)});
    push_ = Push();
    push_.u(count, kIndexChunk, std::min<int64_t>(bounds.rowsPerBatch, UINT32_MAX), bounds.batchStep);
    for (const int64_t extent : bounds.extent) push_.u(extent);
}

void IndexCheck::encode(Recorder& recorder, const Binding& indices, const Binding& report) const {
    recorder.dispatch(*pipeline_, {{indices, report}}, push_, groups_);
}

void IndexCheck::read(const std::string& op, const uint32_t* report) const {
    for (int64_t group = 0; group < groups_; ++group) {
        const uint32_t at = report[2 * group];
        if (at == UINT32_MAX) continue;
        failIndex(op, static_cast<int32_t>(report[2 * group + 1]), at, bounds_.extent[at % bounds_.depth]);
    }
}

}  // namespace mnnc::vulkan
