// The rules for coordinates, one row for each operator that has one.
#include "ops/coordinates.h"

#include <algorithm>
#include <iterator>

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
    // Boxes and their scores: 16 bits would change the order of scores.
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

}  // namespace

CoordinateRule coordinateRule(OpType type) noexcept {
    const auto* const row =
        std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) { return one.type == type; });
    return row == std::end(kRows) ? CoordinateRule{} : row->rule;
}

}  // namespace mnnc
