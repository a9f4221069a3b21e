// Binds inputs and outputs of a session to buffers of a device.
#include "session/session.h"

namespace mnnc {

namespace {

// Returns the device of the path; throws when it has none.
DeviceBackend& deviceOf(const SessionContext& context, const std::string& name) {
    if (!context.device)
        fail(Status::NotSupported, "tensor '%s' belongs to a session, or a path of one, that runs on the CPU",
             name.c_str());
    return *context.device;
}

}  // namespace

SessionContext& Session::contextOf(const Port& port) {
    for (Path& path : paths_)
        if (&path.pipeline() == port.pipeline) return path.context();
    return paths_[0].context();
}

void Session::bindInput(size_t index, const SharedBuffer& buffer) {
    SessionContext& context = contextOf(ports_.inputs[index]);
    deviceOf(context, input(index).name);
    bindable(&buffer).bindInput(index, context, buffer);
}

void Session::bindOutput(size_t index, const SharedBuffer& buffer) {
    SessionContext& context = contextOf(ports_.outputs[index]);
    deviceOf(context, output(index).name);
    bindable(&buffer).bindOutput(index, context, buffer);
}

SharedBuffer Session::inputBuffer(size_t index, SharedBuffer::Kind kind) {
    const Operand& tensor = input(index);
    deviceOf(contextOf(ports_.inputs[index]), tensor.name);
    const DeviceBinding* bound = bindings_ ? bindings_->inputBuffer(index) : nullptr;
    if (bound && !bindings_->input(index).outdated) return bound->describe(bindings_->input(index).bytes, kind);
    fail(Status::BadState, "input '%s' lies in the memory of the host: it is bound to no buffer of the device",
         tensor.name.c_str());
}

SharedBuffer Session::outputBuffer(size_t index, SharedBuffer::Kind kind) {
    const Operand& tensor = output(index);
    DeviceBackend& device = deviceOf(contextOf(ports_.outputs[index]), tensor.name);
    if (needsResize()) fail(Status::BadState, "the session has to be resized first");
    const DeviceBinding* bound = bindings_ ? bindings_->outputBuffer(index) : nullptr;
    if (bound && !bindings_->output(index).outdated) return bound->describe(bindings_->output(index).bytes, kind);
    const auto [root, offset] = ports_.outputStorage(index);
    const DevicePlace place = root ? ports_.deviceOf(index, *root) : DevicePlace();
    if (!place.block || root->onDevice || half_.outputs[index] || (bindings_ && bindings_->output(index).bound()))
        fail(Status::BadState, "output '%s' lies in the memory of the host", tensor.name.c_str());
    return device.describe(*place.block, place.offset + offset, tensor.storageBytes(), kind);
}

}  // namespace mnnc
