// Converts elements between types of hosts and types of tensors.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mnnc {

// "float32", ...; null for numbers other than MNN_TYPE_*.
const char* hostTypeName(int32_t type) noexcept;

// The size of an element of MNN_TYPE_*. Throws InvalidValue for other numbers.
size_t hostElementBytes(int32_t type);

// Converts elements between two of MNN_TYPE_*, at any alignment. When a value does not fit, throws InputDataError
// before anything is written: an integer out of range, a fraction or a NaN for an integer, a finite number that would
// become infinite. `name` is the tensor's.
void convertElements(const void* from, int32_t fromType, void* to, int32_t toType, size_t count, const char* name);

}  // namespace mnnc
