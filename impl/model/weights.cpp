// Decodes the tables of convolutions to floats, in each form of weight_form.h.
#include "model/weights.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "model/external_ranges.h"
#include "model/weight_codes.h"
#include "model/weight_form.h"

namespace mnnc {

namespace {

std::vector<float> decodeSparseFloat(const wire::Convolution2D& conv, int64_t expectedCount, const WeightFiles& files,
                                     const char* opName) {
    const int64_t count = conv.quanParameter()->weightSize();
    requireCount(count, expectedCount, opName);
    const FloatView alpha = weightAlpha(conv, files, opName);
    const std::vector<uint32_t> index = weightIndex(conv, files, opName);
    if (alpha.size() != index.size())
        fail(Status::BadWeights, "operator '%s' has %zu sparse positions and %zu values, equal numbers are needed",
             opName, index.size(), alpha.size());
    std::vector<float> weights(static_cast<size_t>(count), 0.0f);
    for (size_t i = 0; i < index.size(); ++i) {
        if (index[i] >= weights.size())
            fail(Status::BadWeights, "operator '%s': sparse position %u is not below %zu", opName, index[i],
                 weights.size());
        weights[index[i]] = alpha[i];
    }
    return weights;
}

StoredBytes plainWeights(const wire::Convolution2D& conv, int64_t expectedCount, const WeightFiles& files,
                         const char* opName) {
    const StoredBytes stored = vectorSize(conv.weight()) > 0 ? bytesOf(conv.weight(), files.model)
                                                             : externalRange(conv.external(), 1, files, opName);
    requireMultiple(stored, sizeof(float), "weight", opName);
    requireCount(static_cast<int64_t>(stored.size() / sizeof(float)), expectedCount, opName);
    return stored;
}

void expand(const QuantizedSource::Part& part, float* out) {
    const size_t length = part.codes.size() / part.scales.size();
    for (size_t p = 0; p < part.scales.size(); ++p, out += length) {
        const float scale = part.scales[p];
        const float min = part.minima.empty() ? 0.0f : part.minima[p];
        const int8_t* q = part.codes.data() + p * length;
        for (size_t i = 0; i < length; ++i) out[i] = static_cast<float>(q[i]) * scale + min;
    }
}

// Expands the outputs that a piece lies in.
class ExpandedCodes {
  public:
    explicit ExpandedCodes(QuantizedSource source)
        : source_(std::move(source)), each_(static_cast<size_t>(source_.perOutput())) {}
    size_t size() const { return static_cast<size_t>(source_.outputs()) * each_; }
    const float* read(size_t first, size_t count) {
        const size_t begin = first / each_, end = (first + count + each_ - 1) / each_;
        values_.resize((end - begin) * each_);
        expand(source_.part(static_cast<int64_t>(begin), static_cast<int64_t>(end - begin)), values_.data());
        return values_.data() + (first - begin * each_);
    }

  private:
    QuantizedSource source_;
    const size_t each_;
    std::vector<float> values_;
};

}  // namespace

FloatSource convWeightSource(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                             const WeightFiles& files, const char* opName) {
    if (convWeightForm(conv, opName) == WeightForm::Plain)
        return FloatSource(plainWeights(conv, expectedCount, files, opName));
    const WeightForm form = convWeightForm(conv, opName);
    if (form == WeightForm::Codes || form == WeightForm::RawInt8) {
        const auto codes =
            std::make_shared<ExpandedCodes>(QuantizedSource(conv, expectedCount, outputCount, files, opName));
        return {codes->size(), [codes](size_t first, size_t count) { return codes->read(first, count); }};
    }
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
            const StoredBytes stored = weightBuffer(conv, files, opName);
            if (stored.size() % 2 != 0)
                fail(Status::BadWeights, "operator '%s': the half weights have %zu bytes, an even number is needed",
                     opName, stored.size());
            requireCount(static_cast<int64_t>(stored.size() / 2), expectedCount, opName);
            return FloatView::own(halvesFrom(stored.read().bytes));
        }
        case WeightForm::SparseFloat:
            return FloatView::own(decodeSparseFloat(conv, expectedCount, files, opName));
        case WeightForm::Codes:
        case WeightForm::RawInt8:
            break;
    }
    constexpr int64_t kTogether = 1 << 18;  // weights that are decoded at a time
    QuantizedSource source(conv, expectedCount, outputCount, files, opName);
    const int64_t each = source.perOutput(), step = std::max<int64_t>(1, kTogether / each);
    std::vector<float> weights(static_cast<size_t>(source.outputs() * each));
    for (int64_t o = 0; o < source.outputs(); o += step)
        expand(source.part(o, std::min(step, source.outputs() - o)), weights.data() + o * each);
    return FloatView::own(std::move(weights));
}

FloatView convBias(const wire::Convolution2D& conv, int64_t outputCount, const WeightFiles& files, const char* opName) {
    FloatView bias;
    if (vectorSize(conv.bias()) > 0)
        bias = floatsFrom(bytesOf(conv.bias(), files.model), "bias", opName);
    else if (isExternal(conv.external()))
        bias = floatsFrom(externalRange(conv.external(), conv.quanParameter() ? 3 : 2, files, opName), "bias", opName);
    if (bias.empty()) return FloatView::own(std::vector<float>(static_cast<size_t>(std::max<int64_t>(outputCount, 0))));
    if (static_cast<int64_t>(bias.size()) != outputCount)
        fail(Status::BadWeights, "operator '%s' has %zu bias values, %lld are needed", opName, bias.size(),
             asLong(outputCount));
    return bias;
}

}  // namespace mnnc
