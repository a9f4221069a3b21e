// The boundary: every public function runs its body through guard(), which turns exceptions into a status and keeps the
// sentence for mnn_last_error().
#pragma once
#include <cstddef>
#include <cstring>
#include <string>

#include "base/boundary.h"
#include "c_api/arguments.h"
#include "c_api/handles.h"

namespace mnnc {

constexpr size_t kErrorBytes = 1024;  // of a sentence, including its terminating zero

// Keeps the sentence for this thread; cuts it at a UTF-8 boundary when it is too long.
void setLastError(const char* message) noexcept;

template <typename Body>
mnn_status guard(Body&& body) noexcept {
    return static_cast<mnn_status>(statusOf(setLastError, body));
}

// Requires success of another public function, whose sentence is passed on.
inline void requireSuccess(mnn_status status) {
    if (status != MNN_OK) fail(static_cast<Status>(status), "%s", std::string(mnn_last_error()).c_str());
}

// Fills a buffer with the extents of a shape. `rank` is its out-pointer.
inline void fillShape(int32_t* dims, size_t capacity, size_t* rank, const Shape& shape, const char* what) {
    int32_t extents[kMaxRank];
    for (int i = 0; i < shape.rank(); ++i) extents[i] = static_cast<int32_t>(shape[i]);
    fillBuffer(dims, capacity, rank, extents, static_cast<size_t>(shape.rank()), what);
}

inline void checkIndex(size_t index, size_t count, const char* what) {
    if (index >= count) fail(Status::BadIndex, "%s %zu is asked for, there are %zu", what, index, count);
}

// Copies a text; cuts it at a UTF-8 boundary where it does not fit, and always terminates it. `size` is above 0.
void copyText(char* to, size_t size, const char* text) noexcept;

// Whether the result of a host's callback is MNN_OK or one of MNN_ERROR_*.
bool isStatus(mnn_status status) noexcept;

int32_t publicType(DataType type) noexcept;

inline Format readFormat(int32_t format) {
    if (format < MNN_FORMAT_NCHW || format > MNN_FORMAT_NC4HW4)
        fail(Status::InvalidValue, "format %d is not one of NCHW (0), NHWC (1) and NC4HW4 (2)", format);
    return static_cast<Format>(format);
}

}  // namespace mnnc
