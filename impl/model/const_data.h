// The content of a Blob (Const, TrainableParam and blobs inside parameter tables), ready to become a tensor. Bytes in
// memory are borrowed from the model or the external file where no conversion is needed.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/external_file.h"

namespace mnnc {

namespace wire {
struct Blob;
}

struct ConstData {
    std::vector<int32_t> dims;  // empty = scalar
    int32_t dataType = 0;       // after loading: FLOAT 1, INT32 3, UINT8 4, INT8 6 or BFLOAT16 14
    int32_t dataFormat = 0;     // NCHW 0, NHWC 1, NC4HW4 2
    int64_t count = 0;          // elements; 0 when an extent is not positive
    bool left = false;          // the bytes were left in the file, see Large
    std::span<const uint8_t> bytes;
    std::vector<uint8_t> owned;        // owns `bytes` when the data had to be converted or moved
    std::shared_ptr<const void> read;  // owns `bytes` when they were read from a file

    ConstData() = default;
    ConstData(ConstData&&) noexcept = default;  // a moved vector keeps its address
    ConstData& operator=(ConstData&&) noexcept = default;
    ConstData(const ConstData&) = delete;
    ConstData& operator=(const ConstData&) = delete;
};

// Returns the number of elements; 0 when an extent is not positive. Throws BadParameter above kMaxRank, or Overflow.
int64_t blobElementCount(const wire::Blob& blob, const char* opName);

// Whether decodeBlob() reads a large array that is not in memory, or only checks that it exists.
enum class Large { Read, Leave };

// Throws BadWeights when the array is missing or short, BadType for types that are not constants, FileChanged and
// FileReadFailed.
ConstData decodeBlob(const wire::Blob& blob, const WeightFiles& files, const char* opName, Large large = Large::Read);

// Writes `count` row-major elements of decodeBlob()'s type into a copy of the file, in the file's type and layout.
// base: the address of the file's tables. Throws NotSupported when the data is not in this file, or InputDataError when
// the file's type cannot hold a value.
void encodeBlob(const wire::Blob& blob, const void* values, int64_t count, const uint8_t* base, std::span<uint8_t> file,
                const char* opName);

// Checks, without decoding, that the array is at least as long as its shape needs. Unknown types pass: they fail only
// when they are used.
void checkBlob(const wire::Blob& blob, const char* opName);

}  // namespace mnnc
