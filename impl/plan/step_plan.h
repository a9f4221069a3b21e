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
    // Of the host; null: a device runs the step, or control flow does.
    std::shared_ptr<Execution> execution;
    Command command;  // its operands are those of the execution
    bool onDevice = false;
    std::vector<OpCall> calls = {};              // what the step does; more than one where a device takes a run
    std::unique_ptr<Execution> unrecorded = {};  // of a device, until it is part of such a sequence
    std::vector<DeviceStep> toRecord = {};       // of a device, one after another
    int scratch = 0;                             // the number of its scratch; 0: it has none

    // What a device or the host runs. Null: control flow runs here, or a device runs a sequence.
    Execution* runs() const noexcept { return unrecorded ? unrecorded.get() : execution.get(); }
};

// A tensor of the host that a device reads in each run, by way of memory that both see.
struct StagedTensor {
    Operand *host, *staging;
};

// An operand whose elements are a constant.
struct KnownOperand {
    int operand;
    const void* values;
};

struct StepPlan {
    explicit StepPlan(const CommandGraph& commands) : graph(commands) {}
    // A line for each step: number, type, name, backend, algorithm, operands and how they are stored.
    std::string text() const;

    const CommandGraph& graph;
    std::vector<Step> steps;
    std::vector<Operand*> views;               // tensors with aliasOf
    std::vector<Operand*> uploads, downloads;  // host tensors in memory that the device sees
    std::vector<StagedTensor> staged;          // the uploads of runs
    std::vector<Operand*> constants;           // on the device, written once
    std::vector<DeviceStep> constantUploads;
    std::vector<Placement> placements;  // of tensors and scratch, once memory is planned
    MemoryNeeds needs;
    std::vector<KnownOperand> known;  // constants that steps of the host read
};

// What the passes over steps get from a session.
struct StepContext {
    // Executions keep their backends.
    const std::shared_ptr<Backend>& cpu;           // takes what the device does not
    const std::shared_ptr<DeviceBackend>& device;  // the wanted backend when it has memory of its own, else null
    const Cancellation& cancel;
    // Whether something after this stage reads a tensor.
    std::function<bool(const Operand*)> isReadLater;
    // Whether something else than this plan makes a tensor: it is an input, a constant, of an earlier stage or control
    // flow.
    std::function<bool(const Operand*)> isFromOutside;
    // A new tensor with the name, shape, type and format of `like`, which lives as long as the plan.
    std::function<Operand*(const Operand& like)> temporary;
    // Computes a command now, whose inputs are constants.
    std::function<void(const Command&)> fold;
    OperandNumbers& numbers;
    const PlanTensors* tensors;  // of the plan; null where `made` is
    int stage;
    bool recordsCandidates;   // of algorithms, in the records of the steps
    bool measuresCandidates;  // and what each of them takes
    // Executions on the host: those of the plan before, which may serve again, and where those of this plan are noted.
    const MadeExecutions* before = nullptr;
    MadeExecutions* made = nullptr;
    // Whether the memory of a tensor is not for this plan to give.
    bool liesOutside(const Operand* tensor) const {
        for (; tensor; tensor = tensor->aliasOf)
            if (isFromOutside(tensor)) return true;
        return false;
    }
    Backend& backendOf(bool onDevice) const { return onDevice ? static_cast<Backend&>(*device) : *cpu; }
    // An execution that may run in other sessions, and for longer than the one that planned it: it keeps its backend.
    std::shared_ptr<Execution> shared(std::unique_ptr<Execution> fresh, bool onDevice) const {
        std::shared_ptr<const void> backend = cpu;
        if (onDevice) backend = device;
        // Deletes it where there is no memory for the count of references.
        return {fresh.release(), [backend = std::move(backend)](Execution* own) { delete own; }};
    }
    // The execution that ran this command over the same operands in the plan before, which is noted for this plan; or
    // null.
    std::shared_ptr<Execution> takeOver(const Command& command, bool onDevice) const {
        const MadeExecutions::Made* found = before && !onDevice ? before->find(command) : nullptr;
        if (!found) return nullptr;
        made->add(*found);
        return found->execution;
    }
    // A new execution of the host, which is noted for this plan.
    std::shared_ptr<Execution> keep(const Command& command, std::unique_ptr<Execution> fresh) const {
        std::shared_ptr<Execution> execution = shared(std::move(fresh), false);
        if (made) made->addNew(command, *tensors, execution);
        return execution;
    }
};

}  // namespace mnnc
