// Applies shape rules and geometry, and computes constant commands while planning.
#include "session/encoder.h"

#include <algorithm>
#include <cstring>

#include "backend/fusion.h"
#include "base/error.h"
#include "ops/search_parts.h"
#include "plan/device_choice.h"
#include "session/budgeted_buffer.h"
#include "tensor/region_check.h"
#include "tensor/stored_content.h"

namespace mnnc {

namespace {

bool allEmpty(const std::vector<Tensor*>& tensors) {
    for (const Tensor* tensor : tensors)
        if (!tensor->empty()) return false;
    return true;
}

void appendReason(std::string& reasons, const std::string& reason) {
    reasons += (reasons.empty() || reason.empty() ? "" : "; ") + reason;
}

// Returns whether a tensor of extents `room` can hold the rows of one of extents `rows`: as many or more, as long ones.
bool hasRoom(const Shape& room, const Shape& rows) {
    if (room.rank() != rows.rank() || rows.rank() == 0 || room[0] < rows[0]) return false;
    return room.elements(1, room.rank()) == rows.elements(1, rows.rank());
}

}  // namespace

void StageEncoder::checkOutputs(const Node& node, const std::vector<Tensor*>& outputs) const {
    for (const Tensor* output : outputs) {
        const std::string shape = output->shape.text();
        for (const int64_t extent : output->shape)
            if (extent > INT32_MAX)
                fail(Status::Overflow, "op '%s': an output of shape %s has an extent above 2^31 - 1", node.name.c_str(),
                     shape.c_str());
        if (output->elements() > INT32_MAX)
            fail(Status::LimitExceeded, "op '%s': an output of shape %s has more than 2^31 - 1 elements",
                 node.name.c_str(), shape.c_str());
        if (output->bytes() > context_.maxMemoryBytes)
            fail(Status::LimitExceeded,
                 "op '%s': an output of shape %s takes %lld bytes, more than max_memory_bytes (%lld)",
                 node.name.c_str(), shape.c_str(), asLong(output->bytes()), asLong(context_.maxMemoryBytes));
    }
}

// Returns the outputs with the shapes that the operator gives them. A static model may describe an output by other
// extents with as many elements, or with room for all results that a search may find: a temporary tensor takes its
// place then.
std::vector<Tensor*> StageEncoder::computedOutputs(const Node& node, const std::vector<Tensor*>& outputs) {
    std::vector<Tensor*> made = outputs;
    for (size_t i = 0; i < node.fixed.size(); ++i) {
        const FixedOutput& fixed = node.fixed[i];
        Tensor& output = *outputs[i];
        if (fixed.shape.elements() != output.elements() &&
            !(findSearchParts(node.type) && hasRoom(fixed.shape, output.shape)))
            fail(Status::ComputeSizeError, "op '%s': output %zu is %s, the static model describes it as %s",
                 node.name.c_str(), i, output.shape.text().c_str(), fixed.shape.text().c_str());
        if (!(fixed.shape == output.shape)) {
            made[i] = temporary(output.shape, output.type, output.format);
            made[i]->quant = output.quant;
        }
        output.shape = fixed.shape;
        output.format = fixed.format;
    }
    return made;
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
        output->shape = Shape{-1};  // until the rule describes it
        output->values = nullptr;
        output->list = nullptr;
        output->hasConstantValue = false;
    }
    const ShapeContext shapes{node, inputs, outputs};
    (node.def->shape ? node.def->shape : copyShapes)(shapes);
    for (size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i]->shape == Shape{-1})
            fail(Status::BadParameter, "op '%s' (%s): the operator has no output %zu", node.name.c_str(),
                 opTypeName(node.type), i);
    checkOutputs(node, outputs);

    const std::vector<Tensor*> made = computedOutputs(node, outputs);
    if (made != outputs) checkOutputs(node, outputs);
    emitted_.clear();
    std::string refusal;
    if (!allEmpty(made)) {
        const OpContext full{ShapeContext{node, inputs, made}, *this};
        if (!emitForHost(context_.settings.hostBackends, op, full, refusal)) {
            if (node.def->geometry && op.moving == 0)
                node.def->geometry(full);
            else
                emit(full.command());
            std::string ofDevice;
            if (!context_.settings.hostBackups.empty() && deviceRefuses(emitted_, ofDevice)) {
                appendReason(refusal, ofDevice);
                std::vector<ValueCommand> own = std::move(emitted_);
                emitted_.clear();
                std::string reason;
                if (!emitForHost(context_.settings.hostBackups, op, full, reason)) {
                    emitted_ = std::move(own);
                    appendReason(refusal, reason);
                }
            }
        }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (made[i] == outputs[i] || outputs[i]->empty()) continue;
        if (made[i]->elements() == outputs[i]->elements())
            copyLinear(outputs[i], made[i], node.name);
        else
            fillRoom(*this, outputs[i], made[i], node.name);
    }
    if (op.folded) {
        const std::vector<ValueCommand> now = std::move(emitted_);
        for (const ValueCommand& command : now) fold(command);
        for (Tensor* output : outputs) output->hasConstantValue = true;
        return;
    }
    double flops = -1;
    for (ValueCommand& command : emitted_) {
        if (flops < 0) {
            flops = 0;
            if (node.def->flops)
                flops = node.def->flops(shapes);
            else if (node.def->geometry == nullptr)
                for (const Tensor* output : outputs) flops += static_cast<double>(output->elements());
        } else {
            flops = 0;  // the operator's cost is counted once
        }
        command.node = node.number;
        command.fp32 = context_.keepsFp32(node.number);
        commands.push_back({std::move(command), flops, refusal});
    }
}

