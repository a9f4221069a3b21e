// Applies the rules of coordinates to commands.
#include "plan/wide_operands.h"

#include <algorithm>

#include "ops/matmul.h"

namespace mnnc {

namespace {

// Limit on the length of the rows of a product that only transforms coordinates: homogeneous coordinates of space have
// four.
constexpr int64_t kMaxCoordinates = 4;

bool isFloat(const Operand* tensor) {
    return tensor->type == DataType::Float32;
}

bool hasMark(const Command& command) {
    const bool ofFloats = std::any_of(command.outputs.begin(), command.outputs.end(), isFloat);
    const std::vector<Operand*>& side = ofFloats ? command.outputs : command.inputs;
    return std::any_of(side.begin(), side.end(), [](const Operand* tensor) { return isFloat(tensor) && tensor->wide; });
}

// Returns the shape that a product reads, which a view may have changed.
const Shape& shapeOf(const Command& command, size_t operand) {
    return command.views.empty() ? command.inputs[operand]->shape : command.views[operand].shape;
}

bool transformsCoordinates(const Command& command) {
    return matMulSizes(command.paramsAs<MatMulParams>(), shapeOf(command, 0), shapeOf(command, 1), command.name.c_str())
               .l <= kMaxCoordinates;
}

}  // namespace

CoordinateRule coordinateRule(const Command& command) {
    CoordinateRule rule = coordinateRule(command.type);
    const bool product = command.type == OpType::MatMul || command.type == OpType::BatchMatMul;
    if (product && !transformsCoordinates(command)) rule.carries = false;
    // A float that is cast to an integer is a count or an index.
    if (command.type == OpType::Cast && !isFloat(command.outputs[0])) rule.reads = 1u << 0;
    return rule;
}

WideOperands::WideOperands(const Command& command)
    : command_(command), rule_(coordinateRule(command)), all_(command.fp32 || (rule_.carries && hasMark(command))) {}

bool WideOperands::input(size_t i) const {
    return isFloat(command_.inputs[i]) && (all_ || (i < 32 && (rule_.reads >> i & 1u) != 0));
}

}  // namespace mnnc
