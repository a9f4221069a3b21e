// Decodes Blobs (table Blob of schema/mnn.fbs): half becomes float32, int64 becomes int32 with saturation, packed
// layouts become row-major. Sizes are checked in 64 bits.
#include "model/const_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "base/half.h"
#include "base/rank.h"
#include "model/const_floats.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

using wire::DataType;

struct Source {
    StoredBytes stored;
    int64_t elementSize = 0;  // 0: the type cannot be a constant
    int32_t loadedType = 0;
};

Source sourceOf(const wire::Blob& blob, const ModelBytes* model) {
    const auto source = [&](const auto* vector, int64_t elementSize, DataType loaded) {
        return Source{bytesOf(vector, model), elementSize, static_cast<int32_t>(loaded)};
    };
    switch (blob.dataType()) {
        case DataType::DT_FLOAT:
            return source(blob.float32s(), 4, DataType::DT_FLOAT);
        case DataType::DT_HALF:
            return source(blob.uint8s(), 2, DataType::DT_FLOAT);
        case DataType::DT_BFLOAT16:
            return source(blob.uint8s(), 2, DataType::DT_BFLOAT16);
        case DataType::DT_INT32:
            return source(blob.int32s(), 4, DataType::DT_INT32);
        case DataType::DT_UINT8:
        case DataType::DT_QUINT8:
            return source(blob.uint8s(), 1, DataType::DT_UINT8);
        case DataType::DT_INT8:
            return source(blob.int8s(), 1, DataType::DT_INT8);
        case DataType::DT_INT64:
            return source(blob.int64s(), 8, DataType::DT_INT32);
        default:
            return {};
    }
}

bool liesInExternalFile(const wire::Blob& blob) {
    return vectorSize(blob.external()) > 1;
}

// Constants tagged NC4HW4 are stored as [ceil(C/4)][N][plane][4], because the writer computes with that layout.
constexpr int64_t kChannelBlock = 4;

bool isPacked(const wire::Blob& blob) {
    return blob.dataFormat() == wire::MNN_DATA_FORMAT::NC4HW4 && vectorSize(blob.dims()) >= 2;
}

// Returns the number of elements in the file, including those that fill up the last block.
int64_t storedCount(const wire::Blob& blob, const char* opName) {
    const int64_t count = blobElementCount(blob, opName);
    if (count == 0 || !isPacked(blob)) return count;
    const int64_t channels = blob.dims()->Get(1);
    return checkedMul(count / channels, roundUp(channels, kChannelBlock), "extents of a constant");
}

int64_t neededBytes(const wire::Blob& blob, const Source& from, const char* opName) {
    return checkedMul(storedCount(blob, opName), from.elementSize, "bytes of a constant");
}

// Returns the row-major bytes of a packed constant with elements of `width` bytes.
std::vector<uint8_t> unpacked(const wire::Blob& blob, std::span<const uint8_t> packed, int64_t count, int64_t width) {
    const int64_t batch = blob.dims()->Get(0), channels = blob.dims()->Get(1), plane = count / batch / channels;
    std::vector<uint8_t> result(static_cast<size_t>(count * width));
    uint8_t* to = result.data();
    for (int64_t n = 0; n < batch; ++n)
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < plane; ++i, to += width) {
                const int64_t at = ((c / kChannelBlock * batch + n) * plane + i) * kChannelBlock + c % kChannelBlock;
                std::memcpy(to, packed.data() + at * width, static_cast<size_t>(width));
            }
    return result;
}

void requireBytes(int64_t found, int64_t needed, const char* opName) {
    if (found < needed)
        fail(Status::BadWeights, "operator '%s': the constant has %lld bytes, its shape needs %lld", opName,
             asLong(found), asLong(needed));
}

// Locates the array, and checks that it has as many bytes as its shape needs.
Source checkedSource(const wire::Blob& blob, const WeightFiles& files, const char* opName) {
    Source from = sourceOf(blob, files.model);
    if (from.elementSize == 0)
        fail(Status::BadType, "operator '%s': constants of data type %d cannot be loaded", opName,
             static_cast<int>(blob.dataType()));
    const int64_t needed = neededBytes(blob, from, opName);
    if (needed > 0 && from.stored.empty() && liesInExternalFile(blob)) {
        if (!files.external)
            fail(Status::FileNotExist, "operator '%s' keeps its data in an external file, and the model has none",
                 opName);
        from.stored = files.external->range(blob.external()->Get(0), blob.external()->Get(1), opName);
    }
    requireBytes(static_cast<int64_t>(from.stored.size()), needed, opName);
    from.stored = from.stored.head(static_cast<size_t>(needed));
    return from;
}

template <typename T>
T readAt(const uint8_t* data, int64_t i) {
    T value;
    std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
}

}  // namespace

int64_t blobElementCount(const wire::Blob& blob, const char* opName) {
    const int64_t rank = vectorSize(blob.dims());
    if (rank > kMaxRank)
        fail(Status::BadParameter, "operator '%s': the constant has rank %lld, at most %d is possible", opName,
             asLong(rank), kMaxRank);
    int64_t count = 1;
    for (uint32_t i = 0; i < static_cast<uint32_t>(rank); ++i)
        if (blob.dims()->Get(i) <= 0) return 0;
    for (uint32_t i = 0; i < static_cast<uint32_t>(rank); ++i)
        count = checkedMul(count, blob.dims()->Get(i), "extents of a constant");
    return count;
}

