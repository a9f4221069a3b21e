// A model and its session through the public functions, and the error of the first call that failed.
#pragma once
#include <string>
#include <vector>

#include "mnn_c.h"
#include "model_builder.h"

namespace mnnc::test {

struct Opened {
    mnn_interpreter_t* net = nullptr;
    mnn_session_t* session = nullptr;
    mnn_status status = MNN_OK;  // of the first call that failed
    std::string sentence;
    bool loaded = false;

    Opened(const wire::NetT& source, const mnn_interpreter_options_t* options) {
        const std::vector<uint8_t> bytes = pack(source);
        status = mnn_interpreter_create_from_memory(bytes.data(), bytes.size(), options, &net);
        loaded = status == MNN_OK;
        if (loaded) status = mnn_session_create(net, nullptr, &session);
        if (status != MNN_OK) sentence = mnn_last_error();
    }
    ~Opened() {
        mnn_session_destroy(&session);
        mnn_interpreter_destroy(&net);
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
};

inline mnn_interpreter_options_t defaultOptions() {
    mnn_interpreter_options_t options;
    EXPECT_EQ(mnn_interpreter_options_init(&options, sizeof options), MNN_OK);
    return options;
}

}  // namespace mnnc::test
