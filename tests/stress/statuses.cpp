// Judges the statuses of calls.
#include "statuses.h"

#include <cstdio>
#include <mutex>

namespace stress {
namespace {

std::mutex printing;

// Returns whether a call may return this status at any moment, besides MNN_OK.
bool allowed(mnn_status status) {
    return status == MNN_OK || status == MNN_ERROR_BUSY || status == MNN_ERROR_BAD_HANDLE ||
           status == MNN_ERROR_CANCELLED || status == MNN_ERROR_BAD_STATE || status == MNN_ERROR_CALLBACK_STOP;
}

}  // namespace

std::atomic<bool> failed{false};
std::atomic<long> calls{0}, busy{0}, cancelled{0}, checked{0};

void complain(const std::string& text) {
    const std::lock_guard lock(printing);
    std::fprintf(stderr, "%s\n", text.c_str());
    failed = true;
}

mnn_status seen(mnn_status status, const char* call) {
    ++calls;
    if (status == MNN_ERROR_BUSY) ++busy;
    if (status == MNN_ERROR_CANCELLED) ++cancelled;
    if (!allowed(status)) complain(std::string(call) + " gave " + mnn_status_name(status) + ": " + mnn_last_error());
    return status;
}

void must(mnn_status status, const char* call) {
    if (status != MNN_OK) complain(std::string(call) + " gave " + mnn_status_name(status) + ": " + mnn_last_error());
}

}  // namespace stress
