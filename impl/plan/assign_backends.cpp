// The pass assign-backends: executions of commands, and the conversions that follow from the planned storage.
#include <algorithm>

#include "backend/algorithm_choice.h"
#include "backend/fusion.h"
#include "base/error.h"
#include "model/released_bytes.h"
#include "net/custom.h"
#include "plan/device_choice.h"
#include "plan/operand_text.h"
#include "plan/passes.h"
#include "plan/storage_conversions.h"
#include "plan/storage_location.h"
#include "plan/wide_operands.h"

namespace mnnc {

namespace {

// Limit on the length of a chain of views of views, because each query about a view goes along its chain.
constexpr int kMaxViewChain = 16;

bool isEndOfLongChain(const Operand* view) {
    int length = 0;
    for (; view->aliasOf && length < kMaxViewChain; view = view->aliasOf) ++length;
    return length == kMaxViewChain;
}

// Returns the name of the host's backend that took the command, and that the CPU calls; null: none took it.
const char* hostBackendOf(const Command& command) {
    const auto* host = command.paramsIf<HostNodeParams>();
    return host ? host->node->backendName() : nullptr;
}

// Returns the name of the backend that computes the command.
const char* nameOf(const Backend& backend, const Command& command) {
    const char* name = hostBackendOf(command);
    return name ? name : backend.name();
}

class Assignment {
  public:
    Assignment(StepPlan& plan, const StepContext& context)
        : plan_(plan), context_(context), conversions_(plan, context) {}

    void add(CommandGraph::Id id) {
        const Command& command = plan_.graph.command(id);
        if (plan_.graph.storage(id).isView) return addView(command, plan_.graph.storage(id));
        std::string deviceReason, reason;
        if (context_.device && !hostBackendOf(command) && deviceTakes(*context_.device, command, deviceReason) &&
            assignTo(*context_.device, id, deviceReason, plan_.graph.refusal(id)))
            return;
        if (context_.cpu->supports(command, reason) &&
            assignTo(*context_.cpu, id, reason,
                     plan_.graph.refusal(id).empty() ? deviceReason : plan_.graph.refusal(id)))
            return;
        fail(Status::NoExecution, "operator %s of node '%s' with inputs (%s) and outputs (%s) has no execution: %s",
             typeName(command), command.name.c_str(), joined(command.inputs, operandText).c_str(),
             joined(command.outputs, operandText).c_str(),
             (deviceReason.empty() ? reason : deviceReason + "; " + reason).c_str());
    }

  private:
    void addView(const Command& command, const PlannedStorage& planned);
    bool assignTo(Backend& backend, CommandGraph::Id id, std::string& reason, const std::string& whyNot);
    Command withStorage(Backend& backend, CommandGraph::Id id);
    std::vector<AlgorithmCandidate> candidatesOf(Backend& backend, const Command& command, const Execution& runs,
                                                 bool isTakenOver) const;
    bool isOpen(const Operand* input) const { return context_.isOpen && context_.isOpen(input); }

