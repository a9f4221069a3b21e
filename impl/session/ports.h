// The inputs and outputs of a session, whichever of its pipelines they belong to.
#pragma once
#include <vector>

#include "session/pipeline.h"

namespace mnnc {

struct Port {
    Pipeline* pipeline = nullptr;
    size_t index = 0;      // index of the pipeline's input or output
    bool settled = false;  // the tensor has its shape before a run
};

class Ports {
  public:
    std::vector<Port> inputs, outputs;
    bool onePath = true;  // the session has a single path

    Operand& input(size_t index) const noexcept { return inputs[index].pipeline->input(inputs[index].index); }
    const Operand& output(size_t index) const noexcept { return outputs[index].pipeline->output(outputs[index].index); }
    // These forward to Pipeline.
    int inputId(size_t index) const noexcept { return inputs[index].pipeline->inputId(inputs[index].index); }
    int outputId(size_t index) const noexcept { return outputs[index].pipeline->outputId(outputs[index].index); }
    void* inputData(size_t index) const noexcept { return inputs[index].pipeline->inputData(inputs[index].index); }
    const void* outputData(size_t index) const noexcept { return outputs[index].pipeline->data(output(index)); }
    bool placeInput(size_t index, void* data) const noexcept {
        return inputs[index].pipeline->placeInput(inputs[index].index, data);
    }
    bool placeOutput(size_t index, const Operand& root, void* data) const noexcept {
        return outputs[index].pipeline->placeOutput(root, data);
    }
    DevicePlace deviceOf(size_t output, const Operand& tensor) const noexcept {
        return outputs[output].pipeline->frame().device(tensor);
    }
    bool outputSettled(size_t index) const noexcept { return outputs[index].settled; }
    ConstStorageLocation outputStorage(size_t index) const noexcept {
        return outputs[index].pipeline->outputStorage(outputs[index].index);
    }
    const Operand* movableRoot(size_t index) const {
        return outputs[index].pipeline->movableRoot(outputs[index].index);
    }
    bool deviceReads(size_t index) const noexcept {
        return onePath && inputs[index].pipeline->deviceReads(inputs[index].index);
    }
    bool deviceMakes(size_t index) const noexcept {
        return onePath && outputs[index].pipeline->deviceMakes(outputs[index].index);
    }
    void readFrom(size_t index, DeviceBlock* block) const noexcept {
        inputs[index].pipeline->readFrom(inputs[index].index, block);
    }
    void makeIn(size_t index, DeviceBlock* block) const noexcept {
        outputs[index].pipeline->makeIn(outputs[index].index, block);
    }
};

}  // namespace mnnc
