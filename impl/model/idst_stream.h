// The encoded byte streams of compressed convolution weights (model-format 5.2, 5.3): bytes -> int8 codes. Every read
// is bounded by the buffer; weights.cpp converts the codes to floats.
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

// For type 1.
std::vector<int8_t> decodeCodebook(std::span<const uint8_t> stream, bool wideDims, const char* opName);

// For type 1: whether all codes are -8 to 7. Reads only the head.
bool codebookFitsNibbles(std::span<const uint8_t> stream, bool wideDims, const char* opName);

// For type 2. alpha: the stored values before any correction, from which the zero code of an asymmetric stream follows.
// countLimit bounds the allocation: a sparse stream may claim far more weights than it has bytes.
std::vector<int8_t> decodeSparseCodebook(std::span<const uint8_t> stream, bool wideDims, std::span<const float> alpha,
                                         int64_t countLimit, const char* opName);

}  // namespace mnnc
