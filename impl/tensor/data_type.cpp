// Names and element sizes of data types.
#include "tensor/data_type.h"

#include <iterator>

#include "base/error.h"

namespace mnnc {

const char* dataTypeName(DataType type) noexcept {
    static constexpr const char* kNames[] = {"float32", "int32", "int8", "uint8", "int16", "uint16", "bfloat16"};
    return static_cast<size_t>(type) < std::size(kNames) ? kNames[static_cast<size_t>(type)] : "invalid";
}

const char* formatName(Format format) noexcept {
    static constexpr const char* kNames[] = {"NCHW", "NHWC", "NC4HW4"};
    return static_cast<size_t>(format) < std::size(kNames) ? kNames[static_cast<size_t>(format)] : "invalid";
}

DataType dataTypeFromWire(int32_t wireType, const char* what) {
    switch (wireType) {
        case 1:   // FLOAT
        case 2:   // DOUBLE
        case 19:  // HALF: constants are widened while loading
            return DataType::Float32;
        case 3:   // INT32
        case 9:   // INT64
        case 10:  // BOOL
        case 13:  // QINT32
            return DataType::Int32;
        case 4:   // UINT8
        case 12:  // QUINT8
            return DataType::UInt8;
        case 6:   // INT8
        case 11:  // QINT8
            return DataType::Int8;
        case 5:   // INT16
        case 15:  // QINT16
            return DataType::Int16;
        case 16:  // QUINT16
        case 17:  // UINT16
            return DataType::UInt16;
        case 14:
            return DataType::BFloat16;
        default:
            fail(Status::BadType, "%s: data type %d cannot be the type of a tensor", what, wireType);
    }
}

}  // namespace mnnc
