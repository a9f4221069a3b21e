// Loads, creates and computes, while each use of a call fails in turn.
#include "system.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "left.h"

namespace faults {

Tested tested;

void complain(const std::string& text) {
    ++tested.wrong;
    std::printf("  %s\n", text.c_str());
    std::fflush(stdout);
}

mnn_status load(Handles& handles, int32_t mode) {
    mnn_interpreter_options_t options;
    MUST(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = mode;
    return mnn_interpreter_create_from_file(tested.path, &options, &handles.net);
}

mnn_status create(Handles& handles, int32_t threads, int32_t forwardType) {
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.threads = threads;
    config.forward_type = forwardType;
    return mnn_session_create(handles.net, &config, &handles.session);
}

Bytes compute(Handles& handles) {
    fill(handles.session);
    MUST(mnn_session_run(handles.session));
    return outputs(handles.session);
}

void walk(const Subject& subject, Call call, int error, Extent extent, const std::vector<mnn_status>& allowed) {
    int points = 0, refused = 0;
    for (long n = 1;; ++n) {
        const Left before;
        long hits = 0;
        {
            Handles handles;
            MUST(subject.prepare(handles));
            arm(call, n, extent, error);
            const mnn_status status = subject.call(handles);
            disarm();
            hits = failed();
            const std::string where = std::string(subject.name) + ", " + callName(call) + " " + std::to_string(n) +
                                      (error ? std::string(" gives ") + strerrorname_np(error) : " is short");
            if (hits && std::find(allowed.begin(), allowed.end(), status) == allowed.end())
                complain(where + ": " + mnn_status_name(status) + ", " + mnn_last_error());
            if (!hits && status != MNN_OK) complain(where + ": failed without a fault, " + mnn_last_error());
            refused += status != MNN_OK;
            if (status != MNN_OK && mnn_last_error()[0] == '\0') complain(where + ": no sentence");
            if (subject.check) subject.check(handles, status);
            if (status != MNN_OK) MUST(subject.call(handles));
            if (!handles.session) MUST(create(handles, 1));
            if (compute(handles) != tested.expected) complain(where + ": other outputs");
        }
        if (!Left().within(before)) {
            complain(std::string(subject.name) + ": memory, threads or descriptors are left");
            printLive();
        }
        if (!hits) break;
        ++points;
    }
    std::printf("  %-34s %-15s %-8s %3d points, %3d with a status\n", subject.name, callName(call),
                error ? strerrorname_np(error) : "short", points, refused);
    std::fflush(stdout);
}

mnn_status nothing(Handles&) {
    return MNN_OK;
}

}  // namespace faults
