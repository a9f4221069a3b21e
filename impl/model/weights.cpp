// From wire tables to floats: which array holds the weights (model-format 4.1), where it is (4.7), and what
// int8 codes mean (5.4). The code streams themselves are read in idst_stream.cpp.
#include "model/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checked.h"
#include "base/error.h"
#include "base/half.h"
#include "mnn_generated.h"
#include "model/idst_stream.h"
#include "model/structure.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

using wire::ScaleStorageType;
using ExternalEntries = flatbuffers::Vector<int64_t>;

long long ll(int64_t value) {
    return static_cast<long long>(value);
}

bool isExternal(const ExternalEntries* entries) {
    return entries && entries->size() > 1;
}

int64_t externalEntry(const ExternalEntries* entries, uint32_t i) {
    return entries && i < entries->size() ? entries->Get(i) : 0;
}

// Range number `range` (1-based, as in the entries): its offset is the sum of those before it.
StoredBytes externalRange(const ExternalEntries* entries, uint32_t range, const WeightFiles& files,
                          const char* opName) {
    if (entries->size() > 5)
        fail(Status::BadWeights, "operator '%s': external has %u entries, at most 5 are known", opName,
             entries->size());
    int64_t offset = entries->Get(0);
    for (uint32_t i = 1; i < range; ++i) {
        if (externalEntry(entries, i) < 0)
            fail(Status::BadWeights, "operator '%s': external entry %u is %lld", opName, i,
                 ll(externalEntry(entries, i)));
        offset = checkedAdd(offset, externalEntry(entries, i), "external weight range");
    }
    const int64_t bytes = externalEntry(entries, range);
    if (bytes == 0) return {};
    if (!files.external)
        fail(Status::FileNotExist,
             "operator '%s' keeps its weights in an external file, and the model has none", opName);
    return files.external->range(offset, bytes, opName);
}

void requireMultiple(const StoredBytes& bytes, size_t unit, const char* what, const char* opName) {
    if (bytes.size() % unit != 0)
        fail(Status::BadWeights, "operator '%s': external %s of %zu bytes is not a multiple of %zu", opName,
             what, bytes.size(), unit);
}

FloatView floatsOf(HeldBytes held) {
    if (held.bytes.empty()) return {};
    if (reinterpret_cast<uintptr_t>(held.bytes.data()) % alignof(float) == 0)
        return FloatView::hold(std::move(held));
    std::vector<float> values(held.bytes.size() / sizeof(float));
    std::memcpy(values.data(), held.bytes.data(), values.size() * sizeof(float));
    return FloatView::own(std::move(values));
}

FloatView floatsFrom(const StoredBytes& stored, const char* what, const char* opName) {
    requireMultiple(stored, sizeof(float), what, opName);
    return floatsOf(stored.read());
}

std::vector<float> halvesFrom(std::span<const uint8_t> bytes) {
    std::vector<float> values(bytes.size() / 2);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = halfToFloat(static_cast<uint16_t>(bytes[2 * i] | (bytes[2 * i + 1] << 8)));
    return values;
}

bool hasBuffer(const wire::Convolution2D& conv) {
    const auto* quan = conv.quanParameter();
    return quan && (vectorSize(quan->buffer()) > 0 ||
                    (isExternal(conv.external()) && externalEntry(conv.external(), 1) > 0));
}

bool hasIndex(const wire::Convolution2D& conv) {
    const auto* quan = conv.quanParameter();
    return quan && (vectorSize(quan->index()) > 0 ||
                    (isExternal(conv.external()) && externalEntry(conv.external(), 4) > 0));
}

StoredBytes bufferOf(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    const StoredBytes inside = bytesOf(conv.quanParameter()->buffer(), files.model);
    if (!inside.empty() || !isExternal(conv.external())) return inside;
    return externalRange(conv.external(), 1, files, opName);
}

// The beginning of a stream, which holds what its head and its samples say. Of a model's own stream it is the
// beginning that was verified.
HeldBytes bufferHead(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    return bufferOf(conv, files, opName).head(kFetchedHead).read();
}

FloatView alphaOf(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    const auto* quan = conv.quanParameter();
    const bool half = quan->scaleStorage() == ScaleStorageType::FP16;
    StoredBytes stored = half ? bytesOf(quan->alphaFp16(), files.model) : bytesOf(quan->alpha(), files.model);
    if (stored.empty() && isExternal(conv.external()))
        stored = externalRange(conv.external(), 2, files, opName);
    if (!half) return floatsFrom(stored, "alpha", opName);
    requireMultiple(stored, 2, "alpha", opName);
    return FloatView::own(halvesFrom(stored.read().bytes));
}

