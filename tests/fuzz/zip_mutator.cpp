// Half of the mutations change a field of a zip file's headers, which are few of its bytes; the others change arbitrary
// bytes.
#include <algorithm>

#include "random.h"
#include "target.h"

namespace {

constexpr size_t kHeaderBytes = 46;  // of the longest fixed part

// Returns the start of a header at or behind a place, else the size.
size_t headerFrom(const uint8_t* data, size_t size, size_t place) {
    for (size_t at = place; at + 4 <= size; ++at)
        if (data[at] == 'P' && data[at + 1] == 'K' && data[at + 2] < 8 && data[at + 3] < 9) return at;
    return size;
}

}  // namespace

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed) {
    fuzz::Random random(seed);
    // Headers of the directory and the end are close together; those of members are found from any place.
    const size_t tail = std::min<size_t>(size, 1024);
    const size_t place = random.below(2) ? size - tail + random.below(tail) : random.below(size);
    const size_t header = random.below(2) ? headerFrom(data, size, place) : size;
    if (header == size) return LLVMFuzzerMutate(data, size, maxSize);
    for (size_t changes = 1 + random.below(2); changes > 0; --changes) {
        const size_t at = header + random.below(std::min(kHeaderBytes, size - header));
        const size_t width = std::min<size_t>(size_t{1} << random.below(3), size - at);
        const uint64_t number = random.number();
        for (size_t i = 0; i < width; ++i) data[at + i] = static_cast<uint8_t>(number >> 8 * i);
    }
    return size;
}