void checkBlob(const wire::Blob& blob, const char* opName) {
    const Source from = sourceOf(blob, nullptr);
    const int64_t needed = from.elementSize ? neededBytes(blob, from, opName) : 0;
    if (needed == 0) return;
    const auto inside = static_cast<int64_t>(from.stored.size());
    requireBytes(liesInExternalFile(blob) && inside == 0 ? blob.external()->Get(1) : inside, needed, opName);
}

// Constants up to this many bytes are copied: otherwise each would keep pages of the mapped file in memory.
constexpr int64_t kSmall = 8192;

namespace {

// Encodes one element of the loaded type as the file's type.
void encodeElement(wire::DataType type, const uint8_t* from, uint8_t* to, const char* opName) {
    if (type == DataType::DT_HALF) {
        const float value = readAt<float>(from, 0);
        const uint16_t half = floatToHalf(value);
        if (std::isfinite(value) && !std::isfinite(halfToFloat(half)))
            fail(Status::InputDataError, "operator '%s': %g does not fit the half floats of the file", opName,
                 static_cast<double>(value));
        std::memcpy(to, &half, sizeof half);
    } else {
        const int64_t wide = readAt<int32_t>(from, 0);
        std::memcpy(to, &wide, sizeof wide);
    }
}

}  // namespace

void encodeBlob(const wire::Blob& blob, const void* values, int64_t count, const uint8_t* base, std::span<uint8_t> file,
                const char* opName) {
    if (count == 0) return;
    const Source to = sourceOf(blob, nullptr);
    const uint8_t* stored = to.stored.empty() ? nullptr : to.stored.read().bytes.data();
    if (!stored)
        fail(Status::NotSupported,
             "operator '%s' keeps its values in the file of external weights, which cannot be changed", opName);
    const auto offset = static_cast<size_t>(stored - base);
    const int64_t needed = neededBytes(blob, to, opName);
    if (count != blobElementCount(blob, opName) || static_cast<int64_t>(to.stored.size()) < needed ||
        offset > file.size() || static_cast<int64_t>(file.size() - offset) < needed)
        fail(Status::Internal, "operator '%s': %lld values do not fit their place in the file", opName, asLong(count));
    uint8_t* target = file.data() + offset;
    const bool converts = blob.dataType() == DataType::DT_HALF || blob.dataType() == DataType::DT_INT64;
    const int64_t own = converts ? 4 : to.elementSize;
    const auto* source = static_cast<const uint8_t*>(values);
    const int64_t channels = isPacked(blob) ? blob.dims()->Get(1) : 1, batch = isPacked(blob) ? blob.dims()->Get(0) : 1,
                  plane = count / channels / batch;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t n = i / plane / channels, c = i / plane % channels;
        const int64_t at =
            isPacked(blob) ? ((c / kChannelBlock * batch + n) * plane + i % plane) * kChannelBlock + c % kChannelBlock
                           : i;
        if (converts)
            encodeElement(blob.dataType(), source + i * own, target + at * to.elementSize, opName);
        else
            std::memcpy(target + at * own, source + i * own, static_cast<size_t>(own));
    }
}

std::optional<StoredBytes> plainFloats(const wire::Blob& blob, const WeightFiles& files, const char* opName) {
    if (blob.dataType() != DataType::DT_FLOAT || isPacked(blob)) return std::nullopt;
    return checkedSource(blob, files, opName).stored;
}

ConstData decodeBlob(const wire::Blob& blob, const WeightFiles& files, const char* opName, Large large) {
    const Source from = checkedSource(blob, files, opName);
    ConstData result;
    if (blob.dims()) result.dims.assign(blob.dims()->begin(), blob.dims()->end());
    result.dataType = from.loadedType;
    result.dataFormat = static_cast<int32_t>(blob.dataFormat());
    result.count = blobElementCount(blob, opName);
    const auto needed = static_cast<int64_t>(from.stored.size());
    if (needed == 0) return result;
    result.left = large == Large::Leave && needed > kSmall && !from.stored.inMemory();
    if (result.left) return result;
    HeldBytes held = from.stored.read();
    const uint8_t* data = held.bytes.data();
    std::vector<uint8_t> rowMajor;
    if (isPacked(blob)) {
        rowMajor = unpacked(blob, held.bytes, result.count, from.elementSize);
        data = rowMajor.data();
    }
    const int64_t denseBytes = result.count * from.elementSize;

    const auto own = [&](int64_t bytes) {
        result.owned.resize(static_cast<size_t>(bytes));
        result.bytes = result.owned;
        return result.owned.data();
    };
    if (blob.dataType() == DataType::DT_HALF) {
        uint8_t* out = own(checkedMul(result.count, 4, "bytes of a constant"));
        for (int64_t i = 0; i < result.count; ++i) {
            const float value = halfToFloat(readAt<uint16_t>(data, i));
            std::memcpy(out + 4 * i, &value, sizeof value);
        }
    } else if (blob.dataType() == DataType::DT_INT64) {
        uint8_t* out = own(checkedMul(result.count, 4, "bytes of a constant"));
        for (int64_t i = 0; i < result.count; ++i) {
            const int64_t wide = readAt<int64_t>(data, i);
            const int32_t value = static_cast<int32_t>(
                std::clamp<int64_t>(wide, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
            std::memcpy(out + 4 * i, &value, sizeof value);
        }
    } else if (!rowMajor.empty()) {
        result.owned = std::move(rowMajor);
        result.bytes = result.owned;
    } else if (denseBytes <= kSmall ||
               reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(from.elementSize) != 0) {
        std::memcpy(own(denseBytes), data, static_cast<size_t>(denseBytes));
    } else {
        result.bytes = held.bytes;
        result.read = std::move(held.owner);
    }
    return result;
}

}  // namespace mnnc
