// Pairs of float arrays, in the model's bytes or in the external file.
#include "model/table_arrays.h"

#include "base/error.h"
#include "model/external_ranges.h"

namespace mnnc {

namespace {

FloatPair arrayPair(const flatbuffers::Vector<float>* first, const flatbuffers::Vector<float>* second,
                    const ExternalEntries* entries, const WeightFiles& files, const char* opName) {
    FloatPair pair{floatsFrom(bytesOf(first, files.model), "array", opName),
                   floatsFrom(bytesOf(second, files.model), "array", opName)};
    if (isExternal(entries)) {
        if (pair.first.empty()) pair.first = floatsFrom(externalRange(entries, 1, files, opName), "array", opName);
        if (pair.second.empty()) pair.second = floatsFrom(externalRange(entries, 2, files, opName), "array", opName);
    }
    if (!pair.second.empty() && pair.second.size() != pair.first.size())
        fail(Status::BadWeights, "operator '%s' has arrays of %zu and %zu values, equal numbers are needed", opName,
             pair.first.size(), pair.second.size());
    return pair;
}

}  // namespace

FloatPair scaleArrays(const wire::Scale& scale, const WeightFiles& files, const char* opName) {
    return arrayPair(scale.scaleData(), scale.biasData(), scale.external(), files, opName);
}

FloatPair convolution3dArrays(const wire::Convolution3D& conv, const WeightFiles& files, const char* opName) {
    FloatPair pair{floatsFrom(bytesOf(conv.weight(), files.model), "weight", opName),
                   floatsFrom(bytesOf(conv.bias(), files.model), "bias", opName)};
    if (!isExternal(conv.external())) return pair;
    if (pair.first.empty()) pair.first = floatsFrom(externalRange(conv.external(), 1, files, opName), "weight", opName);
    if (pair.second.empty() && conv.external()->size() > 2)
        pair.second = floatsFrom(externalRange(conv.external(), 2, files, opName), "bias", opName);
    return pair;
}

FloatPair layerNormArrays(const wire::LayerNorm& norm, const WeightFiles& files, const char* opName) {
    return arrayPair(norm.gamma(), norm.beta(), norm.external(), files, opName);
}

}  // namespace mnnc
