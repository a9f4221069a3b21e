// A session of a model in memory, through the public functions.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mnn_c.h"

namespace mnnc::test {

class PublicSession {
  public:
    struct Mode {
        std::string name;
        int32_t forward = MNN_FORWARD_CPU, threads = 1, gpuMode = 0;
        mnn_runtime_t* runtime = nullptr;
        std::vector<const char*> saved = {};  // names of tensors that stay after a run
    };

    PublicSession(const std::vector<uint8_t>& model, const Mode& mode) {
        EXPECT_EQ(mnn_interpreter_create_from_memory(model.data(), model.size(), nullptr, &interpreter_), MNN_OK)
            << mnn_last_error();
        create(interpreter_, mode);
    }
    // Creates a session of an interpreter that the caller owns.
    PublicSession(mnn_interpreter_t* interpreter, const Mode& mode) { create(interpreter, mode); }
    ~PublicSession() {
        EXPECT_EQ(mnn_session_destroy(&session_), MNN_OK);
        EXPECT_EQ(mnn_interpreter_destroy(&interpreter_), MNN_OK);
    }
    PublicSession(const PublicSession&) = delete;
    PublicSession& operator=(const PublicSession&) = delete;

    template <typename T>
    void write(size_t input, const std::vector<T>& values) {
        mnn_tensor_t* tensor = nullptr;
        ASSERT_EQ(mnn_session_input_at(session_, input, &tensor), MNN_OK) << mnn_last_error();
        ASSERT_EQ(mnn_tensor_write(tensor, values.data(), values.size() * sizeof(T), MNN_FORMAT_NCHW), MNN_OK)
            << mnn_last_error();
    }
    mnn_status run() {
        const mnn_status status = mnn_session_run(session_);
        error = status == MNN_OK ? "" : mnn_last_error();
        return status;
    }
    std::vector<float> read(size_t output = 0) const {
        mnn_tensor_t* tensor = nullptr;
        EXPECT_EQ(mnn_session_output_at(session_, output, &tensor), MNN_OK);
        size_t count = 0;
        EXPECT_EQ(mnn_tensor_element_count(tensor, &count), MNN_OK) << mnn_last_error();
        std::vector<float> values(count);
        EXPECT_EQ(mnn_tensor_read(tensor, values.data(), count * sizeof(float), MNN_FORMAT_NCHW), MNN_OK)
            << mnn_last_error();
        return values;
    }
    size_t opCount() const {
        size_t count = 0;
        EXPECT_EQ(mnn_session_op_count(session_, &count), MNN_OK);
        return count;
    }
    // Returns the backend on which the operator of this name runs.
    std::string backendOf(const std::string& name) const {
        const size_t count = opCount();
        for (size_t i = 0; i < count; ++i) {
            mnn_op_info_t info{};
            info.struct_size = sizeof info;
            EXPECT_EQ(mnn_session_op_info(session_, i, &info), MNN_OK);
            if (info.name == name) return info.backend_name;
        }
        return "nowhere";
    }
    mnn_session_t* handle() const { return session_; }

    mnn_status created = MNN_OK;
    std::string error;  // the sentence of the last call that failed

  private:
    void create(mnn_interpreter_t* interpreter, const Mode& mode) {
        mnn_schedule_config_t config;
        EXPECT_EQ(mnn_schedule_config_init(&config, sizeof config), MNN_OK);
        config.forward_type = mode.forward;
        config.threads = mode.threads;
        config.gpu_mode = mode.gpuMode;
        config.runtime = mode.runtime;
        config.save_tensors = mode.saved.empty() ? nullptr : mode.saved.data();
        config.save_tensor_count = mode.saved.size();
        created = mnn_session_create(interpreter, &config, &session_);
        if (created != MNN_OK) error = mnn_last_error();
    }

    mnn_interpreter_t* interpreter_ = nullptr;
    mnn_session_t* session_ = nullptr;
};

}  // namespace mnnc::test
