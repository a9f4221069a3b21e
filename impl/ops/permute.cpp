// Permute, Transpose, Reverse, ReverseSequence: all of them become boxes with exchanged or negative strides.
#include <array>

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

struct PermuteParams : ParamsOf<PermuteParams> {
    std::vector<int64_t> dims;
    bool given = false;
};

struct ReverseSequenceParams : ParamsOf<ReverseSequenceParams> {
    int64_t batchAxis = 0, sequenceAxis = 0;
};

ParamsPtr parsePermute(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<PermuteParams>();
    const wire::Permute* table = op.main_as_Permute();
    if (table && table->dims()) {
        params->given = true;
        params->dims.assign(table->dims()->begin(), table->dims()->end());
    }
    return params;
}

// The input axis of every output axis.
std::vector<int> permutation(const ShapeContext& context) {
    const int rank = context.in(0).shape.rank();
    std::vector<int64_t> dims;
    if (context.node.type == OpType::Transpose) {
        dims = context.ints(1);
    } else if (context.node.paramsAs<PermuteParams>().given) {
        dims = context.node.paramsAs<PermuteParams>().dims;
    } else {
        for (int axis = rank - 1; axis >= 0; --axis) dims.push_back(axis);
    }
    if (dims.size() != static_cast<size_t>(rank))
        fail(Status::ComputeSizeError, "op '%s': a permutation of %zu axes does not fit a tensor of rank %d",
             context.name(), dims.size(), rank);
    std::vector<int> result;
    uint32_t seen = 0;
    for (const int64_t dim : dims) {
        if (dim < 0 || dim >= rank || (seen >> dim & 1u))
            fail(Status::BadRange, "op '%s': %lld is repeated or outside in a permutation of %d axes", context.name(),
                 asLong(dim), rank);
        seen |= 1u << dim;
        result.push_back(static_cast<int>(dim));
    }
    return result;
}

void shapePermute(const ShapeContext& context) {
    Shape shape;
    for (const int axis : permutation(context)) shape.push(context.in(0).shape[axis]);
    context.set(0, shape);
}

void emitBoxes(const OpContext& context, RegionBuilder& builder) {
    context.geometry.raster(context.outputs[0], {context.inputs[0]}, builder.take(), context.node.name);
}

void geometryPermute(const OpContext& context) {
    const Strides src = rowMajorStrides(context.in(0).shape);
    const Strides dst = rowMajorStrides(context.out(0).shape);
    std::vector<BoxAxis> axes;
    size_t at = 0;
    for (const int axis : permutation(context))
        axes.push_back({context.in(0).shape[axis], src[static_cast<size_t>(axis)], dst[at++]});
    RegionBuilder builder(context.name());
    builder.box(0, 0, 0, axes);
    emitBoxes(context, builder);
}

// Returns the reversed axes: any number of them, possibly none, as in tf.reverse.
std::array<bool, kMaxRank> reversedAxes(const ShapeContext& context) {
    std::array<bool, kMaxRank> reversed = {};
    for (const int64_t given : context.ints(1)) {
        const int axis = normalizeAxis(given, context.in(0).shape.rank(), context.name());
        if (reversed[static_cast<size_t>(axis)])
            fail(Status::ComputeSizeError, "op '%s': axis %d is given twice", context.name(), axis);
        reversed[static_cast<size_t>(axis)] = true;
    }
    return reversed;
}

void shapeReverse(const ShapeContext& context) {
    reversedAxes(context);
    context.set(0, context.in(0).shape);
}

void geometryReverse(const OpContext& context) {
    const Shape& shape = context.in(0).shape;
    const Strides strides = rowMajorStrides(shape);
    const std::array<bool, kMaxRank> reversed = reversedAxes(context);
    int64_t offset = 0;
    std::vector<BoxAxis> axes;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const auto at = static_cast<size_t>(axis);
        axes.push_back({shape[axis], reversed[at] ? -strides[at] : strides[at], strides[at]});
        if (reversed[at]) offset += (shape[axis] - 1) * strides[at];
    }
    RegionBuilder builder(context.name());
    builder.box(0, offset, 0, axes);
    emitBoxes(context, builder);
}

