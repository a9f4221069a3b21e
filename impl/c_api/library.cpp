// mnn_version*(), mnn_status_name(), mnn_last_error*(), mnn_backend_*(): the library itself.
#include <cstdio>
#include <cstring>

#include "c_api/guard.h"

namespace mnnc {

namespace {

// A plain array: a thread-local with a destructor would keep the library mapped after dlclose.
thread_local char lastError[kErrorBytes];

// Returns the largest length up to `limit` that does not cut a UTF-8 sequence.
size_t cutLength(const char* text, size_t length, size_t limit) {
    if (length <= limit) return length;
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
    return limit;
}

struct StatusName {
    mnn_status status;
    const char* name;
};

constexpr StatusName kStatusNames[] = {
#define MNN_C_STATUS(name) \
    { name, #name }
    MNN_C_STATUS(MNN_OK),
    MNN_C_STATUS(MNN_ERROR_OUT_OF_MEMORY),
    MNN_C_STATUS(MNN_ERROR_NOT_SUPPORTED),
    MNN_C_STATUS(MNN_ERROR_COMPUTE_SIZE),
    MNN_C_STATUS(MNN_ERROR_NO_EXECUTION),
    MNN_C_STATUS(MNN_ERROR_INVALID_VALUE),
    MNN_C_STATUS(MNN_ERROR_INPUT_DATA),
    MNN_C_STATUS(MNN_ERROR_CALLBACK_STOP),
    MNN_C_STATUS(MNN_ERROR_FILE_OPEN_FAILED),
    MNN_C_STATUS(MNN_ERROR_FILE_READ_FAILED),
    MNN_C_STATUS(MNN_ERROR_FILE_NOT_EXIST),
    MNN_C_STATUS(MNN_ERROR_NULL_ARGUMENT),
    MNN_C_STATUS(MNN_ERROR_BAD_HANDLE),
    MNN_C_STATUS(MNN_ERROR_BAD_STATE),
    MNN_C_STATUS(MNN_ERROR_NOT_FOUND),
    MNN_C_STATUS(MNN_ERROR_BAD_RANGE),
    MNN_C_STATUS(MNN_ERROR_BAD_TYPE),
    MNN_C_STATUS(MNN_ERROR_BAD_FORMAT),
    MNN_C_STATUS(MNN_ERROR_BAD_INDEX),
    MNN_C_STATUS(MNN_ERROR_TRUNCATED),
    MNN_C_STATUS(MNN_ERROR_BUSY),
    MNN_C_STATUS(MNN_ERROR_BACKEND_MISSING),
    MNN_C_STATUS(MNN_ERROR_VERSION_MISMATCH),
    MNN_C_STATUS(MNN_ERROR_CANCELLED),
    MNN_C_STATUS(MNN_ERROR_BAD_PARAMETER),
    MNN_C_STATUS(MNN_ERROR_BAD_WEIGHTS),
    MNN_C_STATUS(MNN_ERROR_OVERFLOW),
    MNN_C_STATUS(MNN_ERROR_CYCLE),
    MNN_C_STATUS(MNN_ERROR_LIMIT_EXCEEDED),
    MNN_C_STATUS(MNN_ERROR_BUFFER_TOO_SMALL),
    MNN_C_STATUS(MNN_ERROR_DEVICE_LOST),
    MNN_C_STATUS(MNN_ERROR_DRIVER),
    MNN_C_STATUS(MNN_ERROR_FILE_CHANGED),
    MNN_C_STATUS(MNN_ERROR_FILE_WRITE_FAILED),
    MNN_C_STATUS(MNN_ERROR_TIMEOUT),
    MNN_C_STATUS(MNN_ERROR_INTERNAL),
#undef MNN_C_STATUS
};

}  // namespace

void copyText(char* to, size_t size, const char* text) noexcept {
    const size_t length = cutLength(text, std::strlen(text), size - 1);
    std::memcpy(to, text, length);
    to[length] = '\0';
}

void setLastError(const char* message) noexcept {
    copyText(lastError, kErrorBytes, message);
}

bool isStatus(mnn_status status) noexcept {
    return std::any_of(std::begin(kStatusNames), std::end(kStatusNames),
                       [&](const StatusName& entry) { return entry.status == status; });
}

int32_t publicType(DataType type) noexcept {
    switch (type) {
        case DataType::Float32:
            return MNN_TYPE_FLOAT32;
        case DataType::Int32:
            return MNN_TYPE_INT32;
        case DataType::Int8:
            return MNN_TYPE_INT8;
        case DataType::UInt8:
            return MNN_TYPE_UINT8;
        case DataType::Int16:
            return MNN_TYPE_INT16;
        case DataType::UInt16:
            return MNN_TYPE_UINT16;
        case DataType::BFloat16:
            return MNN_TYPE_BFLOAT16;
    }
    return 0;
}

}  // namespace mnnc

using namespace mnnc;

const char* mnn_version(void) {
    return MNN_C_VERSION;
}

mnn_status mnn_version_numbers(int32_t* major, int32_t* minor, int32_t* patch) {
    return guard([&] {
        required(major, "major");
        required(minor, "minor");
        required(patch, "patch") = MNN_C_VERSION_PATCH;
        *major = MNN_C_VERSION_MAJOR;
        *minor = MNN_C_VERSION_MINOR;
    });
}

uint32_t mnn_abi_version(void) {
    return MNN_C_VERSION_MAJOR * 65536u + MNN_C_VERSION_MINOR;
}

const char* mnn_status_name(mnn_status status) {
    for (const StatusName& entry : kStatusNames)
        if (entry.status == status) return entry.name;
    return "unknown status";
}

const char* mnn_last_error(void) {
    return lastError;
}

// Without guard(), because a failure must leave the sentence that it did not copy.
mnn_status mnn_last_error_copy(char* buffer, size_t capacity, size_t* needed) {
    if (!needed || (capacity > 0 && !buffer)) return MNN_ERROR_NULL_ARGUMENT;
    *needed = std::strlen(lastError) + 1;
    if (capacity == 0) return MNN_OK;
    if (capacity < *needed) return MNN_ERROR_BUFFER_TOO_SMALL;
    std::memcpy(buffer, lastError, *needed);
    return MNN_OK;
}

mnn_status mnn_backend_count(size_t* count) {
    return guard([&] { required(count, "count") = builtinBackends().size(); });
}

mnn_status mnn_backend_name(size_t index, const char** name) {
    return guard([&] {
        required(name, "name");
        checkIndex(index, builtinBackends().size(), "backend");
        *name = builtinBackends()[index].name;
    });
}

mnn_status mnn_backend_forward_type(size_t index, int32_t* forward_type) {
    return guard([&] {
        required(forward_type, "forward_type");
        checkIndex(index, builtinBackends().size(), "backend");
        *forward_type = static_cast<int32_t>(builtinBackends()[index].type);
    });
}
