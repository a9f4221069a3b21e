// Checks the caller's memory, moves tensors there and copies those that cannot move.
#include "session/bindings.h"

#include <cmath>

#include "base/error.h"
#include "base/half.h"
#include "tensor/host_copy.h"

namespace mnnc {

namespace {

bool alignedFor(const void* data, DataType type) {
    return reinterpret_cast<uintptr_t>(data) % elementBytes(type) == 0;
}

void halvesToFloats(const uint8_t* from, float* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        uint16_t half;
        std::memcpy(&half, from + 2 * i, sizeof half);
        to[i] = halfToFloat(half);
    }
}

// Returns false, and writes nothing, when a finite value would become infinite.
bool floatsToHalves(const float* from, uint8_t* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
        if (std::isfinite(from[i]) && !std::isfinite(halfToFloat(floatToHalf(from[i])))) return false;
    for (int64_t i = 0; i < count; ++i) {
        const uint16_t half = floatToHalf(from[i]);
        std::memcpy(to + 2 * i, &half, sizeof half);
    }
    return true;
}

// Returns whether the tensor can lie in the caller's memory without a conversion.
bool suits(const Binding& binding, const Operand& tensor) {
    return binding.data && !binding.outdated && !binding.half && sameLayout(tensor, binding.format) &&
           alignedFor(binding.data, tensor.type);
}

uintptr_t begin(const Binding& binding) {
    return reinterpret_cast<uintptr_t>(binding.data);
}
uintptr_t end(const Binding& binding) {
    return begin(binding) + static_cast<uintptr_t>(binding.bytes);
}

void requireInAddressSpace(const Binding& binding, const std::string& name) {
    if (begin(binding) > UINTPTR_MAX - static_cast<uintptr_t>(binding.bytes))
        fail(Status::InvalidValue, "tensor '%s': %lld bytes at %p end beyond the address space", name.c_str(),
             asLong(binding.bytes), static_cast<const void*>(binding.data));
}

void requireMemoryApart(const Binding& wanted, const std::string& name, const Binding& other,
                        const std::string& otherName) {
    if (wanted.bytes == 0 || other.bytes == 0 || !other.data || other.outdated || begin(wanted) >= end(other) ||
        begin(other) >= end(wanted))
        return;
    fail(Status::InvalidValue, "tensor '%s': %lld bytes at %p overlap the %lld bytes at %p of tensor '%s'",
         name.c_str(), asLong(wanted.bytes), static_cast<const void*>(wanted.data), asLong(other.bytes),
         static_cast<const void*>(other.data), otherName.c_str());
}

}  // namespace

void Binding::replace(const Binding& wanted) noexcept {
    data = wanted.data;
    bytes = wanted.bytes;
    format = wanted.format;
    needed = wanted.needed;
    direct = wanted.direct;
    outdated = false;
    refused = false;
}

int64_t Binding::bytesOf(const Operand& tensor, Format order) const {
    const int64_t all = hostBytes(tensor, order);
    return half ? all / 2 : all;
}

Bindings::Bindings(const Ports& ports, SessionContext& context, const HalfTensors& half)
    : ports_(ports),
      inputs_(ports.inputs.size()),
      outputs_(ports.outputs.size()),
      inputBuffers_(ports.inputs.size()),
      outputBuffers_(ports.outputs.size()),
      lost_(ports.outputs.size()) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
        inputs_[i].half = half.inputs[i];
        inputFloats_.emplace_back(context);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
        outputs_[i].half = half.outputs[i];
        outputFloats_.emplace_back(context);
    }
}

// Returns memory for the floats of a half tensor in the caller's layout; null where the tensor has that layout itself.
float* Bindings::floatsFor(std::vector<BudgetedBuffer>& buffers, size_t index, const Operand& tensor, Format format) {
    if (sameLayout(tensor, format)) return nullptr;
    return static_cast<float*>(buffers[index].reserve(hostBytes(tensor, format), "the floats of a half tensor"));
}

