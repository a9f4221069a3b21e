// Which backend runs each command, and the steps that follow from it.
#include "session/stage_planner.h"

#include <algorithm>
#include <unordered_map>

#include "backend/fusion.h"
#include "base/error.h"
#include "session/storage_location.h"

namespace mnnc {

namespace {

// Small integer tensors only: arithmetic on shapes, not on data.
bool isHostShape(const Command& command) {
    auto small = [](const Tensor* tensor) {
        return tensor->type == DataType::Int32 && tensor->elements() <= 64;
    };
    return std::all_of(command.inputs.begin(), command.inputs.end(), small) &&
           std::all_of(command.outputs.begin(), command.outputs.end(), small);
}

}  // namespace

void StagePlanner::add(const EncodedCommand& encoded) {
    if (shareIdentity(encoded.command) || shareRange(encoded.command)) return;
    std::string deviceReason, reason;
    if (context_.device && !isHostShape(encoded.command) &&
        assignTo(*context_.device, encoded, deviceReason, ""))
        return;
    if (assignTo(*context_.cpu, encoded, reason, deviceReason)) return;
    fail(Status::NoExecution, "operator %s of node '%s' has no execution: %s", typeName(encoded.command),
         encoded.command.name.c_str(),
         (deviceReason.empty() ? reason : deviceReason + "; " + reason).c_str());
}

// Appends the command's step on this backend, or says why not.
bool StagePlanner::assignTo(Backend& backend, const EncodedCommand& encoded, std::string& reason,
                            const std::string& whyNot) {
    const bool device = context_.device == &backend;
    if (!backend.supports(encoded.command, reason)) return false;
    Command command = encoded.command;
    // A backend of the host chooses by what the host has.
    for (Tensor*& input : command.inputs)
        if (!device && input->onDevice) input = convertTo(input, {1, false});
    // A residual may be of another shape: its elements are the output's.
    if (command.epilogue.residual && !(command.inputs.back()->shape == command.outputs[0]->shape)) {
        Tensor*& residual = command.inputs.back();
        residual = shareStorage(convertTo(residual, {1, device}), *command.outputs[0], 1);
    }
    const StorageChoice choice = feasibleStorage(backend, command);
    for (size_t i = 0; i < command.inputs.size(); ++i)
        command.inputs[i] =
            convertTo(command.inputs[i], {choice.wantsRowMajor(i) ? 1 : choice.inputPack, device});
    const Storage wanted{choice.outputPack, device};
    for (Tensor*& output : command.outputs) {
        output->aliasOf = nullptr;
        if (device && onHost_(output)) {
            output->pack = 1;
            output->onDevice = false;
            output = cloneDescriptor(*output, wanted);
        } else {
            output->pack = wanted.pack;
            output->onDevice = device;
        }
    }
    std::unique_ptr<Execution> execution = backend.create(command, reason);
    if (!execution) return false;
    try {
        execution->onResize();
    } catch (const Error& error) {
        // What a driver refuses to build is left to the CPU; no memory or no device is an error.
        if (!device || (error.status() != Status::DriverError && error.status() != Status::NotSupported))
            throw;
        reason = error.message();
        return false;
    }
    OpCall call;
    call.record = {command.name, typeName(command), backend.name(),      execution->algorithm(),
                   whyNot,       encoded.flops,     isHostShape(command)};
    call.inputs = command.inputs;
    call.outputs = command.outputs;
    steps.push_back({std::move(execution), command, device, {std::move(call)}});
    for (size_t i = 0; i < command.outputs.size(); ++i) {
        Tensor* output = encoded.command.outputs[i];
        if (command.outputs[i] == output || output->empty()) continue;
        converted_[{output, wanted}] = command.outputs[i];
        download(command.outputs[i], output);
    }
    return true;
}

void StagePlanner::addControl(const std::vector<Tensor*>& reads) {
    Step step;
    step.command.inputs = reads;
    steps.push_back(std::move(step));
}

}  // namespace mnnc
