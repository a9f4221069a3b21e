// mnn_session_run*(), mnn_session_submit() and mnn_session_wait().
#include "c_api/guard.h"
#include "c_api/session_log.h"
#include "c_api/submission.h"
#include "c_api/watched_run.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kRunOptionsSize = offsetof(mnn_run_options_t, device_times);

mnn_run_options_t readOptions(const mnn_run_options_t* options) {
    mnn_run_options_t given{};
    if (options) given = readStruct(*options, kRunOptionsSize, "options");
    if (given.device_times != 0 && given.device_times != 1)
        fail(Status::InvalidValue, "options.device_times is %d, it is 0 or 1", given.device_times);
    return given;
}

}  // namespace

mnn_status mnn_run_options_init(mnn_run_options_t* options, size_t struct_size) {
    return guard([&] { initStruct(&required(options, "options"), struct_size, kRunOptionsSize, "options"); });
}

mnn_status mnn_session_run(mnn_session_t* session) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_run");
        const RunPlanLog plans(*handle);
        handle->impl->run();
    });
}

mnn_status mnn_session_run_with_options(mnn_session_t* session, const mnn_run_options_t* options) {
    mnn_status ended = MNN_OK;
    const mnn_status refused = guard([&] {
        const mnn_run_options_t given = readOptions(options);
        const SessionUse handle(session, Access::Alone, "mnn_session_run_with_options");
        const CancelUse cancel(given.cancel);
        handle->impl->requireReady();
        ended = runToEnd(*handle, handle.handle(), given, cancel.cancellation());
    });
    return refused != MNN_OK ? refused : ended;
}

mnn_status mnn_session_submit(mnn_session_t* session, const mnn_run_options_t* options) {
    return guard([&] {
        const mnn_run_options_t given = readOptions(options);
        SessionUse handle(session, Access::Alone, "mnn_session_submit");
        handle->submission->submit(handle, given);
    });
}

mnn_status mnn_session_wait(mnn_session_t* session, int64_t timeout_ns) {
    mnn_status ended = MNN_OK;
    const mnn_status refused = guard([&] {
        const SessionUse handle(session, Access::Always, "mnn_session_wait");
        ended = handle->submission->wait(handle, timeout_ns);
    });
    return refused != MNN_OK ? refused : ended;
}
