// ArgMax, ArgMin and TopKV2 along one axis.
#include "ops/search.h"

#include <algorithm>

#include "base/checked.h"
#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

struct ArgParams : ParamsOf<ArgParams> {
    int64_t axis = 0, topK = 1;
    bool values = false, threshold = false;
};

ParamsPtr parseArg(const wire::Op& op, const ParseContext& context) {
    const wire::ArgMax* table = op.main_as_ArgMax();
    if (!table) fail(Status::BadParameter, "op '%s' carries no ArgMax table", context.node.name.c_str());
    auto params = std::make_shared<ArgParams>();
    params->axis = table->axis();
    params->topK = table->topK();
    params->values = table->outMaxVal() == 1;
    params->threshold = table->softmaxThreshold() != 0;
    return params;
}

void requireNumbers(const ShapeContext& context) {
    if (context.in(0).type == DataType::BFloat16)
        fail(Status::NotSupported, "op '%s': a search in %s is not supported", context.name(),
             dataTypeName(context.in(0).type));
}

bool topList(const ShapeContext& context) {
    return context.node.type == OpType::ArgMax && context.in(0).format == Format::NC4HW4;
}

// The value of an absent axis in files of Caffe: a whole image is one list.
constexpr int64_t kNoAxis = 10000;

bool wholeImages(const ShapeContext& context) {
    return topList(context) && context.node.paramsAs<ArgParams>().axis == kNoAxis;
}

// Axis 0 of the packed form means the first of width, height and channel whose extent is above 1.
int topListAxis(const ShapeContext& context) {
    const Shape& shape = context.in(0).shape;
    const int64_t axis = context.node.paramsAs<ArgParams>().axis;
    if (axis != 0) return normalizeAxis(axis, shape.rank(), context.name());
    for (const int at : {3, 2, 1})
        if (shape.at(at) > 1) return at;
    return normalizeAxis(1, shape.rank(), context.name());
}

void shapeArg(const ShapeContext& context) {
    requireNumbers(context);
    const auto* params = &context.node.paramsAs<ArgParams>();
    Shape shape = context.in(0).shape;
    if (!topList(context)) {
        const int axis = normalizeAxis(params->axis, shape.rank(), context.name());
        if (shape[axis] == 0)
            fail(Status::ComputeSizeError, "op '%s': axis %d of %s has no elements", context.name(), axis,
                 shape.text().c_str());
        shape.erase(axis);
        context.set(0, shape, DataType::Int32, context.in(0).format);
        return;
    }
    if (context.in(0).type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': the packed form of ArgMax is supported for float32 only", context.name());
    if (params->topK < 1)
        fail(Status::BadParameter, "op '%s': topK is %lld, at least 1 is needed", context.name(), asLong(params->topK));
    const int64_t lists = params->values ? 2 : 1;
    if (wholeImages(context)) {
        // As in Caffe's ArgMaxLayer: one list of positions per image, then one of values, in a tensor of rank 3 or
        // more.
        const int64_t extent = shape.elements(std::min(shape.rank(), 1), shape.rank());
        if (params->topK > extent)
            fail(Status::ComputeSizeError, "op '%s': topK is %lld, at most %lld is possible", context.name(),
                 asLong(params->topK), asLong(extent));
        Shape result{shape.at(0), lists, params->topK};
        for (int i = 3; i < shape.rank(); ++i) result.push(1);
        result.elements();
        return context.set(0, result, DataType::Float32, Format::NC4HW4);
    }
    shape[topListAxis(context)] = checkedMul(params->topK, lists, context.name());
    shape.elements();
    context.set(0, shape, DataType::Float32, Format::NC4HW4);
}

void geometryArg(const OpContext& context) {
    const auto* params = &context.node.paramsAs<ArgParams>();
    const Shape& shape = context.in(0).shape;
    ValueCommand command = context.command();
    if (topList(context)) {
        auto list = std::make_shared<TopListParams>();
        if (wholeImages(context)) {
            list->outer = shape.at(0);
            list->extent = shape.elements(std::min(shape.rank(), 1), shape.rank());
        } else {
            const AxisSplit split(shape, topListAxis(context));
            list->outer = split.outer;
            list->extent = split.axis;
            list->inner = split.inner;
        }
        list->top = params->topK;
        list->values = params->values;
        list->useThreshold = params->threshold;
        list->threshold = list->extent > 0 ? 1.0f / static_cast<float>(list->extent) : 0;
        command.params = std::move(list);
    } else {
        const AxisSplit split(shape, normalizeAxis(params->axis, shape.rank(), context.name()));
        auto search = std::make_shared<SearchParams>();
        search->outer = split.outer;
        search->extent = split.axis;
        search->inner = split.inner;
        search->largest = context.node.type == OpType::ArgMax;
        command.params = std::move(search);
    }
    context.geometry.emit(std::move(command));
}

struct TopKParams : ParamsOf<TopKParams> {
    bool largest = true;
};

ParamsPtr parseTopK(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<TopKParams>();
    if (const wire::TopKV2* table = op.main_as_TopKV2()) params->largest = table->largest();
    return params;
}

int topKAxis(const ShapeContext& context) {
    return normalizeAxis(context.inputCount() > 2 ? context.intAt(2) : -1, context.in(0).shape.rank(), context.name());
}

void shapeTopK(const ShapeContext& context) {
    requireNumbers(context);
    Shape shape = context.in(0).shape;
    const int axis = topKAxis(context);
    const int64_t k = context.intAt(1);
    if (k < 0 || k > shape[axis])
        fail(Status::ComputeSizeError, "op '%s': k is %lld, 0 to %lld are possible", context.name(), asLong(k),
             asLong(shape[axis]));
    shape[axis] = k;
    context.set(0, shape);
    context.set(1, shape, DataType::Int32, context.in(1).format);
}

void geometryTopK(const OpContext& context) {
    const AxisSplit split(context.in(0).shape, topKAxis(context));
    auto params = std::make_shared<SearchParams>();
    params->outer = split.outer;
    params->extent = split.axis;
    params->inner = split.inner;
    params->largest = context.node.paramsAs<TopKParams>().largest;
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.resize(1);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kSearchOps[] = {
    {.type = OpType::ArgMax, .parse = parseArg, .shape = shapeArg, .geometry = geometryArg},
    {.type = OpType::ArgMin, .parse = parseArg, .shape = shapeArg, .geometry = geometryArg},
    {.type = OpType::TopKV2,
     .parse = parseTopK,
     .shape = shapeTopK,
     .geometry = geometryTopK,
     .valueInputs = [](const Node& node) { return hasInput(node, 2) ? 6u : 2u; }},
};
extern constinit const OpFamily searchOps = kSearchOps;

}  // namespace mnnc