std::vector<uint32_t> indexOf(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    StoredBytes stored = bytesOf(conv.quanParameter()->index(), files.model);
    if (stored.empty() && isExternal(conv.external()))
        stored = externalRange(conv.external(), 4, files, opName);
    requireMultiple(stored, sizeof(uint32_t), "index", opName);
    std::vector<uint32_t> index(stored.size() / sizeof(uint32_t));
    if (!index.empty()) std::memcpy(index.data(), stored.read().bytes.data(), stored.size());
    return index;
}

void requireCount(int64_t found, int64_t expected, const char* opName) {
    if (expected >= 0 && found != expected)
        fail(Status::BadWeights, "operator '%s': %lld weights stored, its shape needs %lld", opName,
             ll(found), ll(expected));
}

std::vector<float> decodeSparseFloat(const wire::Convolution2D& conv, int64_t expectedCount,
                                     const WeightFiles& files, const char* opName) {
    const int64_t count = conv.quanParameter()->weightSize();
    requireCount(count, expectedCount, opName);
    const FloatView alpha = alphaOf(conv, files, opName);
    const std::vector<uint32_t> index = indexOf(conv, files, opName);
    if (alpha.size() != index.size())
        fail(Status::BadWeights, "operator '%s': %zu sparse positions with %zu values", opName, index.size(),
             alpha.size());
    std::vector<float> weights(static_cast<size_t>(count), 0.0f);
    for (size_t i = 0; i < index.size(); ++i) {
        if (index[i] >= weights.size())
            fail(Status::BadWeights, "operator '%s': sparse position %u is not below %zu", opName, index[i],
                 weights.size());
        weights[index[i]] = alpha[i];
    }
    return weights;
}

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
void fillScales(QuantizedWeights& weights, int64_t count, const wire::IDSTQuan& quan,
                std::span<const float> alpha, int64_t outputCount, const char* opName) {
    const float factor = quan.quantScale();
    const bool legacy = isLegacyPairs(quan), asymmetric = isAsymmetric(quan);
    const int64_t values = static_cast<int64_t>(alpha.size());
    if (values == 0 || (asymmetric && values % 2 != 0))
        fail(Status::BadWeights, "operator '%s': %lld scale values%s", opName, ll(values),
             asymmetric ? " do not form pairs" : "");
    const int64_t pieces = asymmetric ? values / 2 : values;
    if (outputCount < 1 || pieces % outputCount != 0 || count % pieces != 0)
        fail(Status::BadWeights, "operator '%s': %lld scale pieces do not fit %lld outputs and %lld weights",
             opName, ll(pieces), ll(outputCount), ll(count));
    weights.blocksPerOutput = pieces / outputCount;
    const size_t pieceCount = static_cast<size_t>(pieces);
    weights.scale.resize(pieceCount);
    // has_scaleInt: x is multiplied by quantScale before the product, which is the same as scaling the
    // weights.
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

// Scales of `count` codes.
void scaleCodes(QuantizedWeights& weights, int64_t count, const wire::Convolution2D& conv,
                std::span<const float> alpha, int64_t outputCount, const char* opName) {
    const bool raw = convWeightForm(conv, opName) == WeightForm::RawInt8;
    if (outputCount < 1 || count < 1 || count % outputCount != 0)
        fail(Status::BadWeights, "operator '%s': %lld weights for %lld outputs", opName, ll(count),
             ll(outputCount));
    // Raw weights without alpha have no real scale either.
    if (hasDummyAlpha(conv) || (raw && alpha.empty()))
        weights.scale.assign(static_cast<size_t>(outputCount), 1.0f);
    else if (raw) {
        // Intermediate form: alpha holds plain weight scales, one per output.
        if (static_cast<int64_t>(alpha.size()) != outputCount)
            fail(Status::BadWeights, "operator '%s': %zu weight scales for %lld outputs", opName,
                 alpha.size(), ll(outputCount));
        weights.scale.assign(alpha.begin(), alpha.end());
    } else
        fillScales(weights, count, *conv.quanParameter(), alpha, outputCount, opName);
}

}  // namespace

WeightForm convWeightForm(const wire::Convolution2D& conv, const char* opName) {
    const auto* quan = conv.quanParameter();
    if (quan) {
        const int32_t type = quan->type();
        if (type < 0 || type > 4)
            fail(Status::BadWeights, "operator '%s': compressed weights of unknown type %d", opName, type);
        if (hasIndex(conv)) return WeightForm::SparseFloat;
        if (hasBuffer(conv)) {
            if (type == 3) return WeightForm::Half;
            if (type != 0) return WeightForm::Codes;
        }
    }
    if (conv.symmetricQuan() && vectorSize(conv.symmetricQuan()->weight()) > 0) return WeightForm::RawInt8;
    if (vectorSize(conv.weight()) > 0) return WeightForm::Plain;
    if (quan && hasBuffer(conv))
        fail(Status::BadWeights, "operator '%s': a compressed weight buffer of type 0", opName);
    if (!quan && isExternal(conv.external())) return WeightForm::Plain;
    return WeightForm::None;
}