// Returns whether the device refuses a command that an operator became. Arithmetic on shapes does not count, because
// the host does it.
bool StageEncoder::deviceRefuses(const std::vector<ValueCommand>& commands, std::string& reason) const {
    return std::any_of(commands.begin(), commands.end(), [&](const ValueCommand& command) {
        std::deque<Operand> operands;
        const Command stored =
            mapOperands<Operand>(command, [&](const Tensor* tensor) { return &operands.emplace_back(*tensor); });
        return !isHostShape(stored) && !(context_.device && context_.device->supports(stored, reason));
    });
}

// Gives the operator to the first backend of the host that takes it. The library keeps operators that are computed
// while planning, those with a state, those with sequences, whose elements have shapes of their own, and operators that
// the host brought.
bool StageEncoder::emitForHost(const std::vector<HostBackendPtr>& backends, const ScheduledOp& op,
                               const OpContext& context, std::string& refusal) {
    const auto isSequence = [](const Tensor* tensor) { return tensor->list != nullptr; };
    if (backends.empty() || op.folded || !op.source || op.ownParams || isHostNode(*op.node) || keepsState(*op.node) ||
        std::any_of(context.inputs.begin(), context.inputs.end(), isSequence) ||
        std::any_of(context.outputs.begin(), context.outputs.end(), isSequence))
        return false;
    const auto params = std::make_shared<HostNodeParams>();
    for (const HostBackendPtr& backend : backends) {
        std::string reason;
        params->node = backend->take(*op.node, describeNode(*context_.net->model, *op.node, *op.source), context.inputs,
                                     context.outputs, reason);
        if (params->node) break;
        appendReason(refusal, reason);
    }
    if (!params->node) return false;
    ValueCommand command = context.command();
    command.type = OpType::Plugin;
    command.params = params;
    emit(std::move(command));
    return true;
}

Tensor* StageEncoder::temporary(const Shape& shape, DataType type, Format format) {
    Tensor& tensor = temporaries_.emplace_back();
    tensor.shape = shape;
    tensor.type = type;
    tensor.format = format;
    tensor.number = planning_.numbers.of(kind_, stage_, owner_, static_cast<int>(temporaries_.size()));
    return &tensor;
}

void StageEncoder::emit(ValueCommand command) {
    // A constant that geometry left in the file (ops/looped_layer.h) is loaded unless the execution loads it itself.
    const uint32_t own = context_.wanted().loadsInputs(command.type);
    for (size_t k = 0; k < command.inputs.size(); ++k) {
        Tensor* input = command.inputs[k];
        if (input->stored && !input->values && !(k < 32 && ((own >> k) & 1u)))
            constant(input, input->stored->load().get());
    }
    emitted_.push_back(std::move(command));
}

void* StageEncoder::allocateFolded(int64_t bytes) {
    return folded_.emplace_back(context_, bytes, "a constant computed while planning").data();
}

void StageEncoder::constant(Tensor* output, const void* bytes) {
    const int64_t size = output->bytes();
    void* values = allocateFolded(size);
    if (size > 0) std::memcpy(values, bytes, static_cast<size_t>(size));
    output->values = values;
    output->hasConstantValue = true;
}

