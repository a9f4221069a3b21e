// The rules of coordinates, a row for each operator that has one.
#include "ops/coordinates.h"

#include <algorithm>

#include "ops/matmul.h"

namespace mnnc {

namespace {

struct Row {
    OpType type;
    CoordinateRule rule;
};

constexpr CoordinateRule reads(uint32_t inputs) {
    return {.reads = inputs};
}
constexpr CoordinateRule kCarries{.carries = true};

constexpr Row kRows[] = {
    // Positions and boxes.
    {OpType::GridSample, reads(1u << 1)},
    {OpType::ROIAlign, reads(1u << 1)},
    {OpType::ROIPooling, reads(1u << 1)},
    {OpType::CropAndResize, reads(1u << 1)},
    // Boxes and their scores, whose order 16 bits would change.
    {OpType::NonMaxSuppressionV2, reads(1u << 0 | 1u << 1 | 1u << 3 | 1u << 4)},  // and their limits
    {OpType::DetectionPostProcess, reads(1u << 0 | 1u << 1 | 1u << 2)},
    {OpType::DetectionOutput, reads(1u << 0 | 1u << 1 | 1u << 2)},
    {OpType::Proposal, reads(1u << 0 | 1u << 1 | 1u << 2)},
    {OpType::TopKV2, {.reads = 1u << 0, .carries = true, .makes = true}},
    {OpType::Range, {.makes = true}},
    // Movement.
    {OpType::Raster, kCarries},
    {OpType::BroadcastTo, kCarries},
    {OpType::Concat, kCarries},
    {OpType::ConvertTensor, kCarries},
    {OpType::ExpandDims, kCarries},
    {OpType::Flatten, kCarries},
    {OpType::Gather, kCarries},
    {OpType::GatherElements, kCarries},
    {OpType::GatherND, kCarries},
    {OpType::GatherV2, kCarries},
    {OpType::Identity, kCarries},
    {OpType::Pack, kCarries},
    {OpType::Padding, kCarries},
    {OpType::Permute, kCarries},
    {OpType::Reshape, kCarries},
    {OpType::ScatterElements, kCarries},
    {OpType::ScatterNd, kCarries},
    {OpType::Slice, kCarries},
    {OpType::SliceTf, kCarries},
    {OpType::Squeeze, kCarries},
    {OpType::StridedSlice, kCarries},
    {OpType::Tile, kCarries},
    {OpType::Transpose, kCarries},
    {OpType::Unpack, kCarries},
    {OpType::Unsqueeze, kCarries},
    // Arithmetic. A Fused command is a chain of element-wise operators on a device.
    {OpType::BinaryOp, kCarries},
    {OpType::Cast, kCarries},
    {OpType::CumSum, kCarries},
    {OpType::Eltwise, kCarries},
    {OpType::Fused, kCarries},
    {OpType::Interp, kCarries},
    {OpType::MatMul, kCarries},
    {OpType::BatchMatMul, kCarries},
    {OpType::Reduction, kCarries},
    {OpType::ReLU, kCarries},
    {OpType::ReLU6, kCarries},
    {OpType::Select, kCarries},
    {OpType::UnaryOp, kCarries},
};

// The longest rows of a product that only transforms coordinates: those of space with a 1 behind them.
constexpr int64_t kMostCoordinates = 4;

bool isFloat(const Tensor* tensor) {
    return tensor->type == DataType::Float32;
}

bool hasMark(const Command& command) {
    const bool ofFloats = std::any_of(command.outputs.begin(), command.outputs.end(), isFloat);
    const std::vector<Tensor*>& side = ofFloats ? command.outputs : command.inputs;
    return std::any_of(side.begin(), side.end(),
                       [](const Tensor* tensor) { return isFloat(tensor) && tensor->wide; });
}

// The shape that a product sees, which a view may have changed.
const Shape& shapeOf(const Command& command, size_t operand) {
    return command.views.empty() ? command.inputs[operand]->shape : command.views[operand].shape;
}

bool transformsCoordinates(const Command& command) {
    return matMulSizes(command.paramsAs<MatMulParams>(), shapeOf(command, 0), shapeOf(command, 1),
                       command.name.c_str())
               .l <= kMostCoordinates;
}

}  // namespace

CoordinateRule coordinateRule(OpType type) noexcept {
    const auto* const row =
        std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) { return one.type == type; });
    return row == std::end(kRows) ? CoordinateRule{} : row->rule;
}

CoordinateRule coordinateRule(const Command& command) {
    CoordinateRule rule = coordinateRule(command.type);
    const bool product = command.type == OpType::MatMul || command.type == OpType::BatchMatMul;
    if (product && !transformsCoordinates(command)) rule.carries = false;
    // A float that becomes an integer is a count or an index.
    if (command.type == OpType::Cast && !isFloat(command.outputs[0])) rule.reads = 1u << 0;
    return rule;
}

WideOperands::WideOperands(const Command& command)
    : command_(command), rule_(coordinateRule(command)), all_(rule_.carries && hasMark(command)) {}

bool WideOperands::input(size_t i) const {
    return isFloat(command_.inputs[i]) && (all_ || (i < 32 && (rule_.reads >> i & 1u) != 0));
}

}  // namespace mnnc
