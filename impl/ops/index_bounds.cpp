// Checks indices against the extent of their axis and reports the first one outside.
#include "ops/index_bounds.h"

#include "base/error.h"
#include "ops/op_helpers.h"

namespace mnnc {

void failIndex(const std::string& op, int64_t index, int64_t at, int64_t extent) {
    fail(Status::InputDataError,
         "op '%s': index %lld (element %lld of the indices) is outside of an axis of extent %lld", op.c_str(),
         asLong(index), asLong(at), asLong(extent));
}

bool IndexBounds::checkKnown(const ShapeContext& context, int input) const {
    const Tensor& indices = context.in(input);
    if (!indices.hasConstantValue) return false;
    const int64_t count = indices.elements();
    for (int64_t at = 0; at < count; ++at)
        placeOnAxis(context.node.name, index(indices.known<int32_t>()[at], at), at, extent[at % depth]);
    return true;
}

void requireOwnPositions(const ShapeContext& context, const Shape& data, const Shape& indices, int axis) {
    for (int i = 0; i < data.rank(); ++i)
        if (i != axis && indices[i] > data[i])
            fail(Status::ComputeSizeError, "op '%s': indices %s reach beyond data %s along axis %d", context.name(),
                 indices.text().c_str(), data.text().c_str(), i);
}

}  // namespace mnnc