// Computes over operands of its own, and copies the results back.
void StageEncoder::fold(const ValueCommand& command) {
    const auto stored = [&](const Tensor* tensor) { return &operands_.emplace_back(*tensor); };
    const Command now = mapOperands<Operand>(command, stored);
    fold(now);
    for (size_t i = 0; i < now.outputs.size(); ++i) {
        command.outputs[i]->values = now.outputs[i]->values;
        command.outputs[i]->hasConstantValue = true;
    }
    operands_.clear();
}

void StageEncoder::fold(const Command& command) {
    // A mere change of shape shares the bytes.
    if (command.type == OpType::Raster && command.inputs.size() == 1 &&
        command.inputs[0]->channelBlock == command.outputs[0]->channelBlock &&
        elementBytes(command.inputs[0]->type) == elementBytes(command.outputs[0]->type) &&
        isIdentity(command.regions, command.outputs[0]->elements()) &&
        command.inputs[0]->elements() == command.outputs[0]->elements()) {
        command.outputs[0]->values = command.inputs[0]->values;
        command.outputs[0]->hasConstantValue = true;
        return;
    }
    const StorageChoice choice = feasibleStorage(*context_.cpu, command);
    if (choice.inputBlock == 1 && choice.outputBlock == 1) {
        runNow(command);
        return;
    }
    Command packed = command;
    for (size_t i = 0; i < packed.inputs.size(); ++i)
        if (!choice.wantsRowMajor(i) && choice.inputBlock > 1)
            packed.inputs[i] = repack(command.inputs[i], choice.inputBlock);
    for (Operand*& output : packed.outputs)
        output = operand(output->shape, output->type, output->format, choice.outputBlock, output->quant);
    runNow(packed);
    for (size_t i = 0; i < packed.outputs.size(); ++i) changeStorage(packed.outputs[i], command.outputs[i]);
}

Operand* StageEncoder::operand(const Shape& shape, DataType type, Format format, int channelBlock,
                               const TensorQuant& quant) {
    Operand& made = operands_.emplace_back(*temporary(shape, type, format));
    made.channelBlock = channelBlock;
    made.quant = quant;
    return &made;
}

Operand* StageEncoder::repack(Operand* tensor, int channelBlock) {
    if (tensor->channelBlock == channelBlock) return tensor;
    Operand* result = operand(tensor->shape, tensor->type, tensor->format, channelBlock, tensor->quant);
    changeStorage(tensor, result);
    return result;
}

void StageEncoder::changeStorage(Operand* from, Operand* to) {
    Command command;
    command.name = from->name + "_storage";
    command.inputs = {from};
    command.outputs = {to};
    Region whole;
    whole.size[2] = from->elements();
    command.regions = {whole};
    if (from->channelBlock == to->channelBlock) {
        to->values = from->values;
        to->hasConstantValue = true;
    } else {
        runNow(command);
    }
}

// Runs a command over the frame that the commands of planning share; afterwards the outputs are known.
void StageEncoder::runNow(const Command& command) {
    std::string reason;
    std::unique_ptr<Execution> execution;
    if (context_.cpu->supports(command, reason)) execution = context_.cpu->create(command, reason);
    if (!execution)
        fail(Status::NoExecution, "constant '%s' (%s) cannot be computed: %s", command.name.c_str(), typeName(command),
             reason.c_str());
    execution->prepare();
    BudgetedBuffer scratch(context_);
    const int scratchNumber = planning_.numbers.of(OperandNumbers::Kind::Scratch, -1, 0, 0);
    Frame& frame = planning_.known;
    frame.grow(planning_.numbers.end());
    for (const Operand* input : command.inputs) frame.place(input->number, const_cast<void*>(input->values));
    for (Operand* output : command.outputs) {
        if (!output->values) output->values = allocateFolded(output->storageBytes());
        frame.place(output->number, const_cast<void*>(output->values));
    }
    frame.place(scratchNumber, scratch.reserve(execution->scratchBytes(), "scratch"));
    frame.usePool(*context_.pool);
    const std::unique_ptr<ExecutionState> state = execution->makeState();
    frame.beginStep(scratchNumber, state.get());
    execution->run(frame);
    for (Operand* output : command.outputs) output->hasConstantValue = true;
}

}  // namespace mnnc
