// Reduction on the device: groups of adjacent reduced axes, one after the other, each as [outer][length][inner]. A
// packed tensor is reduced over whole planes.
#include "ops/reduction.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/rows.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kPartialBytes = 16;  // per invocation

// Returns the groups of adjacent reduced axes of a row-major input, innermost first; at least one.
std::vector<Rows> groupsOf(const VulkanBackend& backend, const Command& command) {
    // Collects the axes as alternating runs of kept and reduced ones.
    std::vector<std::pair<int64_t, bool>> runs;
    const std::vector<int>& axes = command.paramsAs<ReductionParams>().axes;
    const Shape& shape = command.inputs[0]->shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] == 1) continue;
        const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
        if (!runs.empty() && runs.back().second == reduced)
            runs.back().first *= shape[axis];
        else
            runs.emplace_back(shape[axis], reduced);
    }
    std::vector<Rows> groups;
    int64_t inner = 1, left = shape.elements();
    for (size_t i = runs.size(); i-- > 0;) {
        const int64_t length = runs[i].first;
        if (!runs[i].second) {
            inner *= length;
            continue;
        }
        groups.emplace_back(backend, left / length / inner, length, inner, kPartialBytes);
        left /= length;
    }
    // Only extents of 1 are reduced.
    if (groups.empty()) groups.emplace_back(backend, left, 1, 1, kPartialBytes);
    return groups;
}

class Reduction final : public VulkanExecution {
  public:
    Reduction(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), params_(command_.paramsAs<ReductionParams>()) {}

    void prepare() override {
        steps_.clear();
        scratchBytes_ = 0;
        if (input().channelBlock > 1)
            steps_.push_back({Rows(backend(), Packed(input()), kPartialBytes)});
        else
            planPlain();
        for (size_t i = 0; i < steps_.size(); ++i) {
            std::vector<uint32_t> constants = steps_[i].rows.constants();
            constants.push_back(static_cast<uint32_t>(params_.operation));
            steps_[i].pipeline = &backend().exactPipeline(shader(i), 2, steps_[i].rows.localSize, constants);
        }
        requestScratch(scratchBytes_);
    }

    void encode(FrameRecorder& recorder) const override {
        for (size_t i = 0; i < steps_.size(); ++i) {
            const Step& step = steps_[i];
            const Binding source =
                i == 0 ? recorder.reads(input()) : recorder.scratch(steps_[i - 1].offset, steps_[i - 1].bytes, false);
            const Binding target = i + 1 == steps_.size() ? recorder.writes(*command_.outputs[0])
                                                          : recorder.scratch(step.offset, step.bytes, true);
            recorder.dispatch(*step.pipeline, {{source, target}}, step.rows.push(), step.rows.groups(*step.pipeline));
        }
    }

  private:
    struct Step {
        Rows rows;
        const Pipeline* pipeline = nullptr;
        int64_t offset = 0, bytes = 0;  // of its result in the scratch, with four bytes per element
    };
    const Operand& input() const { return *command_.inputs[0]; }

    void planPlain() {
        const std::vector<Rows> groups = groupsOf(backend(), command_);
        int64_t left = input().elements();
        for (const Rows& rows : groups) {
            left /= rows.length();
            Step step{rows};
            step.offset = scratchBytes_;
            step.bytes = roundUp(left * 4, 16);
            scratchBytes_ += roundUp(step.bytes, backend().alignment());
            steps_.push_back(step);
        }
        if (steps_.size() == 1) scratchBytes_ = 0;
    }

    // Floats have 32 bits between several steps.
    std::string shader(size_t step) const {
        if (input().type == DataType::Int32) return "reduction_i32";
        const bool first = step == 0, last = step + 1 == steps_.size();
        if (!backend().half(input()) || (!first && !last)) return "reduction";
        return first && last ? "reduction_f16" : first ? "reduction_up" : "reduction_down";
    }

    const Command command_;
    const ReductionParams& params_;
    std::vector<Step> steps_;
    int64_t scratchBytes_ = 0;
};

bool supportsReduction(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const Reduce operation = command.paramsAs<ReductionParams>().operation;
    const DataType type = command.inputs[0]->type;
    const bool logical = operation == Reduce::Any || operation == Reduce::All;
    if (operation == Reduce::AbsSum || operation == Reduce::SquareSum || (type == DataType::Float32 && logical) ||
        (type == DataType::Int32 && operation == Reduce::Mean))
        return refuse(reason, format("the Vulkan kernel has no reduction code %d for %s", static_cast<int>(operation),
                                     dataTypeName(type)));
    if (!noEmptyInput(command, reason)) return false;
    // Two loops, one in the other, take a round for each step, and one for each run of steps.
    const std::vector<Rows> groups = groupsOf(backend, command);
    return std::all_of(groups.begin(), groups.end(),
                       [&](const Rows& rows) { return fewRounds(backend, rows.packedRounds(2), reason); });
}

// The input is packed when exactly the plane is reduced.
StorageChoice storageReduction(const VulkanBackend&, const Command& command) {
    const Operand& input = *command.inputs[0];
    const auto& axes = command.paramsAs<ReductionParams>().axes;
    const int rank = input.shape.rank();
    if (input.channelBlock == 1 || rank < 3 || static_cast<int>(axes.size()) != rank - 2 || axes[0] != 2) return {};
    return {.inputBlock = kChannelBlock, .outputBlock = kChannelBlock};
}

std::unique_ptr<Execution> createReduction(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Reduction>(backend, command);
}

}  // namespace

constexpr VulkanOp kReduction[] = {{OpType::Reduction, supportsReduction, storageReduction, createReduction}};
extern constinit const VulkanFamily reductionVulkan = kReduction;

}  // namespace mnnc::vulkan
