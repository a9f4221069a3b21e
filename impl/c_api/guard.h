// The wall: every public function runs its body through guard(), which turns exceptions into a code and keeps
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

template <typename Handle>
Handle& checkHandle(Handle* handle, HandleTag tag, const char* name) {
    if (!handle) fail(Status::NullArgument, "argument '%s' is NULL", name);
    if (handle->tag != tag)
        fail(Status::BadHandle, "argument '%s' is %s", name,
             handle->tag == HandleTag::Dead ? "a destroyed handle" : "a handle of another kind");
    return *handle;
}

inline mnn_interpreter& checked(mnn_interpreter* h) {
    return checkHandle(h, HandleTag::Interpreter, "interpreter");
}
inline const mnn_interpreter& checked(const mnn_interpreter* h) {
    return checkHandle(h, HandleTag::Interpreter, "interpreter");
}
inline mnn_session& checked(mnn_session* h) {
    return checkHandle(h, HandleTag::Session, "session");
}
inline const mnn_session& checked(const mnn_session* h) {
    return checkHandle(h, HandleTag::Session, "session");
}
inline mnn_tensor& checked(mnn_tensor* h) {
    return checkHandle(h, HandleTag::Tensor, "tensor");
}
inline const mnn_tensor& checked(const mnn_tensor* h) {
    return checkHandle(h, HandleTag::Tensor, "tensor");
}

inline void checkIndex(size_t index, size_t count, const char* what) {
    if (index >= count) fail(Status::BadIndex, "%s %zu is asked for, there are %zu", what, index, count);
}

// A caller's struct: its first field tells how much of it the caller knows. The smallest size is that of
// version 0.1.
inline void checkStructSize(size_t given, size_t smallest, const char* name) {
    if (given < smallest)
        fail(Status::VersionMismatch, "%s.struct_size is %zu; the first version of the struct has %zu bytes",
             name, given, smallest);
}

// Copies the fields the caller knows; its struct_size stays as it is.
template <typename T>
void writeStruct(T* out, T value, size_t known) {
    const size_t size = out->struct_size;
    value.struct_size = size;
    std::memcpy(out, &value, std::min(size, known));
}

// Copies a text, cut at a UTF-8 boundary where it does not fit, always zero-terminated. `size` is above 0.
void copyText(char* to, size_t size, const char* text) noexcept;

int32_t publicType(DataType type) noexcept;

}  // namespace mnnc
