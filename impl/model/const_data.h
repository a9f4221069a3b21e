// The content of a Blob (Const, TrainableParam and blobs inside parameter tables), ready to become a tensor.
// Bytes in memory are borrowed from the model or the external file when they can be used as they are.
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
    bool left = false;          // the bytes are still in the file, see Large
    std::span<const uint8_t> bytes;
    std::vector<uint8_t> owned;        // behind `bytes` when the data had to be converted or moved
    std::shared_ptr<const void> read;  // behind `bytes` when they were read from a file

    ConstData() = default;
    ConstData(ConstData&&) noexcept = default;  // a moved vector keeps its address
    ConstData& operator=(ConstData&&) noexcept = default;
    ConstData(const ConstData&) = delete;
    ConstData& operator=(const ConstData&) = delete;
};

// The number of elements, 0 when an extent is not positive. Throws BadParameter above rank 9, or Overflow.
int64_t blobElementCount(const wire::Blob& blob, const char* opName);

// Of a large array that is not in memory: read it, or only check that it is there.
enum class Large { Read, Leave };

// Throws BadWeights when the array is missing or short, BadType for types that are not constants, FileChanged and
// FileReadFailed.
ConstData decodeBlob(const wire::Blob& blob, const WeightFiles& files, const char* opName, Large large = Large::Read);

// Writes `count` elements of decodeBlob()'s type, row-major, into a copy of the file in the type and the layout that
// the file has. base: where the tables of the file lie. Throws NotSupported when the data is not in this file, or
// InputDataError when the file's type cannot hold a value.
void encodeBlob(const wire::Blob& blob, const void* values, int64_t count, const uint8_t* base, std::span<uint8_t> file,
                const char* opName);

// Rule 24 without decoding; used while loading. Unknown types pass: they only fail when used.
void checkBlob(const wire::Blob& blob, const char* opName);

}  // namespace mnnc
