// One net's life through the C ABI, call by call: fixed inputs, outputs as bytes.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mnn_c.h"

namespace faults {

using Bytes = std::vector<unsigned char>;

[[noreturn]] inline void stop(const char* what) {
    std::printf("%s: %s\n", what, mnn_last_error());
    std::fflush(stdout);
    std::exit(1);
}

// Makes a call that must succeed, because nothing fails meanwhile.
inline void must(mnn_status status, const char* what) {
    if (status != MNN_OK) stop(what);
}
#define MUST(call) ::faults::must((call), #call)

inline std::vector<int32_t> shapeOf(const mnn_tensor_t* tensor) {
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    MUST(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
    return {dims, dims + rank};
}

inline size_t inputCount(const mnn_session_t* session) {
    size_t count = 0;
    MUST(mnn_session_input_count(session, &count));
    return count;
}

// Sets the first extent of the first input; takes effect at the next resize.
inline mnn_status setBatch(mnn_session_t* session, int32_t batch) {
    mnn_tensor_t* input = nullptr;
    MUST(mnn_session_input_at(session, 0, &input));
    std::vector<int32_t> dims = shapeOf(input);
    dims.at(0) = batch;
    return mnn_session_resize_input(session, input, dims.data(), dims.size());
}

inline void fill(mnn_session_t* session) {
    for (size_t i = 0; i < inputCount(session); ++i) {
        mnn_tensor_t* input = nullptr;
        MUST(mnn_session_input_at(session, i, &input));
        mnn_tensor_properties_t info{};
        info.struct_size = sizeof info;
        size_t bytes = 0;
        MUST(mnn_tensor_info(input, &info));
        MUST(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &bytes));
        std::vector<float> floats(bytes / 4);
        std::vector<int32_t> numbers(bytes / 4, 3);  // trips of a loop
        for (size_t k = 0; k < floats.size(); ++k) floats[k] = static_cast<float>((k * 7 + 3) % 11) / 8 - 0.25f;
        const bool isFloat = info.type == MNN_TYPE_FLOAT32;
        const void* data = isFloat ? static_cast<const void*>(floats.data()) : numbers.data();
        MUST(mnn_tensor_write(input, data, bytes, MNN_FORMAT_NCHW));
    }
}

inline Bytes outputs(const mnn_session_t* session) {
    Bytes all;
    size_t count = 0;
    MUST(mnn_session_output_count(session, &count));
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* output = nullptr;
        MUST(mnn_session_output_at(session, i, &output));
        size_t bytes = 0;
        MUST(mnn_tensor_byte_size(output, MNN_FORMAT_NCHW, &bytes));
        const size_t at = all.size();
        all.resize(at + bytes);
        MUST(mnn_tensor_read(output, all.data() + at, bytes, MNN_FORMAT_NCHW));
    }
    return all;
}

}  // namespace faults
