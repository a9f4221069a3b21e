// NonMaxSuppressionV2: the search for the boxes to keep, and the rows that name them.
#include "ops/non_max_suppression.h"

#include <algorithm>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

class NmsSearch final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void prepare() override { requestScratch(params<NmsParams>().boxes * 4); }
    void run(const Frame& frame) const override {
        const auto& p = params<NmsParams>();
        NmsLimits limits;
        limits.maxKept = p.maxKept;
        if (command().inputs.size() > 3 && !in(3).empty()) limits.iou = *inData<float>(frame, 3);
        if (command().inputs.size() > 4 && !in(4).empty()) limits.score = *inData<float>(frame, 4);
        auto* const work = static_cast<int32_t*>(frame.scratch());
        auto* const kept = outData<int32_t>(frame, 0);
        auto* const counts = outData<int32_t>(frame, 1);
        int64_t total = 0;
        for (int64_t group = 0; group < p.batch * p.classes; ++group) {
            const int64_t hits =
                nonMaxSuppression(inData<float>(frame, 0) + group / p.classes * p.boxes * 4,
                                  inData<float>(frame, 1) + group * p.boxes, p.boxes, limits, work, kept + total);
            counts[group] = static_cast<int32_t>(hits);
            total += hits;
        }
        std::fill(kept + total, kept + out(0).elements(), -1);
    }
};

class NmsRows final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        const auto* kept = inData<int32_t>(frame, 0);
        const auto* const lastKept = kept + in(0).elements();  // a callback may have skipped the search
        const auto* const counts = inData<int32_t>(frame, 1);
        auto* output = outData<int32_t>(frame);
        if (in(1).shape.rank() == 1) {
            std::copy_n(kept, std::min(in(0).elements(), out().elements()), output);
            return;
        }
        const int64_t classes = in(1).shape[1];
        auto* const end = output + out().elements();
        for (int64_t group = 0; group < in(1).elements(); ++group)
            for (int32_t i = 0; i < counts[group] && end - output >= 3 && kept < lastKept; ++i) {
                *output++ = static_cast<int32_t>(group / classes);
                *output++ = static_cast<int32_t>(group % classes);
                *output++ = *kept++;
            }
    }
};

std::unique_ptr<Execution> createNms(CpuBackend&, const Command& command, std::string&) {
    if (command.params) return std::make_unique<NmsSearch>(command);
    return std::make_unique<NmsRows>(command);
}

}  // namespace

constexpr CpuOp kNonMaxSuppressionCpu[] = {{OpType::NonMaxSuppressionV2, nullptr, createNms}};
extern constinit const CpuFamily nonMaxSuppressionCpu = kNonMaxSuppressionCpu;

}  // namespace mnnc::cpu
