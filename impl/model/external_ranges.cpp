// Reads the entries that locate arrays in the external file, and floats of that file.
#include "model/external_ranges.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/half.h"

namespace mnnc {

bool isExternal(const ExternalEntries* entries) {
    return entries && entries->size() > 1;
}

int64_t externalEntry(const ExternalEntries* entries, uint32_t i) {
    return entries && i < entries->size() ? entries->Get(i) : 0;
}

StoredBytes externalRange(const ExternalEntries* entries, uint32_t range, const WeightFiles& files,
                          const char* opName) {
    if (entries->size() > 5)
        fail(Status::BadWeights, "operator '%s': external has %u entries, at most 5 are known", opName,
             entries->size());
    int64_t offset = entries->Get(0);
    for (uint32_t i = 1; i < range; ++i) {
        if (externalEntry(entries, i) < 0)
            fail(Status::BadWeights, "operator '%s': external entry %u is %lld, which is negative", opName, i,
                 asLong(externalEntry(entries, i)));
        offset = checkedAdd(offset, externalEntry(entries, i), "external weight range");
    }
    const int64_t bytes = externalEntry(entries, range);
    if (bytes == 0) return {};
    if (!files.external)
        fail(Status::FileNotExist, "operator '%s' keeps its weights in an external file, and the model has none",
             opName);
    return files.external->range(offset, bytes, opName);
}

void requireMultiple(const StoredBytes& bytes, size_t unit, const char* what, const char* opName) {
    if (bytes.size() % unit != 0)
        fail(Status::BadWeights, "operator '%s': the external %s has %zu bytes, a multiple of %zu is needed", opName,
             what, bytes.size(), unit);
}

FloatView floatsFrom(const StoredBytes& stored, const char* what, const char* opName) {
    requireMultiple(stored, sizeof(float), what, opName);
    return FloatView::hold(stored.read());
}

std::vector<float> halvesFrom(std::span<const uint8_t> bytes) {
    std::vector<float> values(bytes.size() / 2);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = halfToFloat(static_cast<uint16_t>(bytes[2 * i] | (bytes[2 * i + 1] << 8)));
    return values;
}

}  // namespace mnnc
