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

// Returns how scales and minima follow from `values` numbers of alpha for `count` codes. Without a usable alpha the
// scales are 1. Raw int8 weights have one scale per output. Other codes have equal blocks per output, each with a
// scale, or where they are asymmetric with a minimum and a scale; quantScale multiplies all of them, except for legacy
// pairs.
ScaleRule scaleRule(const wire::Convolution2D& conv, int64_t count, int64_t values, int64_t outputCount,
                    const char* opName) {
    const bool raw = convWeightForm(conv, opName) == WeightForm::RawInt8;
    if (outputCount < 1 || count < 1 || count % outputCount != 0)
        fail(Status::BadWeights, "operator '%s': %lld weights cannot be divided into %lld outputs", opName,
             asLong(count), asLong(outputCount));
    ScaleRule rule;
    // Raw weights without alpha have no real scale either.
    rule.ones = hasDummyAlpha(conv) || (raw && values == 0);
    if (rule.ones) return rule;
    if (raw) {
        // Intermediate form: alpha holds plain weight scales, one per output.
        if (values != outputCount)
            fail(Status::BadWeights, "operator '%s' has %lld weight scales, %lld are needed", opName, asLong(values),
                 asLong(outputCount));
        return rule;
    }
    const wire::IDSTQuan& quan = *conv.quanParameter();
    rule.pairs = isAsymmetric(quan);
    if (values == 0) fail(Status::BadWeights, "operator '%s' has no scale values", opName);
    if (rule.pairs && values % 2 != 0)
        fail(Status::BadWeights, "operator '%s': %lld scale values do not form pairs", opName, asLong(values));
    const int64_t pieces = rule.pairs ? values / 2 : values;
    if (pieces % outputCount != 0 || count % pieces != 0)
        fail(Status::BadWeights, "operator '%s': %lld scale pieces do not fit %lld outputs and %lld weights", opName,
             asLong(pieces), asLong(outputCount), asLong(count));
    rule.blocksPerOutput = pieces / outputCount;
    // With has_scaleInt the input is multiplied by quantScale before the product, which equals scaling the weights.
    rule.applied = isLegacyPairs(quan) ? 1.0f : quan.quantScale();
    rule.correction = std::min(quan.aMin() == 0 ? -128.0f : static_cast<float>(quan.aMin()), 0.0f);
    return rule;
}