void Bindings::bindInput(size_t index, const void* data, int64_t bytes, Format format) {
    const Operand& tensor = ports_.input(index);
    Binding wanted;
    // No pass and no execution writes to an input.
    wanted.data = static_cast<uint8_t*>(const_cast<void*>(data));
    wanted.bytes = bytes;
    wanted.format = format;
    if (data) {
        wanted.needed = inputs_[index].bytesOf(tensor, format);
        if (bytes != wanted.needed)
            fail(Status::InputDataError, "input '%s' of shape %s takes %lld bytes, %lld are given", tensor.name.c_str(),
                 tensor.shape.text().c_str(), asLong(wanted.needed), asLong(bytes));
        requireInAddressSpace(wanted, tensor.name);
        for (size_t i = 0; i < outputs_.size(); ++i)
            requireMemoryApart(wanted, tensor.name, outputs_[i], ports_.output(i).name);
        if (inputs_[index].half) floatsFor(inputFloats_, index, tensor, format);
    }
    inputBuffers_[index].reset();
    inputs_[index].replace(wanted);
    placeInput(index);
}

void Bindings::bindOutput(size_t index, void* data, int64_t bytes, Format format) {
    const Operand& tensor = ports_.output(index);
    Binding wanted;
    wanted.data = static_cast<uint8_t*>(data);
    wanted.bytes = bytes;
    wanted.format = format;
    if (data) {
        if (ports_.outputSettled(index)) {
            wanted.needed = outputs_[index].bytesOf(tensor, format);
            if (bytes < wanted.needed)
                fail(Status::BufferTooSmall, "output '%s' of shape %s takes %lld bytes, the buffer has %lld",
                     tensor.name.c_str(), tensor.shape.text().c_str(), asLong(wanted.needed), asLong(bytes));
        }
        requireInAddressSpace(wanted, tensor.name);
        for (size_t i = 0; i < inputs_.size(); ++i)
            requireMemoryApart(wanted, tensor.name, inputs_[i], ports_.input(i).name);
        for (size_t i = 0; i < outputs_.size(); ++i)
            if (i != index) requireMemoryApart(wanted, tensor.name, outputs_[i], ports_.output(i).name);
        if (outputs_[index].half && wanted.needed >= 0) floatsFor(outputFloats_, index, tensor, format);
    }
    outputBuffers_[index].reset();
    outputs_[index].replace(wanted);
    lost_[index] = 1;
    placeOutputs();
}

void Bindings::releaseInput(size_t index) noexcept {
    inputBuffers_[index].reset();
    inputs_[index].replace({});
}

void Bindings::releaseOutput(size_t index) noexcept {
    outputBuffers_[index].reset();
    outputs_[index].replace({});
}

bool Bindings::fits(size_t output) const {
    const Binding& binding = outputs_[output];
    return binding.bytesOf(ports_.output(output), binding.format) <= binding.bytes;
}

// Returns whether an output before this one lies in the caller's memory with the same root.
bool Bindings::takenByOther(const Operand& root, size_t output) const noexcept {
    for (size_t i = 0; i < output; ++i)
        if (outputs_[i].inPlace && ports_.outputStorage(i).root == &root) return true;
    return false;
}

// The values of the last run stay where these outputs were: callers find none at the new place.
void Bindings::loseOutputsOf(const Operand& root) noexcept {
    for (size_t i = 0; i < outputs_.size(); ++i)
        if (ports_.outputStorage(i).root == &root) lost_[i] = 1;
}

void Bindings::placeInput(size_t index) {
    placeInBuffer(index);
    Binding& binding = inputs_[index];
    const Operand& tensor = ports_.input(index);
    binding.inPlace = ports_.inputData(index) && suits(binding, tensor);
    if (ports_.placeInput(index, binding.inPlace ? binding.data : nullptr)) loseOutputsOf(tensor);
}

void Bindings::placeOutputs() {
    for (size_t i = 0; i < outputs_.size(); ++i) placeOutput(i);
}

// Outputs that share their values share one place: the memory of the first output that can lie there.
void Bindings::placeOutput(size_t index) {
    placeOutBuffer(index);
    Binding& binding = outputs_[index];
    const Operand* root = ports_.movableRoot(index);
    binding.inPlace = false;
    if (!root || takenByOther(*root, index)) return;
    binding.inPlace = suits(binding, ports_.output(index)) && fits(index);
    if (ports_.placeOutput(index, *root, binding.inPlace ? binding.data : nullptr)) loseOutputsOf(*root);
}

void Bindings::planned() {
    for (size_t i = 0; i < inputs_.size(); ++i) placeInput(i);
    placeOutputs();
}

