// Counts weights from the headers of their streams.
#include "model/parameter_count.h"

#include <algorithm>

#include "mnn_generated.h"
#include "model/const_data.h"
#include "model/external_file.h"
#include "model/external_ranges.h"
#include "model/weight_form.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

template <typename T>
uint64_t sizeOf(const flatbuffers::Vector<T>* vector) {
    return vector ? vector->size() : 0;
}

// Returns the number of floats of two arrays. They are in the table, or else in the file of weights, where the entries
// are an offset and the bytes of each array.
uint64_t countBoth(const flatbuffers::Vector<float>* first, const flatbuffers::Vector<float>* second,
                   const ExternalEntries* external) {
    const auto count = [&](const flatbuffers::Vector<float>* array, uint32_t entry) {
        if (vectorSize(array) > 0) return uint64_t{array->size()};
        return static_cast<uint64_t>(std::max<int64_t>(externalEntry(external, entry), 0)) / sizeof(float);
    };
    return count(first, 1) + count(second, 2);
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
            return countBoth(op.main_as_Convolution3D()->weight(), op.main_as_Convolution3D()->bias(),
                             op.main_as_Convolution3D()->external());
        case wire::OpParameter::PRelu:
            return sizeOf(op.main_as_PRelu()->slope());
        case wire::OpParameter::Scale:
            return 2 * static_cast<uint64_t>(std::max(op.main_as_Scale()->channels(), 0));
        case wire::OpParameter::LayerNorm:
            return countBoth(op.main_as_LayerNorm()->gamma(), op.main_as_LayerNorm()->beta(),
                             op.main_as_LayerNorm()->external());
        case wire::OpParameter::GroupNorm:
            return countBoth(op.main_as_GroupNorm()->gamma(), op.main_as_GroupNorm()->beta(),
                             op.main_as_GroupNorm()->external());
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
