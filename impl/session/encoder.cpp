#include "session/encoder.h"

#include <cstring>

#include "base/error.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

bool allEmpty(const std::vector<Tensor*>& tensors) {
    for (const Tensor* tensor : tensors)
        if (!tensor->empty()) return false;
    return true;
}

}  // namespace

void StageEncoder::checkOutputs(const Node& node, const std::vector<Tensor*>& outputs) const {
    for (const Tensor* output : outputs)
        if (output->storageBytes() > context_.maxMemoryBytes)
            fail(Status::LimitExceeded, "op '%s': an output of shape %s exceeds max_memory_bytes (%lld)",
                 node.name.c_str(), output->shape.text().c_str(),
                 static_cast<long long>(context_.maxMemoryBytes));
}

void StageEncoder::encode(const ScheduledOp& op, std::vector<Tensor*> inputs, std::vector<Tensor*> outputs,
                          std::vector<EncodedCommand>& commands) {
    const Node& node = *op.node;
    for (const Tensor* input : inputs)
        for (const int64_t extent : input->shape)
            if (extent < 0)
                fail(Status::ComputeSizeError, "op '%s': input '%s' has the open shape %s", node.name.c_str(),
                     input->name.c_str(), input->shape.text().c_str());
    for (Tensor* output : outputs) {
        output->data = nullptr;
        output->pack = 1;
        output->aliasOf = nullptr;
        output->contentKnown = false;
    }
    const ShapeContext shapes{node, inputs, outputs};
    (node.def->shape ? node.def->shape : copyShapes)(shapes);
    checkOutputs(node, outputs);

    emitted_.clear();
    if (!allEmpty(outputs)) {
        const OpContext full{shapes, *this};
        if (node.def->geometry)
            node.def->geometry(full);
        else
            emit(full.command());
    }
    if (op.folded) {
        const std::vector<Command> now = std::move(emitted_);
        for (const Command& command : now) fold(command);
        for (Tensor* output : outputs) output->contentKnown = true;
        return;
    }
    double flops = -1;
    for (Command& command : emitted_) {
        if (flops < 0) {
            flops = 0;
            if (node.def->flops)
                flops = node.def->flops(shapes);
            else if (node.def->geometry == nullptr)
                for (const Tensor* output : outputs) flops += static_cast<double>(output->elements());
        } else {
            flops = 0;  // the op's cost is told once
        }
        commands.push_back({std::move(command), flops});
    }
}

Tensor* StageEncoder::temporary(const Shape& shape, DataType type, Format format) {
    Tensor& tensor = temporaries_.emplace_back();
    tensor.shape = shape;
    tensor.type = type;
    tensor.format = format;
    return &tensor;
}

void StageEncoder::emit(Command command) {
    emitted_.push_back(std::move(command));
}

void* StageEncoder::allocateFolded(int64_t bytes) {
    return folded_.emplace_back(context_).reserve(bytes, "a constant computed while planning");
}

void StageEncoder::constant(Tensor* output, const void* bytes) {
    const int64_t size = output->storageBytes();
    output->data = allocateFolded(size);
    std::memcpy(output->data, bytes, static_cast<size_t>(size));
    output->contentKnown = true;
}

void StageEncoder::fold(const Command& command) {
    // A change of shape alone shares the bytes.
    if (command.type == OpType::Raster && command.inputs.size() == 1 &&
        command.inputs[0]->pack == command.outputs[0]->pack &&
        elementBytes(command.inputs[0]->type) == elementBytes(command.outputs[0]->type) &&
        isIdentity(command.regions, command.outputs[0]->elements()) &&
        command.inputs[0]->elements() == command.outputs[0]->elements()) {
        command.outputs[0]->data = command.inputs[0]->data;
        command.outputs[0]->contentKnown = true;
        return;
    }
    for (Tensor* output : command.outputs)
        if (!output->data) output->data = allocateFolded(output->storageBytes());
    std::string reason;
    const std::unique_ptr<Execution> execution = context_.cpu->create(command, reason);
    if (!execution)
        fail(Status::NoExecution, "constant '%s' (%s) cannot be computed: %s", command.name.c_str(),
             opTypeName(command.type), reason.c_str());
    execution->onResize();
    const AlignedBuffer scratch(execution->scratchBytes());
    execution->bindScratch(const_cast<void*>(scratch.data()));
    execution->onExecute();
    for (Tensor* output : command.outputs) output->contentKnown = true;
}

}  // namespace mnnc
