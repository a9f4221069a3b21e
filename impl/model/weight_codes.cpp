// Converts wire tables to int8 codes with scales. idst_stream.cpp reads the streams of codes.
#include "model/weight_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "model/external_ranges.h"
#include "model/idst_stream.h"
#include "model/weight_form.h"

namespace mnnc {

namespace {

std::vector<int8_t> signedBytes(std::span<const uint8_t> bytes) {
    std::vector<int8_t> q(bytes.size());
    if (!bytes.empty()) std::memcpy(q.data(), bytes.data(), bytes.size());
    return q;
}

bool isLegacyPairs(const wire::IDSTQuan& quan) {
    return quan.type() == static_cast<int32_t>(IdstType::RawInt8) && quan.aMin() == 0 &&
           std::fabs(quan.quantScale()) < 1e-6f;
}

bool isAsymmetric(const wire::IDSTQuan& quan) {
    return !quan.has_scaleInt() && (quan.readType() != 0 || isLegacyPairs(quan));
}

// The old int8 form keeps a requantisation scale per output; its alpha is a dummy.
bool hasDummyAlpha(const wire::Convolution2D& conv) {
    return conv.symmetricQuan() && vectorSize(conv.symmetricQuan()->scale()) > 0;
}

// Steps 1 to 5 of model-format 5.4.
void fillScales(QuantizedWeights& weights, int64_t count, const wire::IDSTQuan& quan, std::span<const float> alpha,
                int64_t outputCount, const char* opName) {
    const float factor = quan.quantScale();
    const bool legacy = isLegacyPairs(quan), asymmetric = isAsymmetric(quan);
    const int64_t values = static_cast<int64_t>(alpha.size());
    if (values == 0 || (asymmetric && values % 2 != 0))
        fail(Status::BadWeights, "operator '%s': %lld scale values%s", opName, asLong(values),
             asymmetric ? " do not form pairs" : "");
    const int64_t pieces = asymmetric ? values / 2 : values;
    if (outputCount < 1 || pieces % outputCount != 0 || count % pieces != 0)
        fail(Status::BadWeights, "operator '%s': %lld scale pieces do not fit %lld outputs and %lld weights", opName,
             asLong(pieces), asLong(outputCount), asLong(count));
    weights.blocksPerOutput = pieces / outputCount;
    const size_t pieceCount = static_cast<size_t>(pieces);
    weights.scale.resize(pieceCount);
    // has_scaleInt: x is multiplied by quantScale before the product, which equals scaling the weights.
    const float applied = legacy ? 1.0f : factor;
    if (!asymmetric) {
        for (size_t p = 0; p < pieceCount; ++p) weights.scale[p] = alpha[p] * applied;
        return;
    }
    weights.min.resize(pieceCount);
    const float correction = quan.aMin() == 0 ? -128.0f : static_cast<float>(quan.aMin());
    for (size_t p = 0; p < pieceCount; ++p) {
        float min = alpha[2 * p];
        const float scale = alpha[2 * p + 1];
        if (correction < 0.0f) min = min - correction * scale;
        weights.scale[p] = scale * applied;
        weights.min[p] = min * applied;
    }
}

// Sets the scales of `count` codes.
void scaleCodes(QuantizedWeights& weights, int64_t count, const wire::Convolution2D& conv, std::span<const float> alpha,
                int64_t outputCount, const char* opName) {
    const bool raw = convWeightForm(conv, opName) == WeightForm::RawInt8;
    if (outputCount < 1 || count < 1 || count % outputCount != 0)
        fail(Status::BadWeights, "operator '%s': %lld weights for %lld outputs", opName, asLong(count),
             asLong(outputCount));
    // Raw weights without alpha have no real scale either.
    if (hasDummyAlpha(conv) || (raw && alpha.empty()))
        weights.scale.assign(static_cast<size_t>(outputCount), 1.0f);
    else if (raw) {
        // Intermediate form: alpha holds plain weight scales, one per output.
        if (static_cast<int64_t>(alpha.size()) != outputCount)
            fail(Status::BadWeights, "operator '%s': %zu weight scales for %lld outputs", opName, alpha.size(),
                 asLong(outputCount));
        weights.scale.assign(alpha.begin(), alpha.end());
    } else
        fillScales(weights, count, *conv.quanParameter(), alpha, outputCount, opName);
}

}  // namespace

int64_t convScalesPerOutput(const wire::Convolution2D& conv) {
    const auto* quan = conv.quanParameter();
    const int64_t outputs = conv.common() ? conv.common()->outputCount() : 0;
    if (!quan || hasDummyAlpha(conv) || outputs < 1) return 1;
    const bool half = quan->scaleStorage() == wire::ScaleStorageType::FP16;
    int64_t values = half ? vectorSize(quan->alphaFp16()) : vectorSize(quan->alpha());
    if (values == 0) values = externalEntry(conv.external(), 2) / (half ? 2 : 4);
    return (isAsymmetric(*quan) ? values / 2 : values) / outputs;
}

bool convHasMinima(const wire::Convolution2D& conv) {
    return conv.quanParameter() && hasWeightBuffer(conv) && !hasDummyAlpha(conv) && isAsymmetric(*conv.quanParameter());
}

QuantizedWeights decodeQuantizedWeights(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                        const WeightFiles& files, const char* opName) {
    const WeightForm form = convWeightForm(conv, opName);
    if (form != WeightForm::Codes && form != WeightForm::RawInt8)
        fail(Status::BadWeights, "operator '%s' has no int8 weights", opName);
    const auto* quan = conv.quanParameter();
    const FloatView alpha = quan ? weightAlpha(conv, files, opName) : FloatView();
    QuantizedWeights weights;
    if (form == WeightForm::RawInt8) {
        const StoredBytes stored = bytesOf(conv.symmetricQuan()->weight(), files.model);
        requireCount(static_cast<int64_t>(stored.size()), expectedCount, opName);
        weights.q = signedBytes(stored.read().bytes);
    } else {
        const int64_t count = convWeightCount(conv, files, opName);
        requireCount(count, expectedCount, opName);
        const HeldBytes held = weightBuffer(conv, files, opName).read();
        const std::span<const uint8_t> stream = held.bytes;
        switch (static_cast<IdstType>(quan->type())) {
            case IdstType::Codebook:
                weights.q = decodeCodebook(stream, quan->shapeInt32(), opName);
                break;
            case IdstType::SparseCodebook:
                weights.q = decodeSparseCodebook(stream, quan->shapeInt32(), alpha.span(),
                                                 std::min<int64_t>(count, INT32_MAX), opName);
                break;
            default:
                weights.q = signedBytes(stream);
                break;
        }
        // The head may have changed since it was counted.
        requireCount(static_cast<int64_t>(weights.q.size()), count, opName);
    }
    scaleCodes(weights, static_cast<int64_t>(weights.q.size()), conv, alpha.span(), outputCount, opName);
    return weights;
}

std::optional<QuantizedForm> quantizedForm(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                           const WeightFiles& files, const char* opName) {
    const WeightForm form = convWeightForm(conv, opName);
    if (form != WeightForm::Codes && form != WeightForm::RawInt8) return std::nullopt;
    const auto* quan = conv.quanParameter();
    const int64_t count = convWeightCount(conv, files, opName);
    requireCount(count, expectedCount, opName);
    const FloatView alpha = quan ? weightAlpha(conv, files, opName) : FloatView();
    QuantizedWeights scales;
    scaleCodes(scales, count, conv, alpha.span(), outputCount, opName);
    QuantizedForm result;
    result.blocksPerOutput = scales.blocksPerOutput;
    result.minima = !scales.min.empty();
    if (form == WeightForm::Codes && static_cast<IdstType>(quan->type()) == IdstType::Codebook &&
        codebookFitsNibbles(weightBufferHead(conv, files, opName).bytes, quan->shapeInt32(), opName))
        result.bits = 4;
    return result;
}

}  // namespace mnnc
