// Weights in a second file: ranges of it, the paths that name it, and the errors for a missing or short one.
#include "model/external_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "model/const_data.h"
#include "model/weights.h"
#include "opened_model.h"

namespace mnnc::test {
namespace {

std::vector<float> decode(const wire::Convolution2DT& conv, const ExternalFile* external = nullptr,
                          int64_t expected = -1) {
    const auto buffer = packTable<wire::Convolution2D>(conv);
    const auto* table = flatbuffers::GetRoot<wire::Convolution2D>(buffer.data());
    const FloatView view = decodeConvWeights(*table, expected, 2, external, "conv");
    return {view.span().begin(), view.span().end()};
}

class ExternalWeights : public ::testing::Test {
  protected:
    void SetUp() override {
        path_ = ::testing::TempDir() + "mnnc_external.weight";
        const float values[] = {1, 2, 3, 4, 5, 6};
        std::ofstream file(path_, std::ios::binary);
        file.put('x');  // the ranges need no alignment
        file.write(reinterpret_cast<const char*>(values), sizeof values);
    }
    void TearDown() override { std::filesystem::remove(path_); }
    std::string path_;
};

TEST_F(ExternalWeights, PlainRanges) {
    const ExternalFile file(path_);
    wire::Convolution2DT conv = makeConv(2, 2, 0);
    conv.bias.clear();
    conv.external = {1, 16, 8};
    EXPECT_EQ(decode(conv, &file, 4), (std::vector<float>{1, 2, 3, 4}));
    const auto buffer = packTable<wire::Convolution2D>(conv);
    const auto* table = flatbuffers::GetRoot<wire::Convolution2D>(buffer.data());
    const FloatView bias = convBias(*table, 2, &file, "conv");
    EXPECT_EQ(bias[0], 5);
    EXPECT_EQ(bias[1], 6);

    conv.external = {1, 32, 0};
    expectFailure(Status::Truncated, "ends at byte 33", [&] { decode(conv, &file); });
    conv.external = {1, 15, 0};
    expectFailure(Status::BadWeights, "a multiple of 4 is needed", [&] { decode(conv, &file); });
    conv.external = {-1, 16, 0};
    expectFailure(Status::BadWeights, "negative", [&] { decode(conv, &file); });
    conv.external = {INT64_MAX, 16, 0};
    expectFailure(Status::Overflow, "overflows", [&] { decode(conv, &file); });
    conv.external = {1, 16, 8};
    expectFailure(Status::FileNotExist, "external", [&] { decode(conv); });
}

TEST_F(ExternalWeights, PathsInOperatorsNeedPermission) {
    wire::NetT net = makeReluNet();
    auto conv = makeConv(2, 2, 0);
    conv.external = {1, 16, 8};
    net.oplists[1] = makeOp(wire::OpType::Convolution, "conv", {0}, {1}, std::move(conv));
    net.oplists[1]->externalPath = path_;
    const auto refused = loadNet(net);
    expectFailure(Status::InvalidValue, "not allowed",
                  [&] { refused->externalFiles().forOp(*refused->mainGraph().ops[1]); });
    ModelOptions options;
    options.allowExternalPathInOps = true;
    const auto outside = loadNet(net, options);
    expectFailure(Status::InvalidValue, "outside",
                  [&] { outside->externalFiles().forOp(*outside->mainGraph().ops[1]); });

    net.oplists[1]->externalPath.clear();
    options.externalWeightPath = path_;
    const auto model = loadNet(net, options);
    const ExternalFile* file = model->externalFiles().forOp(*model->mainGraph().ops[1]);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file, model->externalFiles().forOp(*model->mainGraph().ops[1]));
    EXPECT_EQ(model->externalFiles().forOp(*model->mainGraph().ops[0]), nullptr);
}

TEST_F(ExternalWeights, ReadFilesMayChangeAfterwards) {
    wire::NetT net = makeReluNet();
    auto conv = makeConv(2, 2, 0);
    conv.external = {1, 16, 8};
    net.oplists[1] = makeOp(wire::OpType::Convolution, "conv", {0}, {1}, std::move(conv));
    ModelOptions options;
    options.externalWeightPath = path_;
    options.access = ModelBytes::Access::Read;
    const auto model = loadNet(net, options);
    const ExternalFile* file = model->externalFiles().forOp(*model->mainGraph().ops[1]);
    ASSERT_NE(file, nullptr);
    const HeldBytes held = file->range(0, file->size(), "conv").read();
    const std::span<const uint8_t> bytes = held.bytes;
    const std::vector<uint8_t> before(bytes.begin(), bytes.end());
    std::filesystem::resize_file(path_, 0);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), before.begin()));
}

TEST_F(ExternalWeights, Constants) {
    const ExternalFile file(path_);
    wire::BlobT blob;
    blob.dims = {2, 3};
    blob.external = {1, 24};
    const auto buffer = packTable<wire::Blob>(blob);
    const ConstData data = decodeBlob(*flatbuffers::GetRoot<wire::Blob>(buffer.data()), &file, "const");
    ASSERT_EQ(data.bytes.size(), 24u);
    float last = 0;
    std::memcpy(&last, data.bytes.data() + 20, sizeof last);
    EXPECT_EQ(last, 6);
}

