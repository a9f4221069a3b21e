// Segment: the means of sequences of rows (TensorFlow's SegmentMean). Input 1 has the segment number of each row,
// ascending; the mean of a segment without rows is 0.
#include "ops/segment.h"

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/reduction.h"

namespace mnnc {

namespace {

// Converters write the operator only for means, but leave the operation at SUM, which is 0.
ParamsPtr parseSegment(const wire::Op& op, const ParseContext& context) {
    const wire::ReductionParam* table = op.main_as_ReductionParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no ReductionParam table", context.node.name.c_str());
    const int operation = static_cast<int>(table->operation());
    if (operation != static_cast<int>(Reduce::Sum) && operation != static_cast<int>(Reduce::Mean))
        fail(Status::NotSupported, "segments are reduced to their means only, not by operation %d", operation);
    return nullptr;
}

// Returns the number of segments. Checks all numbers.
int64_t segmentCount(const ShapeContext& context) {
    const std::vector<int64_t> ids = context.ints(1);
    const Shape& x = context.in(0).shape;
    if (context.in(1).shape.rank() > 1 || x.rank() < 1 || static_cast<int64_t>(ids.size()) != x[0])
        fail(Status::ComputeSizeError, "op '%s': segment numbers of shape %s do not fit the rows of %s", context.name(),
             context.in(1).shape.text().c_str(), x.text().c_str());
    int64_t last = 0;
    for (const int64_t id : ids) {
        if (id < last)
            fail(Status::ComputeSizeError, "op '%s': segment number %lld follows %lld; they must ascend from 0",
                 context.name(), asLong(id), asLong(last));
        last = id;
    }
    return ids.empty() ? 0 : last + 1;
}

void shapeSegment(const ShapeContext& context) {
    if (context.in(0).type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': segments of %s are not implemented", context.name(),
             dataTypeName(context.in(0).type));
    requireInt32(context, 1);
    const int64_t count = segmentCount(context);
    Shape out = context.in(0).shape;
    out[0] = count;
    out.elements();
    context.set(0, out);
}

void geometrySegment(const OpContext& context) {
    const Shape& x = context.in(0).shape;
    auto params = std::make_shared<SegmentParams>();
    params->inner = x.elements(1, x.rank());
    for (const int64_t id : context.ints(1)) {
        if (params->runs.empty() || params->runs.back().segment != id) params->runs.push_back({id, 0});
        ++params->runs.back().rows;
    }
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.resize(1);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kSegmentOps[] = {{.type = OpType::Segment,
                                  .parse = parseSegment,
                                  .shape = shapeSegment,
                                  .geometry = geometrySegment,
                                  .valueInputs = contentOfInput1,
                                  .flops = flopsPerInput<1>}};
extern constinit const OpFamily segmentOps = kSegmentOps;

}  // namespace mnnc