int64_t convWeightCount(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    const auto* quan = conv.quanParameter();
    const bool inFile = isExternal(conv.external()) && !files.external;
    const auto streamBytes = [&]() -> int64_t {
        const int64_t inlined = vectorSize(quan->buffer());
        return inlined > 0 ? inlined : externalEntry(conv.external(), 1);
    };
    switch (convWeightForm(conv, opName)) {
        case WeightForm::None:
            return -1;
        case WeightForm::RawInt8:
            return vectorSize(conv.symmetricQuan()->weight());
        case WeightForm::SparseFloat:
            return quan->weightSize();
        case WeightForm::Plain:
            return vectorSize(conv.weight()) > 0 ? vectorSize(conv.weight())
                                                 : externalEntry(conv.external(), 1) / 4;
        case WeightForm::Half:
            return streamBytes() / 2;
        case WeightForm::Codes:
            if (quan->type() == 4) return streamBytes();
            if (vectorSize(quan->buffer()) == 0 && inFile) return -1;
            return readIdstHead(bufferHead(conv, files, opName).bytes, quan->shapeInt32(), opName).count;
    }
    return -1;
}

int64_t convScalesPerOutput(const wire::Convolution2D& conv) {
    const auto* quan = conv.quanParameter();
    const int64_t outputs = conv.common() ? conv.common()->outputCount() : 0;
    if (!quan || hasDummyAlpha(conv) || outputs < 1) return 1;
    const bool half = quan->scaleStorage() == ScaleStorageType::FP16;
    int64_t values = half ? vectorSize(quan->alphaFp16()) : vectorSize(quan->alpha());
    if (values == 0) values = externalEntry(conv.external(), 2) / (half ? 2 : 4);
    return (isAsymmetric(*quan) ? values / 2 : values) / outputs;
}

bool convHasMinima(const wire::Convolution2D& conv) {
    return conv.quanParameter() && hasBuffer(conv) && !hasDummyAlpha(conv) &&
           isAsymmetric(*conv.quanParameter());
}

