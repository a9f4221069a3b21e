// The steps of a stage: executions of backends in the order in which they run, with their operands in the storage that
// the backends chose. The first pass over steps makes them from the commands of a graph; the others change them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/device_backend.h"
#include "base/cancellation.h"
#include "plan/graph.h"
#include "plan/made_executions.h"
#include "plan/op_record.h"
#include "plan/operand_numbers.h"
#include "plan/placements.h"

namespace mnnc {

struct Step {
    CommandGraph::Id id = CommandGraph::kNone;  // of its command in the graph; kNone: a pass inserted the step
    // The host's execution; null: a device runs the step, or it is control flow.
    std::shared_ptr<Execution> execution;
    Command command;  // its operands are those of the execution
    bool onDevice = false;
    std::vector<OpCall> calls = {};              // the work of the step; several calls where a device runs a sequence
    std::unique_ptr<Execution> unrecorded = {};  // a device's execution, until it is part of a sequence
    std::vector<DeviceStep> toRecord = {};       // a device's steps in order
    int scratch = 0;                             // the number of its scratch; 0: it has none

    // Returns the execution on the host or the device. Null: the step is control flow or a device's sequence.
    Execution* runs() const noexcept { return unrecorded ? unrecorded.get() : execution.get(); }
};

// A tensor of the host that a device reads in each run, through memory that both see.
struct StagedTensor {
    Operand *host, *staging;
};

// An operand whose elements are constant.
struct KnownOperand {
    int operand;
    const void* values;
};

struct StepPlan {
    explicit StepPlan(const CommandGraph& commands) : graph(commands) {}
    // Returns a line for each step: number, type, name, backend, algorithm, operands and their storage.
    std::string text() const;

    const CommandGraph& graph;
    std::vector<Step> steps;
    std::vector<Operand*> views;               // tensors with aliasOf
    std::vector<Operand*> uploads, downloads;  // host tensors in memory that the device sees
    std::vector<StagedTensor> staged;          // uploads in runs
    // Inputs with an open extent, which the host copies to memory that the device reads. The plan assigns no memory to
    // them, because only a run knows their size.
    std::vector<StagedTensor> masks;
    std::vector<Operand*> constants;  // on the device, written once
    std::vector<DeviceStep> constantUploads;
    std::vector<Placement> placements;  // for tensors and scratch, once memory is planned
    MemoryNeeds needs;
    std::vector<KnownOperand> known;  // constants that steps of the host read
};

// The context that a session gives to the passes over steps.
struct StepContext {
    // Shared, because executions keep their backends alive.
    const std::shared_ptr<Backend>& cpu;           // computes what the device does not
    const std::shared_ptr<DeviceBackend>& device;  // the wanted backend when it has memory of its own, else null
    const Cancellation& cancel;
    // Whether something after this stage reads a tensor.
    std::function<bool(const Operand*)> isReadLater;
    // Whether something other than this plan produces a tensor: an input, a constant, an earlier stage or control flow.
    std::function<bool(const Operand*)> isFromOutside;
    // A new tensor with the name, shape, type and format of `like`, which lives as long as the plan.
    std::function<Operand*(const Operand& like)> temporary;
    // Computes a command whose inputs are constants while planning.
    std::function<void(const Command&)> fold;
    OperandNumbers& numbers;
    const PlanTensors* tensors;  // the plan's; null where `made` is
    int stage;
    bool recordsCandidates;   // lists algorithms in the records of the steps
    bool measuresCandidates;  // and measures each of them
    // Executions on the host: those of the previous plan, which may be used again, and the list for those of this plan.
    const MadeExecutions* before = nullptr;
    MadeExecutions* made = nullptr;
    // Whether an operand is an input whose last extent may differ from run to run; null: none is.
    std::function<bool(const Operand*)> isOpen = nullptr;
    // Returns whether this plan does not assign the memory of a tensor.
    bool liesOutside(const Operand* tensor) const {
        for (; tensor; tensor = tensor->aliasOf)
            if (isFromOutside(tensor)) return true;
        return false;
    }
    Backend& backendOf(bool onDevice) const { return onDevice ? static_cast<Backend&>(*device) : *cpu; }
    // Returns an execution that may run in other sessions and outlive the one that planned it: it keeps its backend
    // alive.
    std::shared_ptr<Execution> shared(std::unique_ptr<Execution> fresh, bool onDevice) const {
        std::shared_ptr<const void> backend = cpu;
        if (onDevice) backend = device;
        // The deleter also runs where the count of references cannot be allocated.
        return {fresh.release(), [backend = std::move(backend)](Execution* own) { delete own; }};
    }
    // Returns the execution that ran this command over the same operands in the previous plan; adds it to this plan's
    // list. Null: there is none.
    std::shared_ptr<Execution> takeOver(const Command& command, bool onDevice) const {
        const MadeExecutions::Made* found = before && !onDevice ? before->find(command) : nullptr;
        if (!found) return nullptr;
        made->add(*found);
        return found->execution;
    }
    // Adds a new execution of the host to this plan's list.
    std::shared_ptr<Execution> keep(const Command& command, std::unique_ptr<Execution> fresh) const {
        std::shared_ptr<Execution> execution = shared(std::move(fresh), false);
        if (made) made->addNew(command, *tensors, execution);
        return execution;
    }
};

}  // namespace mnnc
