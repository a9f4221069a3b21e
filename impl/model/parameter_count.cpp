// Counts weights from the headers of their streams.
#include "model/parameter_count.h"

#include <algorithm>

#include "mnn_generated.h"
#include "model/const_data.h"
#include "model/external_file.h"
#include "model/weight_form.h"

namespace mnnc {

namespace {

template <typename T>
uint64_t sizeOf(const flatbuffers::Vector<T>* vector) {
    return vector ? vector->size() : 0;
}

uint64_t countConvolution(const wire::Convolution2D& conv, const WeightFiles& files, const char* name) {
    const int64_t weights = convWeightCount(conv, files, name);
    if (weights <= 0) return 0;
    const int32_t outputs = conv.common() ? conv.common()->outputCount() : 0;
    return static_cast<uint64_t>(weights) + static_cast<uint64_t>(std::max(outputs, 0));
}

uint64_t countOp(const Model& model, const wire::Op& op) {
    const char* name = op.name() ? op.name()->c_str() : "";
    switch (op.main_type()) {
        case wire::OpParameter::Blob:
            return static_cast<uint64_t>(blobElementCount(*op.main_as_Blob(), name));
        case wire::OpParameter::Convolution2D:
            return countConvolution(*op.main_as_Convolution2D(), model.weightFiles(op), name);
        case wire::OpParameter::Convolution3D:
            return sizeOf(op.main_as_Convolution3D()->weight()) + sizeOf(op.main_as_Convolution3D()->bias());
        case wire::OpParameter::PRelu:
            return sizeOf(op.main_as_PRelu()->slope());
        case wire::OpParameter::Scale:
            return 2 * static_cast<uint64_t>(std::max(op.main_as_Scale()->channels(), 0));
        case wire::OpParameter::LayerNorm:
            return sizeOf(op.main_as_LayerNorm()->gamma()) + sizeOf(op.main_as_LayerNorm()->beta());
        case wire::OpParameter::BatchNorm:
            return 4 * static_cast<uint64_t>(std::max(op.main_as_BatchNorm()->channels(), 0));
        case wire::OpParameter::InnerProduct:
            return sizeOf(op.main_as_InnerProduct()->weight()) + sizeOf(op.main_as_InnerProduct()->bias());
        default:
            return 0;
    }
}

}  // namespace

uint64_t countParameters(const Model& model) {
    uint64_t total = 0;
    for (const Graph& graph : model.graphs())
        for (const wire::Op* op : graph.ops)
            if (op->main()) total += countOp(model, *op);
    return total;
}

}  // namespace mnnc
