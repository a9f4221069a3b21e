// NonMaxSuppressionV2: repeats the suppression its shape rule has counted and writes the hits.
#include "ops/non_max_suppression.h"

#include <algorithm>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

class NmsExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void onResize() override { requestScratch(params<NmsParams>().boxes * 8); }
    void onExecute() override {
        const auto& p = params<NmsParams>();
        NmsLimits limits;
        limits.maxOutput = *inData<int32_t>(2);
        if (command().inputs.size() > 3 && !in(3).empty()) limits.iou = *inData<float>(3);
        if (command().inputs.size() > 4 && !in(4).empty()) limits.score = *inData<float>(4);
        auto* work = static_cast<int32_t*>(scratch());
        int32_t* selected = work + p.boxes;
        auto* output = outData<int32_t>();
        auto* const end = output + out().elements();
        const int64_t width = p.batched ? 3 : 1;
        for (int64_t n = 0; n < p.batch; ++n)
            for (int64_t k = 0; k < p.classes; ++k) {
                const int64_t hits = nonMaxSuppression(inData<float>(0) + n * p.boxes * 4,
                                                       inData<float>(1) + (n * p.classes + k) * p.boxes,
                                                       p.boxes, limits, work, selected);
                for (int64_t h = 0; h < hits && end - output >= width; ++h) {
                    if (p.batched) {
                        *output++ = static_cast<int32_t>(n);
                        *output++ = static_cast<int32_t>(k);
                    }
                    *output++ = selected[h];
                }
            }
        std::fill(output, end, -1);
    }
};

constexpr CpuOp kDetectionCpu[] = {{OpType::NonMaxSuppressionV2, nullptr, makeExecution<NmsExecution>}};

}  // namespace

CpuFamily nonMaxSuppressionCpu() {
    return kDetectionCpu;
}

}  // namespace mnnc::cpu
