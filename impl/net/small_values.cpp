// Runs the Rasters and the integer arithmetic of a node element by element.
#include "net/small_values.h"

#include <algorithm>

#include "ops/binary.h"
#include "tensor/region_check.h"
#include "tensor/stored_content.h"

namespace mnnc {

namespace {

constexpr int64_t kMaxElements = 256;

bool isSmall(const Tensor& tensor) {
    return tensor.type == DataType::Int32 && tensor.elements() <= kMaxElements;
}

int64_t place(const View& view, int64_t i, int64_t j, int64_t k) {
    return view.offset + i * view.stride[0] + j * view.stride[1] + k * view.stride[2];
}

}  // namespace

void SmallValues::compute(const Node& node, const std::vector<Tensor*>& inputs, const std::vector<Tensor*>& outputs) {
    for (const Tensor* output : outputs)
        if (!isSmall(*output)) return;
    // Geometry is for outputs with elements.
    if (std::all_of(outputs.begin(), outputs.end(), [](const Tensor* output) { return output->empty(); })) return;
    emitted_.clear();
    const OpContext context{ShapeContext{node, inputs, outputs}, *this};
    if (node.def->geometry)
        node.def->geometry(context);
    else
        emit(context.command());
    const bool done =
        std::all_of(emitted_.begin(), emitted_.end(), [this](const ValueCommand& command) { return run(command); });
    if (done) return;
    for (Tensor* output : outputs) {
        output->values = nullptr;
        output->hasConstantValue = false;
    }
}

bool SmallValues::load(Tensor& tensor) {
    if (tensor.hasConstantValue) return true;
    if (!tensor.stored) return false;
    loaded_.push_back(tensor.stored->load());
    tensor.values = loaded_.back().get();
    tensor.hasConstantValue = true;
    return true;
}

Tensor* SmallValues::temporary(const Shape& shape, DataType type, Format format) {
    Tensor& tensor = temporaries_.emplace_back();
    tensor.shape = shape;
    tensor.type = type;
    tensor.format = format;
    return &tensor;
}

void SmallValues::emit(ValueCommand command) {
    emitted_.push_back(std::move(command));
}

void SmallValues::constant(Tensor* output, const void* bytes) {
    if (!isSmall(*output)) return;
    const auto* values = static_cast<const int32_t*>(bytes);
    output->values = contents_.emplace_back(values, values + output->elements()).data();
    output->hasConstantValue = true;
}

bool SmallValues::run(const ValueCommand& command) {
    if (command.outputs.size() != 1 || !isSmall(*command.outputs[0])) return false;
    for (Tensor* input : command.inputs)
        if (!isSmall(*input) || !load(*input)) return false;
    if (command.type == OpType::Raster) return move(command);
    return command.type == OpType::BinaryOp && combine(command);
}

// Sums, differences and products of tensors of the same shape, or with a single number.
bool SmallValues::combine(const ValueCommand& command) {
    const auto* params = command.paramsIf<BinaryParams>();
    if (!params || params->relu || params->mean || command.inputs.size() != 2) return false;
    Tensor& output = *command.outputs[0];
    const Tensor &a = *command.inputs[0], &b = *command.inputs[1];
    for (const Tensor* operand : {&a, &b})
        if (operand->elements() != 1 && !(operand->shape == output.shape)) return false;
    std::vector<int32_t>& values = contents_.emplace_back(static_cast<size_t>(output.elements()));
    for (size_t i = 0; i < values.size(); ++i) {
        const int32_t x = a.known<int32_t>()[a.elements() == 1 ? 0 : i];
        const int32_t y = b.known<int32_t>()[b.elements() == 1 ? 0 : i];
        const bool overflows = params->code == kBinaryAdd   ? __builtin_add_overflow(x, y, &values[i])
                               : params->code == kBinarySub ? __builtin_sub_overflow(x, y, &values[i])
                               : params->code == kBinaryMul ? __builtin_mul_overflow(x, y, &values[i])
                                                            : true;
        if (overflows) return false;
    }
    output.values = values.data();
    output.hasConstantValue = true;
    return true;
}

bool SmallValues::move(const ValueCommand& command) {
    Tensor& output = *command.outputs[0];
    std::vector<int32_t>& values = contents_.emplace_back(static_cast<size_t>(output.elements()));
    for (const Region& region : command.regions) {
        const Tensor& input = *command.inputs.at(static_cast<size_t>(region.input));
        checkRegion(region, input.elements(), output.elements(), command.name.c_str());
        if (region.count() > kMaxElements) return false;
        for (int64_t i = 0; i < region.size[0]; ++i)
            for (int64_t j = 0; j < region.size[1]; ++j)
                for (int64_t k = 0; k < region.size[2]; ++k)
                    values[static_cast<size_t>(place(region.dst, i, j, k))] =
                        input.known<int32_t>()[place(region.src, i, j, k)];
    }
    output.values = values.data();
    output.hasConstantValue = true;
    return true;
}

}  // namespace mnnc
