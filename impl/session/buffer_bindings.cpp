// Binds inputs and outputs to buffers of a device.
#include "base/error.h"
#include "session/bindings.h"
#include "session/value.h"

namespace mnnc {

void Bindings::requireApart(const DeviceBinding& wanted, const std::string& name, const Buffers& others,
                            size_t except) const {
    const bool inputs = &others == &inputBuffers_;
    for (size_t i = 0; i < others.size(); ++i) {
        const Binding& other = inputs ? inputs_[i] : outputs_[i];
        if (i == except || !others[i] || other.outdated || !wanted.overlaps(*others[i])) continue;
        fail(Status::InvalidValue, "tensor '%s': its part of the VkBuffer overlaps that of tensor '%s'", name.c_str(),
             (inputs ? ports_.input(i) : ports_.output(i)).name.c_str());
    }
}

void Bindings::bindInput(size_t index, SessionContext& context, const SharedBuffer& buffer) {
    const Operand& tensor = ports_.input(index);
    Binding wanted;
    wanted.format = rowMajor(tensor);
    wanted.needed = wanted.bytes = inputs_[index].bytesOf(tensor, wanted.format);
    auto device = std::make_unique<DeviceBinding>(context, buffer, wanted.needed);
    requireApart(*device, tensor.name, outputBuffers_, outputs_.size());
    wanted.direct = !inputs_[index].half && ports_.deviceReads(index);
    if (!wanted.direct) wanted.data = static_cast<uint8_t*>(device->staging());
    if (inputs_[index].half) floatsFor(inputFloats_, index, tensor, wanted.format);
    inputBuffers_[index] = std::move(device);
    inputs_[index].replace(wanted);
    placeInput(index);
}

void Bindings::bindOutput(size_t index, SessionContext& context, const SharedBuffer& buffer) {
    const Operand& tensor = ports_.output(index);
    Binding wanted;
    wanted.format = rowMajor(tensor);
    if (ports_.outputSettled(index)) wanted.needed = outputs_[index].bytesOf(tensor, wanted.format);
    auto device = std::make_unique<DeviceBinding>(context, buffer, wanted.needed);
    wanted.bytes = device->bytes();
    requireApart(*device, tensor.name, inputBuffers_, inputs_.size());
    requireApart(*device, tensor.name, outputBuffers_, index);
    wanted.direct = madeByDevice(index);
    if (!wanted.direct) wanted.data = static_cast<uint8_t*>(device->staging());
    if (outputs_[index].half && wanted.needed >= 0) floatsFor(outputFloats_, index, tensor, wanted.format);
    outputBuffers_[index] = std::move(device);
    outputs_[index].replace(wanted);
    lost_[index] = 1;
    placeOutputs();
}

// Returns whether the device writes the output, and no other output shares its values.
bool Bindings::madeByDevice(size_t index) const {
    if (outputs_[index].half || !ports_.deviceMakes(index)) return false;
    const Operand* root = ports_.outputStorage(index).root;
    for (size_t i = 0; i < outputs_.size(); ++i)
        if (i != index && ports_.outputStorage(i).root == root) return false;
    return true;
}

// A new plan may need memory of the host where the one before used the buffer directly.
void Bindings::placeInBuffer(size_t index) {
    Binding& binding = inputs_[index];
    DeviceBinding* device = inputBuffers_[index].get();
    if (device && !binding.outdated) {
        binding.direct = !binding.half && ports_.deviceReads(index);
        binding.data = binding.direct ? nullptr : static_cast<uint8_t*>(device->staging());
    }
    ports_.readFrom(index, device && binding.active() && binding.direct ? &device->block() : nullptr);
}

void Bindings::placeOutBuffer(size_t index) {
    Binding& binding = outputs_[index];
    DeviceBinding* device = outputBuffers_[index].get();
    if (device && !binding.outdated) {
        binding.direct = madeByDevice(index);
        binding.data = binding.direct ? nullptr : static_cast<uint8_t*>(device->staging());
    }
    if (device && binding.active() && binding.direct)
        ports_.makeIn(index, &device->block());
    else
        ports_.makeIn(index, nullptr);
}

}  // namespace mnnc
