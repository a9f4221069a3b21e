// Inputs that follow a pattern, and the outputs of an undisturbed session for them.
#include "nets.h"

#include <cstdio>
#include <cstring>

#include "statuses.h"

namespace stress {

namespace {

// Values that any element type can represent: small integers, as floats or as integers.
void fillPattern(std::vector<unsigned char>& bytes, int pattern, int32_t type) {
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        const int32_t whole = pattern == 0 ? 0 : static_cast<int32_t>((i / 4 * 7 + static_cast<size_t>(pattern)) % 3);
        const float real = static_cast<float>(whole);
        if (type == MNN_TYPE_FLOAT32)
            std::memcpy(bytes.data() + i, &real, 4);
        else
            std::memcpy(bytes.data() + i, &whole, 4);
    }
}

}  // namespace

std::string differences(const Net& net, const std::vector<unsigned char>& got) {
    std::string text;
    for (size_t pattern = 0; pattern < kPatterns; ++pattern) {
        size_t count = 0, first = 0;
        for (size_t i = got.size() / 4; i-- > 0;)
            if (std::memcmp(net.outputs[pattern].data() + 4 * i, got.data() + 4 * i, 4) != 0) {
                ++count;
                first = i;
            }
        float wanted = 0, there = 0;
        std::memcpy(&wanted, net.outputs[pattern].data() + 4 * first, 4);
        std::memcpy(&there, got.data() + 4 * first, 4);
        text += " of pattern " + std::to_string(pattern) + " in " + std::to_string(count) + " of " +
                std::to_string(got.size() / 4) + " elements, the first is number " + std::to_string(first) + ", " +
                std::to_string(there) + " in place of " + std::to_string(wanted) + ";";
    }
    return text;
}

bool prepare(Net& net) {
    mnn_interpreter_t* handle = nullptr;
    mnn_session_t* session = nullptr;
    mnn_tensor_t *input = nullptr, *output = nullptr;
    mnn_tensor_properties_t info{};
    info.struct_size = sizeof info;
    size_t inputs = 0;
    if (mnn_interpreter_create_from_file(net.path.c_str(), nullptr, &handle) != MNN_OK ||
        mnn_session_create(handle, nullptr, &session) != MNN_OK ||
        mnn_session_input_count(session, &inputs) != MNN_OK || inputs != 1 ||
        mnn_session_input(session, nullptr, &input) != MNN_OK ||
        mnn_session_output(session, nullptr, &output) != MNN_OK || mnn_tensor_info(input, &info) != MNN_OK ||
        mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &net.inputBytes) != MNN_OK) {
        std::fprintf(stderr, "%s: %s\n", net.path.c_str(), inputs > 1 ? "it has several inputs" : mnn_last_error());
        return false;
    }
    for (int i = 0; i < kPatterns; ++i) {
        const auto at = static_cast<size_t>(i);
        net.inputs[at].resize(net.inputBytes);
        fillPattern(net.inputs[at], i, info.type);
        MUST(mnn_tensor_write(input, net.inputs[at].data(), net.inputBytes, MNN_FORMAT_NCHW));
        MUST(mnn_session_run(session));
        MUST(mnn_tensor_byte_size(output, MNN_FORMAT_NCHW, &net.outputBytes));
        net.outputs[at].resize(net.outputBytes);
        MUST(mnn_tensor_read(output, net.outputs[at].data(), net.outputBytes, MNN_FORMAT_NCHW));
    }
    MUST(mnn_session_destroy(&session));
    net.handle = handle;
    return !failed;
}

}  // namespace stress
