// The pass plan-memory: gives tensors memory according to their lifetimes.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "backend/memory_plan.h"
#include "base/checked.h"
#include "base/error.h"
#include "plan/fences.h"
#include "plan/passes.h"
#include "plan/storage_location.h"

namespace mnnc {

namespace {

// One of the two memories that are planned from lifetimes.
struct Arena {
    std::vector<MemoryRequest> requests;
    std::vector<int> operands;            // [request]
    std::vector<const Operand*> tensors;  // [request], null for scratch
    void add(int64_t bytes, int step, int operand, const Operand* tensor) {
        requests.push_back({bytes, step, step, 0});
        operands.push_back(operand);
        tensors.push_back(tensor);
    }
};

// Places tensors that live as long as the plan, one range each.
void placeFixed(StepPlan& plan, const std::vector<Operand*>& tensors, MemoryBlock kind, const StepContext& context) {
    if (tensors.empty()) return;
    const int64_t alignment = std::max<int64_t>(64, context.device->alignment());
    constexpr const char* kWhat = "memory that a device and its host see";
    int64_t bytes = 0;
    for (const Operand* tensor : tensors) {
        const int64_t size = tensor->onDevice ? context.device->storageBytes(*tensor) : tensor->storageBytes();
        plan.placements.push_back({tensor->number, size, false, !tensor->onDevice, kind, bytes});
        bytes = checkedAdd(bytes, roundUp(checkedAdd(size, 64, kWhat), alignment), kWhat);
    }
    plan.needs.of(kind) = bytes;
}

// Assigns memory to tensors and scratch by lifetimes, for the host and for the device.
class Lifetimes {
  public:
    Lifetimes(StepPlan& plan, const StepContext& context) : plan_(plan), context_(context) {
        for (const Placement& placement : plan.placements) placed_.insert(placement.operand);
        for (int i = 0; i < end(); ++i) collect(plan.steps[static_cast<size_t>(i)], i);
        for (int i = 0; i < end(); ++i)
            for (Operand* input : plan.steps[static_cast<size_t>(i)].command.inputs) extend(input, i);
        for (const Arena& arena : arenas_)
            for (const Operand* tensor : arena.tensors)
                if (tensor && context.isReadLater(tensor)) extend(tensor, end());
        for (Operand* view : plan.views)
            if (context.isReadLater(view)) extend(view, end());
    }

    void placeOnHost() {
        plan_.needs.host = assignHostOffsets(arenas_[0].requests);
        placeAll(arenas_[0], true);
    }

    void placeOnDevice() {
        if (arenas_[1].requests.empty()) return;
        plan_.needs.of(MemoryBlock::Arena) =
            assignOffsets(arenas_[1].requests, std::max<int64_t>(64, context_.device->alignment()));
        placeAll(arenas_[1], false);
    }

  private:
    void placeAll(const Arena& arena, bool onHost) {
        for (size_t i = 0; i < arena.requests.size(); ++i)
            plan_.placements.push_back({arena.operands[i], arena.requests[i].bytes, onHost, false, MemoryBlock::Arena,
                                        arena.requests[i].offset});
    }

    int end() const { return static_cast<int>(plan_.steps.size()); }

    void collect(Step& step, int number) {
        const Execution* execution = step.runs();
        if (!execution) return;
        Arena& arena = arenas_[step.onDevice];
        for (Operand* output : step.command.outputs) {
            const Operand* root = rootOf(output);
            if (root->empty() || placed_.count(root->number) > 0 || context_.liesOutside(root)) continue;
            if (!requestOf_.emplace(root, arena.requests.size()).second) continue;
            arena.add(root->onDevice ? context_.device->storageBytes(*root) : root->storageBytes(), number,
                      root->number, root);
        }
        if (const int64_t bytes = execution->scratchBytes()) {
            step.scratch = context_.numbers.of(OperandNumbers::Kind::Scratch, context_.stage, 0, number);
            arena.add(bytes, number, step.scratch, nullptr);
        }
    }

    // Records that the step reads the tensor.
    void extend(const Operand* tensor, int step) {
        const Operand* root = rootOf(tensor);
        const auto found = requestOf_.find(root);
        if (found == requestOf_.end()) return;
        int& last = arenas_[root->onDevice].requests[found->second].lastStep;
        last = std::max(last, step);
    }

    StepPlan& plan_;
    const StepContext& context_;
    Arena arenas_[2];       // host, device
    std::set<int> placed_;  // operands that already have memory
    std::unordered_map<const Operand*, size_t> requestOf_;
};

// Throws BadFormat where a tensor has no memory: in a damaged graph it may be both an input and a result.
void checkOperands(const StepPlan& plan, const StepContext& context) {
    std::set<int> placed;
    for (const Placement& placement : plan.placements) placed.insert(placement.operand);
    for (const StagedTensor& mask : plan.masks) placed.insert(mask.staging->number);
    for (const Step& step : plan.steps) {
        if (!step.runs()) continue;
        for (const std::vector<Operand*>* side : {&step.command.inputs, &step.command.outputs})
            for (const Operand* tensor : *side) {
                const Operand* root = rootOf(tensor);
                if (!tensor->empty() && !tensor->stored && placed.count(root->number) == 0 &&
                    !context.liesOutside(tensor))
                    fail(Status::BadFormat, "op '%s': tensor '%s' has no memory, because the graph makes it twice",
                         step.command.name.c_str(), tensor->name.c_str());
            }
    }
}

// Steps of the host read constants in place.
void collectKnown(StepPlan& plan) {
    for (const Step& step : plan.steps) {
        if (step.onDevice) continue;
        for (const Operand* input : step.command.inputs)
            if (input->values) plan.known.push_back({input->number, input->values});
    }
}

}  // namespace

void planMemory(StepPlan& plan, const StepContext& context) {
    placeFixed(plan, plan.uploads, MemoryBlock::Uploads, context);
    placeFixed(plan, plan.downloads, MemoryBlock::Downloads, context);
    placeFixed(plan, plan.constants, MemoryBlock::Constants, context);
    Lifetimes lifetimes(plan, context);
    lifetimes.placeOnHost();
    lifetimes.placeOnDevice();
    collectKnown(plan);
    checkOperands(plan, context);
}

}  // namespace mnnc
