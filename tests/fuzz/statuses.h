// The statuses that the functions of mnn_c.h may return: the lists of the header. A target reports a defect for any
// other.
#pragma once
#include <mnn_c.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>

namespace fuzz {

using Statuses = std::span<const mnn_status>;

// Loading from a file and from memory. The arguments are right, so two statuses of the header's list are missing here:
// MNN_ERROR_INVALID_VALUE and MNN_ERROR_VERSION_MISMATCH.
constexpr mnn_status kLoad[] = {MNN_ERROR_FILE_NOT_EXIST, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED,
                                MNN_ERROR_FILE_CHANGED,   MNN_ERROR_BAD_FORMAT,       MNN_ERROR_TRUNCATED,
                                MNN_ERROR_BAD_INDEX,      MNN_ERROR_BAD_PARAMETER,    MNN_ERROR_BAD_TYPE,
                                MNN_ERROR_BAD_RANGE,      MNN_ERROR_BAD_WEIGHTS,      MNN_ERROR_OVERFLOW,
                                MNN_ERROR_CYCLE,          MNN_ERROR_LIMIT_EXCEEDED,   MNN_ERROR_CANCELLED};

constexpr mnn_status kPlanning[] = {MNN_ERROR_NOT_SUPPORTED,  MNN_ERROR_NO_EXECUTION,     MNN_ERROR_COMPUTE_SIZE,
                                    MNN_ERROR_INPUT_DATA,     MNN_ERROR_BAD_PARAMETER,    MNN_ERROR_BAD_WEIGHTS,
                                    MNN_ERROR_BAD_TYPE,       MNN_ERROR_BAD_INDEX,        MNN_ERROR_BAD_RANGE,
                                    MNN_ERROR_BAD_FORMAT,     MNN_ERROR_OVERFLOW,         MNN_ERROR_LIMIT_EXCEEDED,
                                    MNN_ERROR_FILE_NOT_EXIST, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED,
                                    MNN_ERROR_TRUNCATED,      MNN_ERROR_FILE_CHANGED};

// In addition to kPlanning.
constexpr mnn_status kCreate[] = {MNN_ERROR_NOT_FOUND, MNN_ERROR_CANCELLED};
constexpr mnn_status kResize[] = {MNN_ERROR_BAD_STATE, MNN_ERROR_CANCELLED};
constexpr mnn_status kRun[] = {MNN_ERROR_CANCELLED, MNN_ERROR_CALLBACK_STOP, MNN_ERROR_INVALID_VALUE};

constexpr mnn_status kResizeInput[] = {MNN_ERROR_OVERFLOW, MNN_ERROR_NOT_SUPPORTED};
// For a callback's tensor that is a constant in a file.
constexpr mnn_status kConstantRead[] = {MNN_ERROR_FILE_READ_FAILED, MNN_ERROR_FILE_CHANGED, MNN_ERROR_BAD_WEIGHTS};
constexpr mnn_status kBadState[] = {MNN_ERROR_BAD_STATE};
constexpr mnn_status kParameterCount[] = {MNN_ERROR_BAD_WEIGHTS,      MNN_ERROR_TRUNCATED,
                                          MNN_ERROR_FILE_NOT_EXIST,   MNN_ERROR_FILE_OPEN_FAILED,
                                          MNN_ERROR_FILE_READ_FAILED, MNN_ERROR_FILE_CHANGED};

[[noreturn]] inline void defect(const char* call, mnn_status status) {
    std::fprintf(stderr, "%s gives %d (%s): '%s'\n", call, static_cast<int>(status), mnn_status_name(status),
                 mnn_last_error());
    std::abort();
}

// Returns whether a call succeeded; reports a defect unless its status is in one of the lists and comes with a
// sentence.
inline bool fine(mnn_status status, const char* call, std::initializer_list<Statuses> lists) {
    if (status == MNN_OK) return true;
    const bool listed = std::any_of(lists.begin(), lists.end(), [&](Statuses list) {
        return std::find(list.begin(), list.end(), status) != list.end();
    });
    if (!listed || mnn_last_error()[0] == '\0') defect(call, status);
    return false;
}

}  // namespace fuzz

#define FINE(call, ...) fuzz::fine((call), #call, {__VA_ARGS__})
// Makes a call that has no reason to fail.
#define MUST(call)                                                            \
    do {                                                                      \
        if (const mnn_status s = (call); s != MNN_OK) fuzz::defect(#call, s); \
    } while (false)