struct Alpha {
    StoredBytes bytes;
    bool half = false;
    int64_t values() const { return static_cast<int64_t>(bytes.size() / (half ? 2 : sizeof(float))); }
};
Alpha alphaOf(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    const auto* quan = conv.quanParameter();
    if (!quan) return {};
    return {storedAlpha(conv, files, opName), quan->scaleStorage() == wire::ScaleStorageType::FP16};
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

QuantizedSource::QuantizedSource(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                 const WeightFiles& files, const char* opName)
    : opName_(opName), outputs_(outputCount) {
    const WeightForm form = convWeightForm(conv, opName);
    if (form != WeightForm::Codes && form != WeightForm::RawInt8)
        fail(Status::BadWeights, "operator '%s' has no int8 weights", opName);
    const auto* quan = conv.quanParameter();
    const Alpha alpha = alphaOf(conv, files, opName);
    alpha_ = alpha.bytes;
    halfAlpha_ = alpha.half;
    int64_t count = 0;
    if (form == WeightForm::RawInt8) {
        const StoredBytes stored = bytesOf(conv.symmetricQuan()->weight(), files.model);
        requireCount(static_cast<int64_t>(stored.size()), expectedCount, opName);
        codes_ = signedBytes(stored.read().bytes);
        count = static_cast<int64_t>(codes_.size());
    } else {
        count = convWeightCount(conv, files, opName);
        requireCount(count, expectedCount, opName);
        stream_ = weightBuffer(conv, files, opName);
        const auto type = static_cast<IdstType>(quan->type());
        int64_t found = 0;
        if (type == IdstType::Codebook) {
            codebook_.emplace(weightBufferHead(conv, files, opName).bytes, stream_.size(), quan->shapeInt32(), opName);
            found = codebook_->count();
            if (!codebook_->hasParts()) {
                codebook_.reset();
                codes_ = decodeCodebook(stream_.read().bytes, quan->shapeInt32(), opName);
                found = static_cast<int64_t>(codes_.size());
            }
        } else {
            const HeldBytes all = stream_.read();
            codes_ = type == IdstType::SparseCodebook
                         ? decodeSparseCodebook(all.bytes, quan->shapeInt32(), weightAlpha(conv, files, opName).span(),
                                                std::min<int64_t>(count, INT32_MAX), opName)
                         : signedBytes(all.bytes);
            found = static_cast<int64_t>(codes_.size());
        }
        // The head may have changed since it was counted.
        requireCount(found, count, opName);
    }
    rule_ = scaleRule(conv, count, alpha.values(), outputCount, opName);
    perOutput_ = count / outputCount;
}

void QuantizedSource::readScales(int64_t first, int64_t count, Part& part) {
    const auto pieces = static_cast<size_t>(count * rule_.blocksPerOutput);
    if (rule_.ones) {
        scale_.assign(pieces, 1.0f);
    } else {
        const size_t each = (halfAlpha_ ? 2 : sizeof(float)) * (rule_.pairs ? 2 : 1);
        const HeldBytes read = alpha_.read(static_cast<size_t>(first * rule_.blocksPerOutput) * each, pieces * each);
        const FloatView alpha = halfAlpha_ ? FloatView::own(halvesFrom(read.bytes)) : FloatView::hold(read);
        const float* const values = alpha.data();
        scale_.resize(pieces);
        float* const scale = scale_.data();
        if (!rule_.pairs) {
            for (size_t p = 0; p < pieces; ++p) scale[p] = values[p] * rule_.applied;
        } else {
            min_.resize(pieces);
            float* const minima = min_.data();
            const float applied = rule_.applied, correction = rule_.correction;
            for (size_t p = 0; p < pieces; ++p) {
                float min = values[2 * p];
                if (correction < 0.0f) min = min - correction * values[2 * p + 1];
                scale[p] = values[2 * p + 1] * applied;
                minima[p] = min * applied;
            }
        }
    }
    part.scales = scale_;
    part.minima = min_;
}

std::span<const int8_t> QuantizedSource::codesOf(int64_t first, int64_t count) {
    const int64_t begin = first * perOutput_, length = count * perOutput_;
    if (!codebook_)
        return std::span<const int8_t>(codes_).subspan(static_cast<size_t>(begin), static_cast<size_t>(length));
    const int64_t odd = begin % 2;  // a byte may begin with the code before `first`
    const HeldBytes read = stream_.read(codebook_->begin(begin - odd), codebook_->bytes(length + odd));
    codes_.resize(static_cast<size_t>(length + odd));
    codebook_->decode(read.bytes, length + odd, codes_.data(), opName_.c_str());
    return std::span<const int8_t>(codes_).subspan(static_cast<size_t>(odd));
}

QuantizedSource::Part QuantizedSource::part(int64_t first, int64_t count) {
    Part part;
    held_ = {};
    readScales(first, count, part);
    part.codes = codesOf(first, count);
    return part;
}

QuantizedSource::Part QuantizedSource::storedPart(int64_t first, int64_t count, int bits) {
    Part part;
    held_ = {};  // its memory is used again
    readScales(first, count, part);
    const int64_t begin = first * perOutput_, length = count * perOutput_;
    if (codebook_ && codebook_->isPlain(bits)) {
        held_ = stream_.read(codebook_->begin(begin), codebook_->bytes(length));
        part.stored = held_.bytes.data();
        return part;
    }
    const std::span<const int8_t> codes = codesOf(first, count);
    if (bits == 8) {
        stored_.resize(codes.size());
        for (size_t i = 0; i < codes.size(); ++i) stored_[i] = static_cast<uint8_t>(codes[i] + 128);
    } else {
        stored_.resize(codes.size() / 2);
        for (size_t i = 0; i < stored_.size(); ++i)
            stored_[i] = static_cast<uint8_t>((codes[2 * i] + 8) << 4 | ((codes[2 * i + 1] + 8) & 15));
    }
    part.stored = stored_.data();
    return part;
}

QuantizedWeights QuantizedSource::takeAll() {
    QuantizedWeights all;
    part(0, outputs_);
    all.q = std::move(codes_);
    all.scale = std::move(scale_);
    all.min = std::move(min_);
    all.blocksPerOutput = rule_.blocksPerOutput;
    return all;
}

QuantizedWeights decodeQuantizedWeights(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                        const WeightFiles& files, const char* opName) {
    return QuantizedSource(conv, expectedCount, outputCount, files, opName).takeAll();
}

std::optional<QuantizedForm> quantizedForm(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                           const WeightFiles& files, const char* opName) {
    const WeightForm form = convWeightForm(conv, opName);
    if (form != WeightForm::Codes && form != WeightForm::RawInt8) return std::nullopt;
    const auto* quan = conv.quanParameter();
    const int64_t count = convWeightCount(conv, files, opName);
    requireCount(count, expectedCount, opName);
    const ScaleRule rule = scaleRule(conv, count, alphaOf(conv, files, opName).values(), outputCount, opName);
    QuantizedForm result;
    result.blocksPerOutput = rule.blocksPerOutput;
    result.minima = rule.pairs;
    if (form == WeightForm::Codes && static_cast<IdstType>(quan->type()) == IdstType::Codebook &&
        codebookFitsNibbles(weightBufferHead(conv, files, opName).bytes, quan->shapeInt32(), opName))
        result.bits = 4;
    return result;
}

}  // namespace mnnc