    StepPlan& plan_;
    const StepContext& context_;
    StorageConversions conversions_;
};

void Assignment::addView(const Command& command, const PlannedStorage& planned) {
    Operand *input = command.inputs[0], *output = command.outputs[0];
    input = conversions_.convert(input, {planned.viewed.channelBlock, planned.viewed.onDevice, input->wide});
    static_cast<Storage&>(*output) = *input;
    const StorageLocation of = isEndOfLongChain(input) ? storageLocation(input) : StorageLocation{input, 0};
    output->aliasOf = of.root;
    output->aliasOffset = of.offset + planned.viewOffset;
    plan_.views.push_back(output);
}

// Returns the command with its operands in the planned storage; where a device refused it, in the storage that the CPU
// chooses.
Command Assignment::withStorage(Backend& backend, CommandGraph::Id id) {
    const bool device = context_.device.get() == &backend;
    const Command& original = plan_.graph.command(id);
    const PlannedStorage& planned = plan_.graph.storage(id);
    Command command = original;
    // A backend of the host chooses among storages of the host.
    for (Operand*& input : command.inputs)
        if (!device && input->onDevice) input = conversions_.convert(input, {1, false});
    // A residual may have another shape with the same elements as the output.
    if (command.epilogue.residual && !(command.inputs.back()->shape == command.outputs[0]->shape)) {
        Operand*& residual = command.inputs.back();
        residual = conversions_.view(conversions_.convert(residual, {1, device}), *command.outputs[0], 1);
    }
    const StorageChoice choice = planned.onDevice == device ? planned.choice : feasibleStorage(backend, command);
    const WideOperands wide(original);
    for (size_t i = 0; i < command.inputs.size(); ++i) {
        if (device && isOpen(command.inputs[i])) {
            command.inputs[i] = conversions_.stage(command.inputs[i]);
            continue;
        }
        const bool keeps = backend.narrowsFloats() && wide.input(i);
        command.inputs[i] = conversions_.convert(command.inputs[i], {choice.blockOf(i), device, keeps});
    }
    for (Operand*& output : command.outputs) {
        output->aliasOf = nullptr;
        const Storage wanted{choice.outputBlock, device, output->wide};
        if (device && plan_.graph.isLiveOut(output)) {
            output->channelBlock = 1;
            output->onDevice = false;
            output = conversions_.describe(*output, wanted);
        } else {
            output->channelBlock = wanted.channelBlock;
            output->onDevice = device;
        }
    }
    return command;
}

// An execution that was taken over may be one of a session that runs at present, whose threads are not free: another
// one of the same kind measures in its place.
std::vector<AlgorithmCandidate> Assignment::candidatesOf(Backend& backend, const Command& command,
                                                         const Execution& runs, bool isTakenOver) const {
    const auto* choice = dynamic_cast<const AlgorithmChoice*>(&runs);
    if (!choice) return {};
    std::unique_ptr<Execution> own;
    std::string reason;
    if (isTakenOver) {
        own = backend.create(command, reason);
        if (!own) return {};
        own->prepare();
        choice = dynamic_cast<const AlgorithmChoice*>(own.get());
    }
    return choice->candidates(context_.measuresCandidates);
}

// Appends the command's step on this backend, or gives the reason why it cannot.
bool Assignment::assignTo(Backend& backend, CommandGraph::Id id, std::string& reason, const std::string& whyNot) {
    const bool device = context_.device.get() == &backend;
    const Command& original = plan_.graph.command(id);
    Command command = withStorage(backend, id);
    std::shared_ptr<Execution> execution = context_.takeOver(command, device);
    const bool isTakenOver = execution != nullptr;
    std::unique_ptr<Execution> fresh;
    if (!isTakenOver) {
        fresh = backend.create(command, reason);
        if (!fresh) return false;
        try {
            fresh->prepare();
        } catch (const Error& error) {
            // The CPU computes a kernel that a driver refuses to build; lack of memory or of the device is an error.
            if (!device || (error.status() != Status::DriverError && error.status() != Status::NotSupported)) throw;
            reason = error.message();
            return false;
        }
    }
    std::unique_ptr<Execution> onDevice;
    if (device)
        onDevice = std::move(fresh);
    else if (fresh)
        execution = context_.keep(command, std::move(fresh));
    const Execution& runs = device ? *onDevice : *execution;
    OpCall call;
    call.record = {command.name, typeName(command),     nameOf(backend, command), runs.algorithm(),
                   whyNot,       plan_.graph.flops(id), isHostShape(command)};
    call.record.node = command.node;
    if (context_.recordsCandidates) call.record.candidates = candidatesOf(backend, command, runs, isTakenOver);
    call.inputs = command.inputs;
    for (size_t i = 0; i < call.inputs.size(); ++i)
        if (isOpen(original.inputs[i])) call.inputs[i] = original.inputs[i];
    call.outputs = command.outputs;
    const std::vector<Operand*> made = command.outputs;
    plan_.steps.push_back(
        {id, std::move(execution), std::move(command), device, {std::move(call)}, std::move(onDevice)});
    for (size_t i = 0; i < made.size(); ++i) {
        Operand* output = original.outputs[i];
        if (made[i] == output || output->empty()) continue;
        conversions_.remember(output, {made[i]->channelBlock, true, made[i]->wide}, made[i]);
        conversions_.download(made[i], output);
    }
    return true;
}

}  // namespace

void assignBackends(StepPlan& plan, const StepContext& context) {
    Assignment assignment(plan, context);
    for (const CommandGraph::Id id : plan.graph.ids()) {
        context.cancel.check();
        if (!plan.graph.isControl(id)) {
            readingWeightsOf(plan.graph.command(id).name, [&] { assignment.add(id); });
            continue;
        }
        Step step;
        step.id = id;
        step.command = plan.graph.command(id);
        plan.steps.push_back(std::move(step));
    }
}

}  // namespace mnnc
