// Nets in files that change while they are in use, and sessions of them through the public functions.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>

#include "mnn_c.h"
#include "model_builder.h"

namespace mnnc::test {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

constexpr int kChannels = 96;

inline std::vector<float> smallFloats(size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = std::uniform_real_distribution<float>(-0.1f, 0.1f)(random);
    return values;
}

// Two 3x3 convolutions of 96 channels: 332 KB of weights each, with other algorithms for other sizes.
inline wire::Convolution2DT convolution(uint32_t seed) {
    const size_t weights = size_t{kChannels} * kChannels * 9;
    auto conv = makeConv(kChannels, kChannels, 0);
    conv.common->kernelX = conv.common->kernelY = 3;
    conv.common->padX = conv.common->padY = 1;
    conv.weight = smallFloats(weights, seed);
    conv.bias = smallFloats(kChannels, seed + 1);
    return conv;
}

inline wire::NetT convNet(uint32_t seed) {
    wire::NetT net;
    net.tensorName = {"x", "middle", "y"};
    net.oplists.push_back(makeInput(0, {1, kChannels, -1, -1}));
    net.oplists.push_back(makeOp(wire::OpType::Convolution, "first", {0}, {1}, convolution(seed)));
    net.oplists.push_back(makeOp(wire::OpType::Convolution, "second", {1}, {2}, convolution(seed + 2)));
    net.outputName = {"y"};
    return net;
}

// The same with its weights in a second file.
inline std::pair<Bytes, Bytes> externalNet(uint32_t seed) {
    wire::NetT net = convNet(seed);
    Bytes file;
    for (size_t i = 1; i < 3; ++i) {
        auto* conv = net.oplists[i]->main.AsConvolution2D();
        conv->external = {static_cast<int64_t>(file.size()), static_cast<int64_t>(conv->weight.size() * 4),
                          static_cast<int64_t>(conv->bias.size() * 4)};
        for (std::vector<float>* values : {&conv->weight, &conv->bias}) {
            const auto* bytes = reinterpret_cast<const uint8_t*>(values->data());
            file.insert(file.end(), bytes, bytes + values->size() * 4);
            values->clear();
        }
    }
    return {pack(net), file};
}

// y = x b + b, z = x c: b is read by a product that prepares it and by an operator that reads it in runs.
inline wire::NetT productNet(uint32_t seed) {
    constexpr int32_t n = 80;
    wire::NetT net;
    net.tensorName = {"x", "b", "c", "xb", "y", "z"};
    net.oplists.push_back(makeInput(0, {n, n}));
    net.oplists.push_back(makeConst(1, {n, n}, smallFloats(n * n, seed)));
    net.oplists.push_back(makeConst(2, {n, n}, smallFloats(n * n, seed + 1)));
    net.oplists.push_back(makeOp(wire::OpType::MatMul, "xb", {0, 1}, {3}, wire::MatMulT()));
    net.oplists.push_back(makeOp(wire::OpType::BinaryOp, "y", {3, 1}, {4}, wire::BinaryOpT()));
    net.oplists.push_back(makeOp(wire::OpType::MatMul, "z", {0, 2}, {5}, wire::MatMulT()));
    net.outputName = {"y", "z"};
    return net;
}

inline void writeFile(const std::string& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Sets the time of the last change to a while ago.
inline void age(const std::string& path) {
    struct timespec times[2] = {{0, UTIME_NOW}, {::time(nullptr) - 100, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

class FileInterpreter {
  public:
    explicit FileInterpreter(const std::string& path, int32_t mode = MNN_LOAD_DEFAULT) {
        mnn_interpreter_options_t options;
        mnn_interpreter_options_init(&options, sizeof options);
        options.load_mode = mode;
        status = mnn_interpreter_create_from_file(path.c_str(), &options, &handle);
    }
    FileInterpreter(const FileInterpreter&) = delete;
    FileInterpreter& operator=(const FileInterpreter&) = delete;
    ~FileInterpreter() { mnn_interpreter_destroy(&handle); }

    mnn_interpreter_t* handle = nullptr;
    mnn_status status = MNN_OK;
};

class FileSession {
  public:
    explicit FileSession(const FileInterpreter& net) { status = mnn_session_create(net.handle, nullptr, &handle); }
    FileSession(const FileSession&) = delete;
    FileSession& operator=(const FileSession&) = delete;
    ~FileSession() { mnn_session_destroy(&handle); }

    mnn_status resize(int32_t side) {
        const int32_t dims[] = {1, kChannels, side, side};
        mnn_tensor_t* input = nullptr;
        mnn_session_input(handle, nullptr, &input);
        const mnn_status asked = mnn_session_resize_input(handle, input, dims, 4);
        return asked == MNN_OK ? mnn_session_resize(handle) : asked;
    }
    // Returns all outputs for inputs of one seed; empty when the run fails.
    std::vector<float> run(uint32_t seed = 7) {
        mnn_tensor_t* tensor = nullptr;
        mnn_session_input(handle, nullptr, &tensor);
        size_t count = 0;
        mnn_tensor_element_count(tensor, &count);
        const std::vector<float> values = smallFloats(count, seed);
        status = mnn_tensor_write(tensor, values.data(), count * 4, MNN_FORMAT_NCHW);
        if (status == MNN_OK) status = mnn_session_run(handle);
        std::vector<float> results;
        size_t outputs = 0;
        mnn_session_output_count(handle, &outputs);
        for (size_t i = 0; i < outputs && status == MNN_OK; ++i) {
            mnn_session_output_at(handle, i, &tensor);
            mnn_tensor_element_count(tensor, &count);
            const size_t before = results.size();
            results.resize(before + count);
            status = mnn_tensor_read(tensor, results.data() + before, count * 4, MNN_FORMAT_NCHW);
        }
        return status == MNN_OK ? results : std::vector<float>();
    }

    mnn_session_t* handle = nullptr;
    mnn_status status = MNN_OK;
};

#define EXPECT_STATUS(call, wanted) EXPECT_EQ(static_cast<int>(call), static_cast<int>(wanted)) << mnn_last_error()
#define ASSERT_STATUS(call, wanted) ASSERT_EQ(static_cast<int>(call), static_cast<int>(wanted)) << mnn_last_error()

}  // namespace mnnc::test
