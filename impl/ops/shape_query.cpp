// Shape, Size and Rank give values that follow from shapes alone, so they become constants when shapes are known.
#include <algorithm>
#include <limits>

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

struct ShapeParams : ParamsOf<ShapeParams> {
    bool hasStart = false, hasEnd = false;
    int64_t start = 0, end = 0;
};

ParamsPtr parseShape(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<ShapeParams>();
    if (const wire::ShapeParam* table = op.main_as_ShapeParam()) {
        params->hasStart = table->hasStart();
        params->start = table->start();
        params->hasEnd = table->hasEnd();
        params->end = table->end();
    }
    return params;
}

int32_t narrow(int64_t value, const char* name) {
    if (value > std::numeric_limits<int32_t>::max())
        fail(Status::Overflow, "op '%s': %lld does not fit an int32 element", name, asLong(value));
    return static_cast<int32_t>(value);
}

std::vector<int32_t> shapeValues(const ShapeContext& context) {
    const Tensor& input = context.in(0);
    std::vector<int64_t> extents(input.shape.begin(), input.shape.end());
    // For a packed tensor of a channel-last model there are four extents, in the order of the source framework.
    if (input.format == Format::NC4HW4 && context.node.defaultFormat == Format::NHWC)
        extents = {input.shape.at(0), input.shape.at(2), input.shape.at(3), input.shape.at(1)};
    const auto* params = context.node.paramsIf<ShapeParams>();
    const auto count = static_cast<int64_t>(extents.size());
    int64_t start = params && params->hasStart ? params->start : 0;
    int64_t end = params && params->hasEnd ? params->end : count;
    if (start < 0) start += count;
    if (end < 0) end += count;
    start = std::clamp<int64_t>(start, 0, count);
    end = std::clamp<int64_t>(end, start, count);
    std::vector<int32_t> values;
    for (int64_t i = start; i < end; ++i) values.push_back(narrow(extents[static_cast<size_t>(i)], context.name()));
    return values;
}

void shapeOfShape(const ShapeContext& context) {
    const auto count = static_cast<int64_t>(shapeValues(context).size());
    context.set(0, Shape{count}, DataType::Int32, context.node.defaultFormat);
}

void geometryShape(const OpContext& context) {
    const std::vector<int32_t> values = shapeValues(context);
    if (!values.empty()) context.geometry.constant(context.outputs[0], values.data());
}

void shapeScalar(const ShapeContext& context) {
    context.set(0, Shape{}, DataType::Int32, context.node.defaultFormat);
}

void geometrySize(const OpContext& context) {
    const int32_t value = narrow(context.in(0).elements(), context.name());
    context.geometry.constant(context.outputs[0], &value);
}

void geometryRank(const OpContext& context) {
    const int32_t value = context.in(0).shape.rank();
    context.geometry.constant(context.outputs[0], &value);
}

}  // namespace

constexpr OpDef kShapeQueryOps[] = {
    {.type = OpType::Shape,
     .parse = parseShape,
     .shape = shapeOfShape,
     .geometry = geometryShape,
     .shapeOnlyInputs = contentOfInput0},
    {.type = OpType::Size, .shape = shapeScalar, .geometry = geometrySize, .shapeOnlyInputs = contentOfInput0},
    {.type = OpType::Rank, .shape = shapeScalar, .geometry = geometryRank, .shapeOnlyInputs = contentOfInput0},
};
extern constinit const OpFamily shapeQueryOps = kShapeQueryOps;

}  // namespace mnnc
