// Determines forms, counts and parts of convolutions' weights, without decoding them.
#include "model/weight_form.h"

#include <cstring>

#include "base/error.h"
#include "model/external_ranges.h"
#include "model/idst_stream.h"
#include "model/structure.h"

namespace mnnc {

namespace {

bool hasIndex(const wire::Convolution2D& conv) {
    const auto* quan = conv.quanParameter();
    return quan &&
           (vectorSize(quan->index()) > 0 || (isExternal(conv.external()) && externalEntry(conv.external(), 4) > 0));
}

}  // namespace

bool hasWeightBuffer(const wire::Convolution2D& conv) {
    const auto* quan = conv.quanParameter();
    return quan &&
           (vectorSize(quan->buffer()) > 0 || (isExternal(conv.external()) && externalEntry(conv.external(), 1) > 0));
}

StoredBytes weightBuffer(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    const StoredBytes inside = bytesOf(conv.quanParameter()->buffer(), files.model);
    if (!inside.empty() || !isExternal(conv.external())) return inside;
    return externalRange(conv.external(), 1, files, opName);
}

HeldBytes weightBufferHead(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    return weightBuffer(conv, files, opName).head(kFetchedHead).read();
}

StoredBytes storedAlpha(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    const auto* quan = conv.quanParameter();
    const bool half = quan->scaleStorage() == wire::ScaleStorageType::FP16;
    StoredBytes stored = half ? bytesOf(quan->alphaFp16(), files.model) : bytesOf(quan->alpha(), files.model);
    if (stored.empty() && isExternal(conv.external())) stored = externalRange(conv.external(), 2, files, opName);
    requireMultiple(stored, half ? 2 : sizeof(float), "alpha", opName);
    return stored;
}

FloatView weightAlpha(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    const StoredBytes stored = storedAlpha(conv, files, opName);
    if (conv.quanParameter()->scaleStorage() != wire::ScaleStorageType::FP16)
        return floatsFrom(stored, "alpha", opName);
    return FloatView::own(halvesFrom(stored.read().bytes));
}

std::vector<uint32_t> weightIndex(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName) {
    StoredBytes stored = bytesOf(conv.quanParameter()->index(), files.model);
    if (stored.empty() && isExternal(conv.external())) stored = externalRange(conv.external(), 4, files, opName);
    requireMultiple(stored, sizeof(uint32_t), "index", opName);
    std::vector<uint32_t> index(stored.size() / sizeof(uint32_t));
    if (!index.empty()) std::memcpy(index.data(), stored.read().bytes.data(), stored.size());
    return index;
}

void requireCount(int64_t found, int64_t expected, const char* opName) {
    if (expected >= 0 && found != expected)
        fail(Status::BadWeights, "operator '%s': %lld weights are stored, its shape needs %lld", opName, asLong(found),
             asLong(expected));
}

WeightForm convWeightForm(const wire::Convolution2D& conv, const char* opName) {
    const auto* quan = conv.quanParameter();
    if (quan) {
        const int32_t type = quan->type();
        if (type < 0 || type > 4)
            fail(Status::BadWeights, "operator '%s': the compressed weights have the unknown type %d", opName, type);
        if (hasIndex(conv)) return WeightForm::SparseFloat;
        if (hasWeightBuffer(conv)) {
            if (type == 3) return WeightForm::Half;
            if (type != 0) return WeightForm::Codes;
        }
    }
    if (conv.symmetricQuan() && vectorSize(conv.symmetricQuan()->weight()) > 0) return WeightForm::RawInt8;
    if (vectorSize(conv.weight()) > 0) return WeightForm::Plain;
    if (quan && hasWeightBuffer(conv))
        fail(Status::BadWeights, "operator '%s': the compressed weight buffer has type 0, 1 to 4 are needed", opName);
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
            return vectorSize(conv.weight()) > 0 ? vectorSize(conv.weight()) : externalEntry(conv.external(), 1) / 4;
        case WeightForm::Half:
            return streamBytes() / 2;
        case WeightForm::Codes:
            if (quan->type() == 4) return streamBytes();
            if (vectorSize(quan->buffer()) == 0 && inFile) return -1;
            return readIdstHead(weightBufferHead(conv, files, opName).bytes, quan->shapeInt32(), opName).count;
    }
    return -1;
}

}  // namespace mnnc
