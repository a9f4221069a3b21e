// NonMaxSuppressionV2: the search, with a work group for each class of each picture, then one list of all results. The
// host reads their number and makes the rows (impl/ops/non_max_suppression.h).
#include "ops/non_max_suppression.h"

#include <bit>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kSearchLocal = 256, kBoxBlock = 128, kList = 1024, kListLocal = 64;
// The shared memory that non_max_suppression_search.comp declares, for the largest block.
constexpr uint32_t kSearchBytes =
    kList * 8 + 256 * 4 + 2 * kBoxBlock * 16 + kBoxBlock * kBoxBlock / 8 + kBoxBlock / 8 + 16;
constexpr int64_t kMaxGroups = 1 << 14, kMaxBoxes = 1 << 17, kMaxComparisons = 1 << 30;

// The partition of a search into dispatches.
struct Cut {
    uint32_t local, block;
    int64_t length = 0;  // of the list that a dispatch takes; 0: no list is short enough

    Cut(const VulkanBackend& backend, const NmsParams& p)
        : local(std::bit_floor(std::min(kSearchLocal, backend.limits().groupInvocations))),
          block(std::min(kBoxBlock, local)) {
        // The rounds for a list: visiting all scores, selecting its end, sorting it. The rounds for a block: comparing
        // its boxes with those that are kept and with one another, and the decision.
        const int64_t ofList = 10 * ceilDiv(p.boxes, int64_t{local}) + 8 * 300 + 55 * (kList / local + 1);
        const int64_t ofBlock = ceilDiv(p.maxKept, int64_t{local / block}) + p.maxKept / block + 8 * int64_t{block};
        const int64_t blocks = std::min<int64_t>((kMaxRounds - ofList) / ofBlock, kList / block);
        length = std::max<int64_t>(blocks, 0) * block;
    }
};

class NmsSearch final : public VulkanExecution {
  public:
    NmsSearch(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          params_(command_.paramsAs<NmsParams>()),
          cut_(backend, params_) {}

    void prepare() override {
        search_ = &backend().exactPipeline("non_max_suppression_search", 7, cut_.local,
                                           {cut_.block, limit(3) != nullptr, limit(4) != nullptr});
        list_ = &backend().exactPipeline("non_max_suppression_list", 3, kListLocal);
        requestScratch(endsOffset() + groups() * 8);
    }

    void encode(FrameRecorder& recorder) const override {
        const Binding boxes = recorder.reads(*command_.inputs[0]);
        const auto limitOr = [&](size_t i) { return limit(i) ? recorder.reads(*limit(i)) : boxes; };
        for (int64_t begin = 0; begin < params_.boxes; begin += cut_.length)
            recorder.dispatch(*search_,
                              {{boxes, recorder.reads(*command_.inputs[1]), limitOr(3), limitOr(4),
                                recorder.scratch(0, keptBytes(), true), recorder.writes(*command_.outputs[1]),
                                recorder.scratch(endsOffset(), groups() * 8, true)}},
                              Push().u(params_.boxes, params_.classes, params_.maxKept, cut_.length, begin == 0),
                              groups());
        recorder.dispatch(*list_,
                          {{recorder.scratch(0, keptBytes(), false), recorder.reads(*command_.outputs[1]),
                            recorder.writes(*command_.outputs[0])}},
                          Push().u(params_.maxKept), groups());
    }

  private:
    int64_t groups() const { return params_.batch * params_.classes; }
    int64_t keptBytes() const { return command_.outputs[0]->elements() * 4; }
    int64_t endsOffset() const { return roundUp(keptBytes(), backend().alignment()); }
    // Returns the input with a limit, or null where there is none.
    const Operand* limit(size_t i) const {
        return command_.inputs.size() > i && !command_.inputs[i]->empty() ? command_.inputs[i] : nullptr;
    }

    const Command command_;
    const NmsParams& params_;
    const Cut cut_;
    const Pipeline *search_ = nullptr, *list_ = nullptr;
};

bool supportsNms(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const auto* p = command.paramsIf<NmsParams>();
    if (!p)
        return refuse(reason,
                      "this part of the operator makes rows of the results that the search found, which the host does");
    if (command.inputs[0]->empty() || command.inputs[1]->empty() || command.outputs[0]->empty())
        return refuse(reason, "the Vulkan kernel takes boxes and scores, and keeps boxes");
    if (p->batch * p->classes > kMaxGroups || p->boxes > kMaxBoxes || p->boxes * p->maxKept > kMaxComparisons)
        return refuse(
            reason,
            format("the Vulkan kernel takes up to %lld pictures and classes, %lld boxes, and %lld comparisons of "
                   "each",
                   asLong(kMaxGroups), asLong(kMaxBoxes), asLong(kMaxComparisons)));
    if (kSearchBytes > backend.limits().sharedMemory || backend.limits().groupInvocations < 32 ||
        backend.limits().storageBuffers < 7 || Cut(backend, *p).length == 0)
        return refuse(reason, "the device's work groups are too small, or bind too few buffers");
    return true;
}

std::unique_ptr<Execution> createNms(VulkanBackend& backend, const Command& command) {
    return std::make_unique<NmsSearch>(backend, command);
}

}  // namespace

constexpr VulkanOp kNms[] = {{OpType::NonMaxSuppressionV2, supportsNms, nullptr, createNms}};
extern constinit const VulkanFamily nonMaxSuppressionVulkan = kNms;

}  // namespace mnnc::vulkan
