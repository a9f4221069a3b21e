// Decodes the byte streams of compressed convolution weights (IDSTQuan.buffer of schema/mnn.fbs) to int8 codes. Each
// stream has a head: the number of dims (a byte) and the dims (16 or 32 bits each).
// Type 1 continues with the number of samples (a byte; 0 means 256), the samples, and an index of a sample per weight.
// Type 2 continues with the number of stored weights (32 bits), the width of a step (a byte), a step from one stored
// weight to the next for each, samples as in type 1, and an index of a sample per stored weight.
// Numbers are little-endian; steps and indices are packed without gaps. Every read is bounded by the buffer.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mnnc {

enum class IdstType : int32_t { None = 0, Codebook = 1, SparseCodebook = 2, Half = 3, RawInt8 = 4 };

struct IdstHead {
    std::vector<int64_t> dims;
    int64_t count = 0;      // product of dims: the number of weights
    size_t byteLength = 0;  // where the body starts
};

// For types 1 and 2. Throws BadWeights or Overflow.
IdstHead readIdstHead(std::span<const uint8_t> stream, bool wideDims, const char* opName);

// A stream of type 1 whose codes are decoded in parts.
class Codebook {
  public:
    // `head`: the beginning of the stream with its head and samples; streamBytes: the length of the whole stream.
    // Throws BadWeights or Overflow.
    Codebook(std::span<const uint8_t> head, size_t streamBytes, bool wideDims, const char* opName);

    int64_t count() const noexcept { return count_; }
    // Whether parts of the stream can be decoded, from any byte on. Other streams are decoded as a whole.
    bool hasParts() const noexcept { return bits_ == 8 || bits_ == 4; }
    // Whether each code is stored as its distance from the minimum signed number of `bits` bits, and all such numbers
    // may occur.
    bool isPlain(int bits) const noexcept;
    // Return the place of code `first` in the stream, and the bytes of `count` codes; with 4 bits `first` is even.
    size_t begin(int64_t first) const noexcept { return at_ + static_cast<size_t>(first * bits_ / 8); }
    size_t bytes(int64_t count) const noexcept { return static_cast<size_t>((count * bits_ + 7) / 8); }
    // Decodes the first `count` codes of these bytes. Throws BadWeights.
    void decode(std::span<const uint8_t> packed, int64_t count, int8_t* to, const char* opName) const;

  private:
    int64_t count_ = 0;
    int bits_ = 0;
    size_t at_ = 0;  // where the codes begin
    std::vector<int8_t> samples_;
};

// For type 1.
std::vector<int8_t> decodeCodebook(std::span<const uint8_t> stream, bool wideDims, const char* opName);

// For type 1: whether all codes are -8 to 7. Reads only the head.
bool codebookFitsNibbles(std::span<const uint8_t> stream, bool wideDims, const char* opName);

// For type 2. alpha: the stored values before any correction, from which the zero code of an asymmetric stream follows.
// countLimit bounds the allocation: a sparse stream may claim far more weights than it has bytes.
std::vector<int8_t> decodeSparseCodebook(std::span<const uint8_t> stream, bool wideDims, std::span<const float> alpha,
                                         int64_t countLimit, const char* opName);

}  // namespace mnnc
