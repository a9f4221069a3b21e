// The boundary: every public function runs its body through guard(), which turns exceptions into a code and keeps
// the sentence for mnn_last_error().
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>

#include "base/error.h"
#include "c_api/handles.h"

namespace mnnc {

constexpr size_t kErrorBytes = 1024;  // of a sentence, its terminating zero included

// Keeps the sentence for this thread; cut at a UTF-8 boundary when it is too long.
void setLastError(const char* message) noexcept;

template <typename Body>
mnn_status guard(Body&& body) noexcept {
    try {
        body();
        return MNN_OK;
    } catch (const Error& error) {
        setLastError(error.what());
        return static_cast<mnn_status>(error.status());
    } catch (const std::bad_alloc&) {
        setLastError("the host has no more memory");
        return MNN_ERROR_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        setLastError(error.what());
        return MNN_ERROR_INTERNAL;
    } catch (...) {
        setLastError("an unknown exception reached the C boundary");
        return MNN_ERROR_INTERNAL;
    }
}

template <typename T>
T& required(T* pointer, const char* name) {
    if (!pointer) fail(Status::NullArgument, "argument '%s' is NULL", name);
    return *pointer;
}

// Fills a caller's buffer by the rules that mnn_c.h states under Buffers. `needed` is its out-pointer.
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

// The same for the extents of a shape. `rank` is its out-pointer.
inline void fillShape(int32_t* dims, size_t capacity, size_t* rank, const Shape& shape, const char* what) {
    int32_t extents[kMaxRank];
    for (int i = 0; i < shape.rank(); ++i) extents[i] = static_cast<int32_t>(shape[i]);
    fillBuffer(dims, capacity, rank, extents, static_cast<size_t>(shape.rank()), what);
}

inline void checkIndex(size_t index, size_t count, const char* what) {
    if (index >= count) fail(Status::BadIndex, "%s %zu is asked for, there are %zu", what, index, count);
}

// No struct of this interface grows beyond this.
constexpr size_t kMaxStructSize = 4096;

// A caller's struct: its first field says how much of it the caller knows. `smallest`: the size of its first version.
inline void checkStructSize(size_t given, size_t smallest, const char* name) {
    if (given < smallest)
        fail(Status::VersionMismatch,
             "%s.struct_size is %zu; the first version of the struct has %zu bytes (its init function, or "
             "sizeof, "
             "gives the size)",
             name, given, smallest);
    if (given > kMaxStructSize)
        fail(Status::VersionMismatch,
             "%s.struct_size is %zu; no struct of this library is larger than %zu bytes", name, given,
             kMaxStructSize);
}

// Reads a struct that the caller filled. What a newer caller wrote behind the known fields would be lost without a
// word, so it has to be zero.
template <typename T>
T readStruct(const T& given, size_t smallest, const char* name) {
    checkStructSize(given.struct_size, smallest, name);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
    for (size_t i = sizeof(T); i < given.struct_size; ++i)
        if (bytes[i])
            fail(Status::VersionMismatch,
                 "%s has a field at byte %zu that this version of the library does not know (it knows %zu "
                 "bytes)",
                 name, i, sizeof(T));
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

// Copies the fields the caller knows; its struct_size stays as it is.
template <typename T>
void writeStruct(T* out, T value) {
    const size_t size = out->struct_size;
    value.struct_size = size;
    std::memcpy(out, &value, std::min(size, sizeof(T)));
}

// Copies a text, cut at a UTF-8 boundary where it does not fit, always zero-terminated. `size` is above 0.
void copyText(char* to, size_t size, const char* text) noexcept;

// Whether a number that a callback of the host returned is MNN_OK or one of MNN_ERROR_*.
bool isStatus(mnn_status status) noexcept;

int32_t publicType(DataType type) noexcept;

inline Format readFormat(int32_t format) {
    if (format < MNN_FORMAT_NCHW || format > MNN_FORMAT_NC4HW4)
        fail(Status::InvalidValue, "format %d is not one of NCHW (0), NHWC (1) and NC4HW4 (2)", format);
    return static_cast<Format>(format);
}

}  // namespace mnnc