// Two inputs to two outputs of one pixel: y = (1 2; 3 4) x + (5, 6).
class ExternalWeightPath : public ::testing::Test {
  protected:
    void SetUp() override {
        write(6);
        auto conv = makeConv(2, 2, 0);
        conv.bias.clear();
        conv.external = {0, 16, 8};
        net_.tensorName = {"x", "y"};
        net_.oplists.push_back(makeInput(0, {1, 2, 1, 1}));
        net_.oplists.push_back(makeOp(wire::OpType::Convolution, "conv", {0}, {1}, std::move(conv)));
        net_.outputName = {"y"};
    }
    void TearDown() override { std::filesystem::remove(path_); }

    void write(int count) const {
        std::ofstream file(path_, std::ios::binary);
        for (int i = 1; i <= count; ++i) {
            const auto value = static_cast<float>(i);
            file.write(reinterpret_cast<const char*>(&value), sizeof value);
        }
    }
    mnn_interpreter_options_t options() const {
        mnn_interpreter_options_t result = defaultOptions();
        result.external_weight_path = path_.c_str();
        return result;
    }

    std::string path_ = ::testing::TempDir() + "mnnc_made_models.weight";
    wire::NetT net_;
};

TEST_F(ExternalWeightPath, GivesTheWeights) {
    for (const int32_t mode : {MNN_LOAD_COPY, MNN_LOAD_BORROW}) {
        mnn_interpreter_options_t chosen = options();
        chosen.load_mode = mode;
        const std::vector<uint8_t> bytes = pack(net_);
        mnn_interpreter_t* net = nullptr;
        mnn_session_t* session = nullptr;
        ASSERT_EQ(mnn_interpreter_create_from_memory(bytes.data(), bytes.size(), &chosen, &net), MNN_OK)
            << mnn_last_error();
        ASSERT_EQ(mnn_session_create(net, nullptr, &session), MNN_OK) << mnn_last_error();
        mnn_tensor_t *input = nullptr, *output = nullptr;
        ASSERT_EQ(mnn_session_input(session, nullptr, &input), MNN_OK);
        ASSERT_EQ(mnn_session_output(session, nullptr, &output), MNN_OK);
        const float x[] = {10, 100};
        float y[2] = {};
        ASSERT_EQ(mnn_tensor_write(input, x, sizeof x, MNN_FORMAT_NCHW), MNN_OK);
        ASSERT_EQ(mnn_session_run(session), MNN_OK) << mnn_last_error();
        ASSERT_EQ(mnn_tensor_read(output, y, sizeof y, MNN_FORMAT_NCHW), MNN_OK);
        EXPECT_EQ(y[0], 1 * 10 + 2 * 100 + 5);
        EXPECT_EQ(y[1], 3 * 10 + 4 * 100 + 6);
        uint64_t parameters = 0;
        ASSERT_EQ(mnn_interpreter_parameter_count(net, &parameters), MNN_OK);
        EXPECT_EQ(parameters, 6u);
        EXPECT_EQ(mnn_session_destroy(&session), MNN_OK);
        EXPECT_EQ(mnn_interpreter_destroy(&net), MNN_OK);
    }
}

TEST_F(ExternalWeightPath, AMissingFileIsReportedByName) {
    std::filesystem::remove(path_);
    const mnn_interpreter_options_t chosen = options();
    const Opened opened(net_, &chosen);
    EXPECT_EQ(opened.status, MNN_ERROR_FILE_NOT_EXIST) << opened.sentence;
    EXPECT_NE(opened.sentence.find(path_), std::string::npos) << opened.sentence;
}

TEST_F(ExternalWeightPath, AShortFileIsReportedWithNumbers) {
    write(5);
    const mnn_interpreter_options_t chosen = options();
    const Opened opened(net_, &chosen);
    EXPECT_EQ(opened.status, MNN_ERROR_TRUNCATED) << opened.sentence;
    EXPECT_NE(opened.sentence.find("24"), std::string::npos) << opened.sentence;
    EXPECT_NE(opened.sentence.find("20"), std::string::npos) << opened.sentence;
}

TEST_F(ExternalWeightPath, AModelInMemoryNeedsIt) {
    const Opened opened(net_, nullptr);
    EXPECT_EQ(opened.status, MNN_ERROR_FILE_NOT_EXIST) << opened.sentence;
}

TEST_F(ExternalWeightPath, DefaultsToTheModelPathWithAnEnding) {
    const std::string model = ::testing::TempDir() + "mnnc_made_models.mnn";
    const std::string weights = model + ".weight";
    const std::vector<uint8_t> bytes = pack(net_);
    std::ofstream(model, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::filesystem::copy_file(path_, weights, std::filesystem::copy_options::overwrite_existing);
    for (const bool there : {true, false}) {
        if (!there) std::filesystem::remove(weights);
        mnn_interpreter_t* net = nullptr;
        mnn_session_t* session = nullptr;
        mnn_status status = mnn_interpreter_create_from_file(model.c_str(), nullptr, &net);
        if (status == MNN_OK) status = mnn_session_create(net, nullptr, &session);
        EXPECT_EQ(status, there ? MNN_OK : MNN_ERROR_FILE_NOT_EXIST);
        EXPECT_EQ(mnn_session_destroy(&session), MNN_OK);
        EXPECT_EQ(mnn_interpreter_destroy(&net), MNN_OK);
    }
    std::filesystem::remove(model);
}

}  // namespace
}  // namespace mnnc::test