QuantizedWeights decodeQuantizedWeights(const wire::Convolution2D& conv, int64_t expectedCount,
                                        int64_t outputCount, const WeightFiles& files, const char* opName) {
    const WeightForm form = convWeightForm(conv, opName);
    if (form != WeightForm::Codes && form != WeightForm::RawInt8)
        fail(Status::BadWeights, "operator '%s' has no int8 weights", opName);
    const auto* quan = conv.quanParameter();
    const FloatView alpha = quan ? alphaOf(conv, files, opName) : FloatView();
    QuantizedWeights weights;
    if (form == WeightForm::RawInt8) {
        const StoredBytes stored = bytesOf(conv.symmetricQuan()->weight(), files.model);
        requireCount(static_cast<int64_t>(stored.size()), expectedCount, opName);
        weights.q = signedBytes(stored.read().bytes);
    } else {
        const int64_t count = convWeightCount(conv, files, opName);
        requireCount(count, expectedCount, opName);
        const HeldBytes held = bufferOf(conv, files, opName).read();
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

std::optional<QuantizedForm> quantizedForm(const wire::Convolution2D& conv, int64_t expectedCount,
                                           int64_t outputCount, const WeightFiles& files,
                                           const char* opName) {
    const WeightForm form = convWeightForm(conv, opName);
    if (form != WeightForm::Codes && form != WeightForm::RawInt8) return std::nullopt;
    const auto* quan = conv.quanParameter();
    const int64_t count = convWeightCount(conv, files, opName);
    requireCount(count, expectedCount, opName);
    const FloatView alpha = quan ? alphaOf(conv, files, opName) : FloatView();
    QuantizedWeights scales;
    scaleCodes(scales, count, conv, alpha.span(), outputCount, opName);
    QuantizedForm result;
    result.blocksPerOutput = scales.blocksPerOutput;
    result.minima = !scales.min.empty();
    if (form == WeightForm::Codes && static_cast<IdstType>(quan->type()) == IdstType::Codebook &&
        codebookFitsNibbles(bufferHead(conv, files, opName).bytes, quan->shapeInt32(), opName))
        result.bits = 4;
    return result;
}

namespace {

StoredBytes plainWeights(const wire::Convolution2D& conv, int64_t expectedCount, const WeightFiles& files,
                         const char* opName) {
    const StoredBytes stored = vectorSize(conv.weight()) > 0
                                   ? bytesOf(conv.weight(), files.model)
                                   : externalRange(conv.external(), 1, files, opName);
    requireMultiple(stored, sizeof(float), "weight", opName);
    requireCount(static_cast<int64_t>(stored.size() / sizeof(float)), expectedCount, opName);
    return stored;
}

}  // namespace

const float* FloatSource::at(size_t first, size_t count) {
    if (!whole_.empty()) return whole_.data() + first;
    piece_ = {};  // its memory takes the next one
    piece_ = floatsOf(stored_.read(first * sizeof(float), count * sizeof(float)));
    return piece_.data();
}

FloatSource convWeightSource(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                             const WeightFiles& files, const char* opName) {
    if (convWeightForm(conv, opName) == WeightForm::Plain)
        return FloatSource(plainWeights(conv, expectedCount, files, opName));
    return FloatSource(decodeConvWeights(conv, expectedCount, outputCount, files, opName));
}

FloatView decodeConvWeights(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                            const WeightFiles& files, const char* opName) {
    switch (convWeightForm(conv, opName)) {
        case WeightForm::None:
            fail(Status::BadWeights, "operator '%s' has no weights (a weightless model?)", opName);
        case WeightForm::Plain:
            return floatsFrom(plainWeights(conv, expectedCount, files, opName), "weight", opName);
        case WeightForm::Half: {
            const StoredBytes stored = bufferOf(conv, files, opName);
            if (stored.size() % 2 != 0)
                fail(Status::BadWeights, "operator '%s': half weights of %zu bytes", opName, stored.size());
            requireCount(static_cast<int64_t>(stored.size() / 2), expectedCount, opName);
            return FloatView::own(halvesFrom(stored.read().bytes));
        }
        case WeightForm::SparseFloat:
            return FloatView::own(decodeSparseFloat(conv, expectedCount, files, opName));
        case WeightForm::Codes:
        case WeightForm::RawInt8:
            break;
    }
    const QuantizedWeights codes = decodeQuantizedWeights(conv, expectedCount, outputCount, files, opName);
    std::vector<float> weights(codes.q.size());
    const size_t length = codes.q.size() / codes.scale.size();
    for (size_t p = 0; p < codes.scale.size(); ++p) {
        const float scale = codes.scale[p];
        const float min = codes.min.empty() ? 0.0f : codes.min[p];
        const int8_t* q = codes.q.data() + p * length;
        float* out = weights.data() + p * length;
        for (size_t i = 0; i < length; ++i) out[i] = static_cast<float>(q[i]) * scale + min;
    }
    return FloatView::own(std::move(weights));
}

FloatView convBias(const wire::Convolution2D& conv, int64_t outputCount, const WeightFiles& files,
                   const char* opName) {
    FloatView bias;
    if (vectorSize(conv.bias()) > 0)
        bias = floatsFrom(bytesOf(conv.bias(), files.model), "bias", opName);
    else if (isExternal(conv.external()))
        bias = floatsFrom(externalRange(conv.external(), conv.quanParameter() ? 3 : 2, files, opName), "bias",
                          opName);
    if (bias.empty())
        return FloatView::own(std::vector<float>(static_cast<size_t>(std::max<int64_t>(outputCount, 0))));
    if (static_cast<int64_t>(bias.size()) != outputCount)
        fail(Status::BadWeights, "operator '%s': %zu bias values for %lld outputs", opName, bias.size(),
             ll(outputCount));
    return bias;
}

namespace {

FloatPair arrayPair(const flatbuffers::Vector<float>* first, const flatbuffers::Vector<float>* second,
                    const ExternalEntries* entries, const WeightFiles& files, const char* opName) {
    FloatPair pair{floatsFrom(bytesOf(first, files.model), "array", opName),
                   floatsFrom(bytesOf(second, files.model), "array", opName)};
    if (isExternal(entries)) {
        if (pair.first.empty())
            pair.first = floatsFrom(externalRange(entries, 1, files, opName), "array", opName);
        if (pair.second.empty())
            pair.second = floatsFrom(externalRange(entries, 2, files, opName), "array", opName);
    }
    if (!pair.second.empty() && pair.second.size() != pair.first.size())
        fail(Status::BadWeights, "operator '%s': arrays of %zu and %zu values belong together", opName,
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
    if (pair.first.empty())
        pair.first = floatsFrom(externalRange(conv.external(), 1, files, opName), "weight", opName);
    if (pair.second.empty() && conv.external()->size() > 2)
        pair.second = floatsFrom(externalRange(conv.external(), 2, files, opName), "bias", opName);
    return pair;
}

FloatPair layerNormArrays(const wire::LayerNorm& norm, const WeightFiles& files, const char* opName) {
    return arrayPair(norm.gamma(), norm.beta(), norm.external(), files, opName);
}

}  // namespace mnnc