ParamsPtr parseReverseSequence(const wire::Op& op, const ParseContext& context) {
    const wire::ReverseSequenceParam* table = op.main_as_ReverseSequenceParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no ReverseSequenceParam table", context.node.name.c_str());
    auto params = std::make_shared<ReverseSequenceParams>();
    params->batchAxis = table->batchDim();
    params->sequenceAxis = table->seqDim();
    return params;
}

struct SequencePlan {
    int batch, sequence;
    std::vector<int64_t> lengths;
};

SequencePlan sequencePlan(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<ReverseSequenceParams>();
    const Shape& shape = context.in(0).shape;
    SequencePlan plan{normalizeAxis(params->batchAxis, shape.rank(), context.name()),
                      normalizeAxis(params->sequenceAxis, shape.rank(), context.name()), context.ints(1)};
    if (plan.batch == plan.sequence)
        fail(Status::ComputeSizeError, "op '%s': axis %d is both batch and sequence", context.name(), plan.batch);
    if (plan.lengths.size() != static_cast<size_t>(shape[plan.batch]))
        fail(Status::ComputeSizeError, "op '%s' has %zu lengths for a batch of %lld, one for each entry is needed",
             context.name(), plan.lengths.size(), asLong(shape[plan.batch]));
    for (const int64_t length : plan.lengths)
        if (length < 0 || length > shape[plan.sequence])
            fail(Status::InputDataError, "op '%s': a length of %lld does not fit sequences of %lld", context.name(),
                 asLong(length), asLong(shape[plan.sequence]));
    return plan;
}

void shapeReverseSequence(const ShapeContext& context) {
    sequencePlan(context);
    context.set(0, context.in(0).shape);
}

void geometryReverseSequence(const OpContext& context) {
    const SequencePlan plan = sequencePlan(context);
    const Shape& shape = context.in(0).shape;
    const Strides strides = rowMajorStrides(shape);
    const int64_t batchStride = strides[static_cast<size_t>(plan.batch)];
    const int64_t step = strides[static_cast<size_t>(plan.sequence)];
    RegionBuilder builder(context.name());
    for (size_t b = 0; b < plan.lengths.size(); ++b) {
        const int64_t base = static_cast<int64_t>(b) * batchStride, length = plan.lengths[b];
        std::vector<BoxAxis> axes;
        for (int axis = 0; axis < shape.rank(); ++axis) {
            const int64_t stride = strides[static_cast<size_t>(axis)];
            axes.push_back({axis == plan.batch ? 1 : shape[axis], stride, stride});
        }
        BoxAxis& sequence = axes[static_cast<size_t>(plan.sequence)];
        sequence = {length, -step, step};
        builder.box(0, base + (length - 1) * step, base, axes);
        sequence = {shape[plan.sequence] - length, step, step};
        builder.box(0, base + length * step, base + length * step, axes);
    }
    emitBoxes(context, builder);
}

}  // namespace

constexpr OpDef kPermuteOps[] = {
    {.type = OpType::Permute, .parse = parsePermute, .shape = shapePermute, .geometry = geometryPermute},
    {.type = OpType::Transpose, .shape = shapePermute, .geometry = geometryPermute, .valueInputs = contentOfInput1},
    {.type = OpType::Reverse, .shape = shapeReverse, .geometry = geometryReverse, .valueInputs = contentOfInput1},
    {.type = OpType::ReverseSequence,
     .parse = parseReverseSequence,
     .shape = shapeReverseSequence,
     .geometry = geometryReverseSequence,
     .valueInputs = contentOfInput1},
};
extern constinit const OpFamily permuteOps = kPermuteOps;

}  // namespace mnnc
