// The part of StagePlanner that plans memory from lifetimes, binds it, and records what runs on a device.
#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "session/stage_planner.h"
#include "session/storage_location.h"

namespace mnnc {

// One of the two memories that are planned from lifetimes.
struct StagePlanner::Arena {
    std::vector<MemoryRequest> requests;
    std::vector<Tensor*> tensors;        // [request], null for scratch
    std::vector<Execution*> executions;  // [request], null for tensors
    void add(int64_t bytes, int step, Tensor* tensor, Execution* execution) {
        requests.push_back({bytes, step, step, 0});
        tensors.push_back(tensor);
        executions.push_back(execution);
    }
};

void StagePlanner::finish() {
    concatInPlace();
    bindFixed(uploads_, memory_.uploads, "memory for copies to the device");
    bindFixed(downloads_, memory_.downloads, "memory for copies from the device");
    bindFixed(constants_, memory_.constants, "constants on the device");
    computeInPlace();

    const int end = static_cast<int>(steps.size());
    Arena arenas[2];  // host, device
    std::unordered_map<const Tensor*, size_t> requestOf;
    for (int i = 0; i < end; ++i) {
        Step& step = steps[static_cast<size_t>(i)];
        if (!step.execution) continue;
        Arena& arena = arenas[step.onDevice];
        for (Tensor* output : step.command.outputs) {
            Tensor* root = rootOf(output);
            if (root->data || root->block || root->empty()) continue;  // empty or placed elsewhere
            if (!requestOf.emplace(root, arena.requests.size()).second) continue;
            arena.add(root->onDevice ? context_.device->storageBytes(*root) : root->storageBytes(), i, root,
                      nullptr);
        }
        if (const int64_t bytes = step.execution->scratchBytes())
            arena.add(bytes, i, nullptr, step.execution.get());
    }
    auto touch = [&](Tensor* tensor, int step) {
        const Tensor* root = rootOf(tensor);
        const auto found = requestOf.find(root);
        if (found == requestOf.end()) return;
        int& last = arenas[root->onDevice].requests[found->second].lastStep;
        last = std::max(last, step);
    };
    for (int i = 0; i < end; ++i)
        for (Tensor* input : steps[static_cast<size_t>(i)].command.inputs) touch(input, i);
    for (const Arena& arena : arenas)
        for (Tensor* tensor : arena.tensors)
            if (tensor && staysAlive_(tensor)) touch(tensor, end);
    for (Tensor* view : shared_)
        if (staysAlive_(view)) touch(view, end);

    if (const int64_t bytes = planMemory(arenas[0].requests))
        memory_.arena.reserve(bytes, "the arena of a session");
    auto* base = static_cast<char*>(memory_.arena.data());
    for (size_t i = 0; i < arenas[0].requests.size(); ++i) {
        void* memory = base + arenas[0].requests[i].offset;
        if (Tensor* tensor = arenas[0].tensors[i])
            tensor->data = memory;
        else
            arenas[0].executions[i]->bindScratch(memory);
    }
    if (!arenas[1].requests.empty()) {
        const int64_t bytes =
            planMemory(arenas[1].requests, std::max<int64_t>(64, context_.device->alignment()));
        DeviceBlock* block = memory_.device.reserve(bytes, "the arena of a session on the device");
        for (size_t i = 0; i < arenas[1].requests.size(); ++i) {
            const int64_t offset = arenas[1].requests[i].offset;
            if (Tensor* tensor = arenas[1].tensors[i]) {
                tensor->block = block;
                tensor->blockOffset = offset;
            } else {
                arenas[1].executions[i]->bindScratch(block, offset);
            }
        }
    }
    for (Tensor* view : shared_) {
        const StorageLocation place = storageLocation(view);
        view->aliasOf = place.root;  // so that a long chain of views is walked once
        view->aliasOffset = place.offset;
        view->data = place.root->data ? static_cast<char*>(place.root->data) + place.offset : nullptr;
        view->block = place.root->block;
        view->blockOffset = place.root->blockOffset + place.offset;
    }
    for (const Step& step : steps) {
        if (!step.execution) continue;
        for (const std::vector<Tensor*>* side : {&step.command.inputs, &step.command.outputs})
            for (const Tensor* tensor : *side)
                if (!(tensor->onDevice ? static_cast<void*>(tensor->block) : tensor->data) &&
                    !tensor->stored && !tensor->empty())
                    // A damaged graph: an input of it that an operator makes as well.
                    fail(Status::BadFormat,
                         "op '%s': tensor '%s' has no value there: the graph makes it twice",
                         step.command.name.c_str(), tensor->name.c_str());
    }
    record();
}

// Memory that lives as long as the plan, one range per tensor.
void StagePlanner::bindFixed(const std::vector<Tensor*>& tensors, BudgetedBlock& memory, const char* what) {
    if (tensors.empty()) return;
    const int64_t alignment = std::max<int64_t>(64, context_.device->alignment());
    int64_t bytes = 0;
    for (Tensor* tensor : tensors) {
        tensor->blockOffset = bytes;
        const int64_t size =
            tensor->onDevice ? context_.device->storageBytes(*tensor) : tensor->storageBytes();
        bytes = checkedAdd(bytes, roundUp(checkedAdd(size, 64, what), alignment), what);
    }
    DeviceBlock* block = memory.reserve(bytes, what);
    for (Tensor* tensor : tensors) {
        tensor->block = block;
        if (!tensor->onDevice) tensor->data = static_cast<char*>(block->host()) + tensor->blockOffset;
    }
}

// Constants go to the device now; each maximal run of device steps becomes one step. The host's part of an
// upload comes before its run: what the run itself downloads can only be uploaded in a later one.
void StagePlanner::record() {
    if (!context_.device) return;
    if (!once_.empty()) context_.device->record(std::move(once_))->onExecute();
    std::vector<Step> grouped;
    for (size_t i = 0; i < steps.size();) {
        if (!steps[i].onDevice) {
            grouped.push_back(std::move(steps[i++]));
            continue;
        }
        std::vector<std::unique_ptr<Execution>> run;
        std::vector<OpCall> calls;
        std::set<const Tensor*> downloaded;
        for (; i < steps.size() && steps[i].onDevice; ++i) {
            const Command& command = steps[i].command;
            if (std::any_of(command.inputs.begin(), command.inputs.end(),
                            [&](Tensor* input) { return downloaded.count(rootOf(input)) > 0; }))
                break;
            for (const Tensor* output : command.outputs)
                if (!output->onDevice) downloaded.insert(output);
            run.push_back(std::move(steps[i].execution));
            std::move(steps[i].calls.begin(), steps[i].calls.end(), std::back_inserter(calls));
        }
        grouped.push_back({context_.device->record(std::move(run)), {}, true, std::move(calls)});
    }
    steps = std::move(grouped);
}

}  // namespace mnnc