void Bindings::memoryMoved() {
    std::vector<char> lost = lost_;
    planned();
    lost_.swap(lost);
}

void Bindings::resized() {
    for (size_t i = 0; i < inputs_.size(); ++i)
        if (inputs_[i].active() && inputs_[i].needed != inputs_[i].bytesOf(ports_.input(i), inputs_[i].format))
            inputs_[i].outdated = true;
    for (size_t i = 0; i < outputs_.size(); ++i)
        if (outputs_[i].active() && outputs_[i].needed >= 0 &&
            outputs_[i].needed != outputs_[i].bytesOf(ports_.output(i), outputs_[i].format))
            outputs_[i].outdated = true;
    planned();
}

void Bindings::requireCurrent() const {
    const auto require = [](const Binding& binding, const Operand& tensor, const char* what) {
        if (binding.outdated)
            fail(Status::BadState,
                 "%s '%s' does not take the %lld bytes that were bound before the resize: bind it anew, or release it "
                 "with NULL",
                 what, tensor.name.c_str(), asLong(binding.bytes));
    };
    for (size_t i = 0; i < inputs_.size(); ++i) require(inputs_[i], ports_.input(i), "input");
    for (size_t i = 0; i < outputs_.size(); ++i) require(outputs_[i], ports_.output(i), "output");
}

void Bindings::beforeRun() {
    for (size_t i = 0; i < inputs_.size(); ++i)
        if (inputs_[i].active() && !inputs_[i].direct) {
            if (inputBuffers_[i]) inputBuffers_[i]->fetch(inputs_[i].bytes);
            if (inputs_[i].copied()) copyIn(i);
        }
}

void Bindings::copyIn(size_t index) {
    const Operand& tensor = ports_.input(index);
    void* data = ports_.inputData(index);
    const Binding& binding = inputs_[index];
    if (!binding.half) return copyFromHost(tensor, data, binding.data, binding.format);
    if (tensor.empty()) return;
    float* floats = floatsFor(inputFloats_, index, tensor, binding.format);
    halvesToFloats(binding.data, floats ? floats : static_cast<float*>(data), binding.bytes / 2);
    if (floats) copyFromHost(tensor, data, floats, binding.format);
}

void Bindings::copyOut(size_t index) {
    const Operand& tensor = ports_.output(index);
    const void* data = ports_.outputData(index);
    Binding& binding = outputs_[index];
    if (!binding.half) return copyToHost(tensor, data, binding.data, binding.format);
    if (tensor.empty()) return;
    float* floats = floatsFor(outputFloats_, index, tensor, binding.format);
    if (floats) copyToHost(tensor, data, floats, binding.format);
    binding.refused = !floatsToHalves(floats ? floats : static_cast<const float*>(data), binding.data,
                                      binding.bytesOf(tensor, binding.format) / 2);
}

void Bindings::refuse(size_t index) const {
    const Operand& tensor = ports_.output(index);
    fail(Status::InputDataError,
         "output '%s' has a value that the halves of its bound memory cannot hold; it can be read as floats",
         tensor.name.c_str());
}

void Bindings::afterRun() {
    size_t tooLarge = outputs_.size(), refused = outputs_.size();
    for (size_t i = 0; i < outputs_.size(); ++i) {
        lost_[i] = 0;
        if (outputs_[i].copied()) {
            outputs_[i].refused = false;
            if (fits(i))
                copyOut(i);
            else if (tooLarge == outputs_.size())
                tooLarge = i;
            if (outputs_[i].refused) refused = i;
        }
        if (outputBuffers_[i] && !outputs_[i].direct && delivered(i))
            outputBuffers_[i]->deliver(outputs_[i].bytesOf(ports_.output(i), outputs_[i].format));
    }
    if (tooLarge == outputs_.size() && refused < outputs_.size()) refuse(refused);
    if (tooLarge == outputs_.size()) return;
    const Operand& tensor = ports_.output(tooLarge);
    fail(Status::BufferTooSmall, "output '%s' has shape %s and takes %lld bytes, %lld are bound", tensor.name.c_str(),
         tensor.shape.text().c_str(), asLong(outputs_[tooLarge].bytesOf(tensor, outputs_[tooLarge].format)),
         asLong(outputs_[tooLarge].bytes));
}

}  // namespace mnnc
