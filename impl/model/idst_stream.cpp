// Decodes bit-packed weight codes: most significant bit first, no gaps. 8-bit and 4-bit streams have separate loops
// because nearly all files use them.
#include "model/idst_stream.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.h"
#include "base/error.h"

namespace mnnc {

namespace {

[[noreturn]] void failEnd(const char* opName, size_t streamBytes, const char* what, int64_t count, size_t at) {
    fail(Status::BadWeights, "operator '%s': the weight stream of %zu bytes ends inside its %s (%lld bytes at %zu)",
         opName, streamBytes, what, asLong(count), at);
}

class Reader {
  public:
    Reader(std::span<const uint8_t> bytes, const char* opName) : bytes_(bytes), opName_(opName) {}

    std::span<const uint8_t> take(int64_t count, const char* what) {
        if (count < 0 || static_cast<uint64_t>(count) > bytes_.size() - at_)
            failEnd(opName_, bytes_.size(), what, count, at_);
        const auto part = bytes_.subspan(at_, static_cast<size_t>(count));
        at_ += static_cast<size_t>(count);
        return part;
    }
    uint32_t number(int bytes, const char* what) {
        const auto part = take(bytes, what);
        uint32_t value = 0;
        for (int i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(part[static_cast<size_t>(i)]) << (8 * i);
        return value;
    }
    size_t at() const { return at_; }

  private:
    std::span<const uint8_t> bytes_;
    const char* opName_;
    size_t at_ = 0;
};

int bitsFor(size_t sampleCount) {
    int bits = 1;
    while ((size_t{1} << bits) < sampleCount) ++bits;
    return bits;
}

int64_t packedBytes(int64_t count, int bits) {
    const int64_t all = checkedMul(count, bits, "bits of a weight stream");
    return all / 8 + (all % 8 != 0);
}

// Returns value `index` of a packed stream that has been checked to be long enough; bits: 1 to 8.
uint32_t packedValue(std::span<const uint8_t> packed, int64_t index, int bits) {
    const int64_t bit = index * bits;
    const size_t byte = static_cast<size_t>(bit >> 3);
    uint32_t window = static_cast<uint32_t>(packed[byte]) << 8;
    if (byte + 1 < packed.size()) window |= packed[byte + 1];
    return (window >> (16 - bits - static_cast<int>(bit & 7))) & ((1u << bits) - 1u);
}

std::vector<int8_t> takeSamples(Reader& reader) {
    const uint32_t stored = reader.number(1, "sample count");
    const auto part = reader.take(stored == 0 ? 256 : static_cast<int64_t>(stored), "samples");
    std::vector<int8_t> samples(part.size());
    for (size_t i = 0; i < part.size(); ++i) samples[i] = static_cast<int8_t>(part[i]);
    std::sort(samples.begin(), samples.end());
    return samples;
}

[[noreturn]] void failIndex(const char* opName, uint32_t index, size_t samples) {
    fail(Status::BadWeights, "operator '%s': weight code %u is not below the %zu samples", opName, index, samples);
}

// Returns whether the samples have no gaps: code i then represents the first sample + i.
bool isRun(const std::vector<int8_t>& samples) {
    for (size_t i = 1; i < samples.size(); ++i)
        if (samples[i] != samples[i - 1] + 1) return false;
    return true;
}

}  // namespace

IdstHead readIdstHead(std::span<const uint8_t> stream, bool wideDims, const char* opName) {
    Reader reader(stream, opName);
    const uint32_t rank = reader.number(1, "dims count");
    if (rank < 1 || rank > 4)
        fail(Status::BadWeights, "operator '%s': the weight stream has %u dims, 1 to 4 are valid", opName, rank);
    IdstHead head;
    head.count = 1;
    for (uint32_t i = 0; i < rank; ++i) {
        head.dims.push_back(reader.number(wideDims ? 4 : 2, "dims"));
        if (__builtin_mul_overflow(head.count, int64_t{head.dims.back()}, &head.count))
            fail(Status::BadWeights, "operator '%s': the product of the dims of the weight stream overflows", opName);
    }
    if (head.count < 1) fail(Status::BadWeights, "operator '%s': the weight stream has an extent of 0", opName);
    head.byteLength = reader.at();
    return head;
}

bool codebookFitsNibbles(std::span<const uint8_t> stream, bool wideDims, const char* opName) {
    Reader reader(stream, opName);
    reader.take(static_cast<int64_t>(readIdstHead(stream, wideDims, opName).byteLength), "head");
    const std::vector<int8_t> samples = takeSamples(reader);
    return samples.front() >= -8 && samples.back() <= 7;
}

Codebook::Codebook(std::span<const uint8_t> head, size_t streamBytes, bool wideDims, const char* opName) {
    const IdstHead dims = readIdstHead(head, wideDims, opName);
    Reader reader(head, opName);
    reader.take(static_cast<int64_t>(dims.byteLength), "head");
    samples_ = takeSamples(reader);
    count_ = dims.count;
    bits_ = bitsFor(samples_.size());
    at_ = reader.at();
    const int64_t bytes = packedBytes(count_, bits_);
    if (static_cast<uint64_t>(bytes) > streamBytes - std::min(at_, streamBytes))
        failEnd(opName, streamBytes, "codes", bytes, at_);
}

bool Codebook::isPlain(int bits) const noexcept {
    return bits_ == bits && samples_.size() == size_t{1} << bits && samples_[0] == -(1 << (bits - 1)) &&
           isRun(samples_);
}

void Codebook::decode(std::span<const uint8_t> packed, int64_t wanted, int8_t* to, const char* opName) const {
    // Byte stores may alias members; only local variables stay in registers.
    const uint8_t* const from = packed.data();
    const auto count = static_cast<size_t>(wanted);
    if (bits_ == 8) {
        uint8_t largest = 0;
        if (samples_.size() < 256)
            for (size_t i = 0; i < count; ++i) largest = std::max(largest, from[i]);
        if (largest >= samples_.size()) failIndex(opName, largest, samples_.size());
        if (isRun(samples_)) {
            const auto first = static_cast<uint8_t>(samples_[0]);
            for (size_t i = 0; i < count; ++i) to[i] = static_cast<int8_t>(from[i] + first);
        } else {
            const int8_t* const table = samples_.data();
            for (size_t i = 0; i < count; ++i) to[i] = table[from[i]];
        }
        return;
    }
    // Codes beyond the samples are mapped to a sample here; the running maximum detects them.
    std::array<int8_t, 256> table{};
    std::copy(samples_.begin(), samples_.end(), table.begin());
    uint32_t largest = 0;
    if (bits_ == 4) {
        const size_t pairs = count / 2;
        uint8_t largestOfPairs = 0;
        for (size_t i = 0; i < pairs && samples_.size() < 16; ++i)
            largestOfPairs =
                std::max({largestOfPairs, static_cast<uint8_t>(from[i] >> 4), static_cast<uint8_t>(from[i] & 15)});
        largest = largestOfPairs;
        if (isRun(samples_)) {
            const auto first = static_cast<uint8_t>(samples_[0]);
            for (size_t i = 0; i < pairs; ++i) {
                to[2 * i] = static_cast<int8_t>((from[i] >> 4) + first);
                to[2 * i + 1] = static_cast<int8_t>((from[i] & 15) + first);
            }
        } else {
            for (size_t i = 0; i < pairs; ++i) {
                to[2 * i] = table[from[i] >> 4];
                to[2 * i + 1] = table[from[i] & 15u];
            }
        }
        if (count % 2) {
            const uint32_t high = from[pairs] >> 4;
            largest = std::max(largest, high);
            to[count - 1] = table[high];
        }
    } else {
        for (size_t i = 0; i < count; ++i) {
            const uint32_t index = packedValue(packed, static_cast<int64_t>(i), bits_);
            largest = std::max(largest, index);
            to[i] = table[index];
        }
    }
    if (largest >= samples_.size()) failIndex(opName, largest, samples_.size());
}

std::vector<int8_t> decodeCodebook(std::span<const uint8_t> stream, bool wideDims, const char* opName) {
    const Codebook codebook(stream, stream.size(), wideDims, opName);
    std::vector<int8_t> q(static_cast<size_t>(codebook.count()));
    codebook.decode(stream.subspan(codebook.begin(0), codebook.bytes(codebook.count())), codebook.count(), q.data(),
                    opName);
    return q;
}

std::vector<int8_t> decodeSparseCodebook(std::span<const uint8_t> stream, bool wideDims, std::span<const float> alpha,
                                         int64_t countLimit, const char* opName) {
    const IdstHead head = readIdstHead(stream, wideDims, opName);
    if (head.count > countLimit)
        fail(Status::BadWeights, "operator '%s': the weight stream claims %lld weights, at most %lld fit", opName,
             asLong(head.count), asLong(countLimit));
    Reader reader(stream, opName);
    reader.take(static_cast<int64_t>(head.byteLength), "head");
    const int64_t entries = reader.number(4, "entry count");
    if (entries > head.count)
        fail(Status::BadWeights, "operator '%s' has %lld sparse entries, at most %lld fit", opName, asLong(entries),
             asLong(head.count));
    const int stepBits = static_cast<int>(reader.number(1, "step width"));
    if (stepBits < 1 || stepBits > 8)
        fail(Status::BadWeights, "operator '%s': sparse step width %d is not 1 to 8", opName, stepBits);
    const auto steps = reader.take(packedBytes(entries, stepBits), "steps");
    std::vector<int8_t> samples = takeSamples(reader);
    const int bits = bitsFor(samples.size());  // from the stored count, before duplicates are removed
    samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
    const auto codes = reader.take(packedBytes(entries, bits), "codes");

    std::vector<int8_t> q(static_cast<size_t>(head.count), 0);
    const int64_t rows = head.dims[0];
    if (static_cast<int64_t>(alpha.size()) == 2 * rows) {
        const int64_t rowLength = head.count / rows;
        for (int64_t row = 0; row < rows; ++row) {
            const float min = alpha[static_cast<size_t>(2 * row)];
            const float scale = alpha[static_cast<size_t>(2 * row + 1)];
            int64_t zero = -(int64_t{1} << (bits - 1));
            if (scale > 1e-6f) {
                const float code = std::round(-min / scale);
                if (!(std::fabs(code) < 1e9f))
                    fail(Status::BadWeights, "operator '%s': row %lld has no zero code (min %g, scale %g)", opName,
                         asLong(row), static_cast<double>(min), static_cast<double>(scale));
                zero += static_cast<int64_t>(code);
            }
            std::fill_n(q.begin() + row * rowLength, rowLength, static_cast<int8_t>(static_cast<uint8_t>(zero & 0xff)));
        }
    }
    int64_t position = 0;
    for (int64_t i = 0; i < entries; ++i) {
        position += packedValue(steps, i, stepBits);
        if (position >= head.count)
            fail(Status::BadWeights, "operator '%s': sparse entry %lld lies at %lld of %lld weights", opName, asLong(i),
                 asLong(position), asLong(head.count));
        const uint32_t index = packedValue(codes, i, bits);
        if (index >= samples.size()) failIndex(opName, index, samples.size());
        q[static_cast<size_t>(position)] = samples[index];
    }
    return q;
}

}  // namespace mnnc
