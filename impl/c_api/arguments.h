// Checks arguments of public functions: pointers, buffers, and structs that begin with their size. All
// libraries use it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/error.h"

namespace mnnc {

template <typename T>
T& required(T* pointer, const char* name) {
    if (!pointer) fail(Status::NullArgument, "argument '%s' is NULL", name);
    return *pointer;
}

// Fills a caller's buffer by the rules under Buffers in mnn_c.h. `needed` is its out-pointer.
template <typename T>
void fillBuffer(T* buffer, size_t capacity, size_t* needed, const T* source, size_t count, const char* what) {
    if (capacity > 0) required(buffer, "buffer");
    required(needed, "needed") = count;
    if (capacity == 0) return;
    if (capacity < count)
        fail(Status::BufferTooSmall, "%s needs a buffer of %zu %s, the buffer has %zu", what, count,
             sizeof(T) == 1 ? "bytes" : "elements", capacity);
    if (count > 0) std::memcpy(buffer, source, count * sizeof(T));
}

// No struct of this interface grows beyond this size.
constexpr size_t kMaxStructSize = 4096;

// Checks the first field of a caller's struct, which is the size that the caller knows. `smallest`: the size of the
// struct's first version.
inline void checkStructSize(size_t given, size_t smallest, const char* name) {
    if (given < smallest)
        fail(Status::VersionMismatch,
             "%s.struct_size is %zu; the first version of the struct has %zu bytes (its init function, or sizeof, "
             "gives the size)",
             name, given, smallest);
    if (given > kMaxStructSize)
        fail(Status::VersionMismatch, "%s.struct_size is %zu; no struct of this library is larger than %zu bytes", name,
             given, kMaxStructSize);
}

// Reads a struct that the caller filled. A newer caller may fill fields that this version does not know: they have to
// be zero, because ignoring them silently would be wrong.
template <typename T>
T readStruct(const T& given, size_t smallest, const char* name) {
    checkStructSize(given.struct_size, smallest, name);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
    for (size_t i = sizeof(T); i < given.struct_size; ++i)
        if (bytes[i])
            fail(Status::VersionMismatch,
                 "%s has a field at byte %zu that this version of the library does not know (it knows %zu bytes)", name,
                 i, sizeof(T));
    T result{};
    std::memcpy(&result, &given, std::min(given.struct_size, sizeof(T)));
    return result;
}

// The body of the init functions.
template <typename T>
void initStruct(T* out, size_t size, size_t smallest, const char* name) {
    checkStructSize(size, smallest, name);
    std::memset(static_cast<void*>(out), 0, size);
    out->struct_size = size;
}

// Copies the fields that the caller knows; its struct_size is not changed.
template <typename T>
void writeStruct(T* out, T value) {
    const size_t size = out->struct_size;
    value.struct_size = size;
    std::memcpy(out, &value, std::min(size, sizeof(T)));
}

}  // namespace mnnc
