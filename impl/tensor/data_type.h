// Element types and dimension formats of tensors at run time.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mnnc {

enum class DataType : int32_t { Float32 = 0, Int32 = 1, Int8 = 2, UInt8 = 3, Int16 = 4, UInt16 = 5, BFloat16 = 6 };

// Order of the extents (numbers of the wire format). NC4HW4 lists its extents like NCHW; Storage::channelBlock, not the
// format, defines how a tensor is stored.
enum class Format : int32_t { NCHW = 0, NHWC = 1, NC4HW4 = 2 };

constexpr size_t elementBytes(DataType type) {
    switch (type) {
        case DataType::Float32:
        case DataType::Int32:
            return 4;
        case DataType::Int16:
        case DataType::UInt16:
        case DataType::BFloat16:
            return 2;
        case DataType::Int8:
        case DataType::UInt8:
            return 1;
    }
    return 0;
}

const char* dataTypeName(DataType type) noexcept;
const char* formatName(Format format) noexcept;

// Returns the run-time type of a wire DataType number (FLOAT, DOUBLE -> Float32; INT64, BOOL, QINT32 -> Int32; ...).
// Throws BadType for a number that no tensor can have; `what` names the operator or tensor.
DataType dataTypeFromWire(int32_t wireType, const char* what);

}  // namespace mnnc
