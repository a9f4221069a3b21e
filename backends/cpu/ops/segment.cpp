// Segment: means of runs of rows.
#include "ops/segment.h"

#include <algorithm>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

class SegmentExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        const auto& p = params<SegmentParams>();
        const float* x = inData<float>(frame, 0);
        std::fill(outData<float>(frame), outData<float>(frame) + out().elements(), 0.0f);
        for (const SegmentRun& run : p.runs) {
            float* const y = outData<float>(frame) + run.segment * p.inner;
            for (int64_t row = 0; row < run.rows; ++row, x += p.inner)
                for (int64_t i = 0; i < p.inner; ++i) y[i] += x[i];
            for (int64_t i = 0; i < p.inner; ++i) y[i] /= static_cast<float>(run.rows);
        }
    }
};

}  // namespace

constexpr CpuOp kSegmentCpu[] = {
    {OpType::Segment, nullptr, makeExecution<SegmentExecution>},
};
extern constinit const CpuFamily segmentCpu = kSegmentCpu;

}  // namespace mnnc::cpu
