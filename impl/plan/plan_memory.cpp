// The pass plan-memory: tensors get memory by their lifetimes.
#include <algorithm>
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
    std::vector<Tensor*> tensors;        // [request], null for scratch
    std::vector<Execution*> executions;  // [request], null for tensors
    void add(int64_t bytes, int step, Tensor* tensor, Execution* execution) {
        requests.push_back({bytes, step, step, 0});
        tensors.push_back(tensor);
        executions.push_back(execution);
    }
};

void place(StepPlan& plan, const Placement& placement, const MemoryBases& bases) {
    placement.bind(bases);
    plan.placements.push_back(placement);
}

// Memory that lives as long as the plan, one range per tensor.
void bindFixed(StepPlan& plan, const std::vector<Tensor*>& tensors, PlanMemory::Block kind,
               const StepContext& context) {
    if (tensors.empty()) return;
    const int64_t alignment = std::max<int64_t>(64, context.device->alignment());
    constexpr const char* kWhat = "memory that a device and its host see";
    int64_t bytes = 0;
    for (Tensor* tensor : tensors) {
        tensor->blockOffset = bytes;
        const int64_t size =
            tensor->onDevice ? context.device->storageBytes(*tensor) : tensor->storageBytes();
        bytes = checkedAdd(bytes, roundUp(checkedAdd(size, 64, kWhat), alignment), kWhat);
    }
    MemoryBases bases;
    bases.blocks[static_cast<size_t>(kind)] = context.memory.device(kind, bytes);
    for (Tensor* tensor : tensors) place(plan, {tensor, nullptr, false, kind, tensor->blockOffset}, bases);
}

// Memory of tensors and scratch of executions by lifetimes, for the host and for the device.
class Lifetimes {
  public:
    Lifetimes(StepPlan& plan, const StepContext& context) : plan_(plan), context_(context) {
        for (int i = 0; i < end(); ++i) collect(plan.steps[static_cast<size_t>(i)], i);
        for (int i = 0; i < end(); ++i)
            for (Tensor* input : plan.steps[static_cast<size_t>(i)].command.inputs) extend(input, i);
        for (const Arena& arena : arenas_)
            for (Tensor* tensor : arena.tensors)
                if (tensor && context.isReadLater(tensor)) extend(tensor, end());
        for (Tensor* view : plan.views)
            if (context.isReadLater(view)) extend(view, end());
    }

    void bindHost() {
        Arena& arena = arenas_[0];
        plan_.arenaBytes = assignHostOffsets(arena.requests);
        MemoryBases bases;
        plan_.arena = bases.host = static_cast<char*>(context_.memory.hostArena(plan_.arenaBytes));
        placeAll(arena, true, bases);
        fenceArena(plan_.placements, bases, plan_.arenaBytes);
    }

    void bindDevice() {
        Arena& arena = arenas_[1];
        if (arena.requests.empty()) return;
        const int64_t bytes =
            assignOffsets(arena.requests, std::max<int64_t>(64, context_.device->alignment()));
        MemoryBases bases;
        bases.blocks[0] = context_.memory.device(PlanMemory::Block::Arena, bytes);
        placeAll(arena, false, bases);
    }

  private:
    void placeAll(const Arena& arena, bool onHost, const MemoryBases& bases) {
        for (size_t i = 0; i < arena.requests.size(); ++i)
            place(plan_,
                  {arena.tensors[i], arena.executions[i], onHost, PlanMemory::Block::Arena,
                   arena.requests[i].offset},
                  bases);
    }

    int end() const { return static_cast<int>(plan_.steps.size()); }

    void collect(const Step& step, int number) {
        const Execution* execution = step.runs();
        if (!execution) return;
        Arena& arena = arenas_[step.onDevice];
        for (Tensor* output : step.command.outputs) {
            Tensor* root = rootOf(output);
            if (root->data || root->block || root->empty()) continue;  // empty or placed elsewhere
            if (!requestOf_.emplace(root, arena.requests.size()).second) continue;
            arena.add(root->onDevice ? context_.device->storageBytes(*root) : root->storageBytes(), number,
                      root, nullptr);
        }
        if (const int64_t bytes = execution->scratchBytes()) arena.add(bytes, number, nullptr, step.runs());
    }

    // The tensor is read in this step.
    void extend(Tensor* tensor, int step) {
        const Tensor* root = rootOf(tensor);
        const auto found = requestOf_.find(root);
        if (found == requestOf_.end()) return;
        int& last = arenas_[root->onDevice].requests[found->second].lastStep;
        last = std::max(last, step);
    }

    StepPlan& plan_;
    const StepContext& context_;
    Arena arenas_[2];  // host, device
    std::unordered_map<const Tensor*, size_t> requestOf_;
};

// In a damaged graph an input may be made by an operator as well.
void checkOperands(const StepPlan& plan) {
    for (const Step& step : plan.steps) {
        if (!step.runs()) continue;
        for (const std::vector<Tensor*>* side : {&step.command.inputs, &step.command.outputs})
            for (const Tensor* tensor : *side)
                if (!(tensor->onDevice ? static_cast<void*>(tensor->block) : tensor->data) &&
                    !tensor->stored && !tensor->empty())
                    fail(Status::BadFormat,
                         "op '%s': tensor '%s' has no value there: the graph makes it twice",
                         step.command.name.c_str(), tensor->name.c_str());
    }
}

}  // namespace

void planMemory(StepPlan& plan, const StepContext& context) {
    bindFixed(plan, plan.uploads, PlanMemory::Block::Uploads, context);
    bindFixed(plan, plan.downloads, PlanMemory::Block::Downloads, context);
    bindFixed(plan, plan.constants, PlanMemory::Block::Constants, context);
    Lifetimes lifetimes(plan, context);
    lifetimes.bindHost();
    lifetimes.bindDevice();
    bindViews(plan.views);
    checkOperands(plan);
}

}  // namespace mnnc
