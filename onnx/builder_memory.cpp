// The builder charges the memory of its constants against a limit.
#include "base/checked.h"
#include "base/error.h"
#include "builder.h"

namespace mnnc::onnx {
namespace {

// The bytes of the arrays in an operator's table.
uint64_t tableBytes(const wire::OpParameterUnion& main) {
    uint64_t bytes = 0;
    const auto count = [&bytes](const auto& array) { bytes += array.size() * sizeof *array.data(); };
    if (const wire::Convolution2DT* layer = main.AsConvolution2D()) {
        count(layer->weight);
        count(layer->bias);
        if (layer->quanParameter) {
            count(layer->quanParameter->buffer);
            count(layer->quanParameter->alpha);
        }
    } else if (const wire::Convolution3DT* volume = main.AsConvolution3D()) {
        count(volume->weight);
        count(volume->bias);
    } else if (const wire::LayerNormT* norm = main.AsLayerNorm()) {
        count(norm->gamma);
        count(norm->beta);
    } else if (const wire::ScaleT* scale = main.AsScale()) {
        count(scale->scaleData);
        count(scale->biasData);
    } else if (const wire::PReluT* slopes = main.AsPRelu()) {
        count(slopes->slope);
    }
    return bytes;
}

}  // namespace

void Builder::take(uint64_t bytes) {
    budget_.take(bytes);
    taken_ += bytes;
}

void Builder::charge(const Array& array) {
    if (array.charged) return;
    take(array.byteSize());
    array.charged = true;
}

void Builder::chargeTable(const wire::OpParameterUnion& table) {
    take(tableBytes(table));
}

void Builder::requireRoom(const std::vector<int64_t>& extents) const {
    int64_t bytes = sizeof(float);
    for (const int64_t extent : extents) {
        if (extent < 0) fail(Status::BadRange, "a constant has an extent of %lld", asLong(extent));
        bytes = checkedMul(bytes, extent, "a constant");
    }
    budget_.require(static_cast<uint64_t>(bytes));
}

void Builder::requireArraysFit() const {
    uint64_t bytes = 0;
    for (const Scope& scope : scopes_) {
        if (&scope != &scopes_.front() && scope.name.empty()) continue;
        for (const Operator& one : scope.operators) {
            bytes += tableBytes(one.op.main) + (one.weights ? one.weights->byteSize() : 0) +
                     (one.constant ? one.constant->byteSize() : 0);
            if (bytes > budget_.limit())
                fail(Status::LimitExceeded,
                     "the net has more than %llu bytes of constants, those that several operators share counted for "
                     "each: max_memory_bytes allows no more",
                     static_cast<unsigned long long>(budget_.limit()));
        }
    }
}

}  // namespace mnnc::onnx
