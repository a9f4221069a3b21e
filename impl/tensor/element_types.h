// Calls a generic function with a value of the C++ type of a tensor's elements: `[&]<typename T>(T) { ... }`.
#pragma once
#include "tensor/data_type.h"

namespace mnnc {

// Takes integer types; any other type counts as int32.
template <typename Body>
auto withInteger(DataType type, const Body& body) {
    switch (type) {
        case DataType::Int8:
            return body(int8_t{});
        case DataType::UInt8:
            return body(uint8_t{});
        case DataType::Int16:
            return body(int16_t{});
        case DataType::UInt16:
            return body(uint16_t{});
        default:
            return body(int32_t{});
    }
}

// Takes float32, too.
template <typename Body>
auto withNumber(DataType type, const Body& body) {
    return type == DataType::Float32 ? body(float{}) : withInteger(type, body);
}

// Passes an unsigned integer of the size of the elements, for code that only moves them.
template <typename Body>
auto withBits(DataType type, const Body& body) {
    switch (elementBytes(type)) {
        case 4:
            return body(uint32_t{});
        case 2:
            return body(uint16_t{});
        default:
            return body(uint8_t{});
    }
}

}  // namespace mnnc
