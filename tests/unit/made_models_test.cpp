// Nets that are made here, through the public C functions: what the demo model cannot provoke.
#include <filesystem>
#include <fstream>

#include "mnn_c.h"
#include "model_builder.h"

namespace mnnc::testing {
namespace {

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

mnn_interpreter_options_t defaultOptions() {
    mnn_interpreter_options_t options;
    EXPECT_EQ(mnn_interpreter_options_init(&options, sizeof options), MNN_OK);
    return options;
}

// What cannot run can be loaded and looked at; a session says which operator of which node it is.
void expectNotSupported(const wire::NetT& net, const std::string& part) {
    const Opened opened(net, nullptr);
    EXPECT_TRUE(opened.loaded) << opened.sentence;
    EXPECT_EQ(opened.status, MNN_ERROR_NOT_SUPPORTED) << opened.sentence;
    EXPECT_EQ(opened.session, nullptr);
    EXPECT_NE(opened.sentence.find(part), std::string::npos) << opened.sentence;
}

TEST(NotSupported, OperatorWithoutADefinition) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(wire::OpType::Plugin, "mine", {0}, {1}, wire::PluginT());
    expectNotSupported(net, "Plugin of node 'mine'");
    const Opened opened(net, nullptr);
    bool supported = true;
    ASSERT_EQ(mnn_interpreter_op_supported(opened.net, 1, &supported), MNN_OK);
    EXPECT_FALSE(supported);
    ASSERT_EQ(mnn_interpreter_op_supported(opened.net, 0, &supported), MNN_OK);
    EXPECT_TRUE(supported);
}

TEST(NotSupported, OperatorOfAnUnknownNumber) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(static_cast<wire::OpType>(4242), "later", {0}, {1});
    expectNotSupported(net, "4242 of node 'later'");
}

TEST(NotSupported, NodesThatNoOutputNeedsDoNotMatter) {
    wire::NetT net = makeReluNet();
    net.tensorName.push_back("t2");
    net.oplists.push_back(makeOp(wire::OpType::Plugin, "mine", {0}, {2}, wire::PluginT()));
    const Opened opened(net, nullptr);
    EXPECT_EQ(opened.status, MNN_OK) << opened.sentence;
}

TEST(NotSupported, StaticModels) {
    wire::NetT net = makeReluNet();
    net.usage = wire::Usage::INFERENCE_STATIC;
    expectNotSupported(net, "static models");
}

TEST(NotSupported, LoopsInTheirLoopForm) {
    wire::NetT net = makeReluNet();
    wire::LoopParamT loop;
    loop.tensorNumber = 2;
    loop.loopNumber = 1;
    loop.inputIndexes = {0};
    loop.outputIndexes = {1};
    loop.extraTensorInfos.push_back(std::make_unique<wire::TensorDescribeT>());
    loop.extraTensorInfos[0]->blob = std::make_unique<wire::BlobT>();
    net.oplists[1] = makeOp(wire::OpType::While, "loop", {0}, {1}, std::move(loop));
    expectNotSupported(net, "While of node 'loop'");
}

struct LogBook {
    std::vector<std::pair<int32_t, std::string>> messages;
    int finalized = 0;
};

void onMessage(void* user, int32_t level, const char* message) {
    auto* book = static_cast<LogBook*>(user);
    EXPECT_EQ(book->finalized, 0) << "a message behind the end";
    book->messages.emplace_back(level, message);
}

// What is sent at a level while a net is loaded that is warned of: two operators make the same tensor.
LogBook logOf(int32_t level) {
    LogBook book;
    mnn_interpreter_options_t options = defaultOptions();
    options.log_level = level;
    options.log_callback = onMessage;
    options.log_user_data = &book;
    options.log_finalizer = [](void* user) { ++static_cast<LogBook*>(user)->finalized; };
    wire::NetT net = makeReluNet();
    net.oplists.push_back(makeOp(wire::OpType::Sigmoid, "again", {0}, {1}));
    const std::vector<uint8_t> bytes = pack(net);
    mnn_interpreter_t* made = nullptr;
    EXPECT_EQ(mnn_interpreter_create_from_memory(bytes.data(), bytes.size(), &options, &made), MNN_OK);
    EXPECT_EQ(book.finalized, 0);
    EXPECT_EQ(mnn_interpreter_destroy(&made), MNN_OK);
    EXPECT_EQ(book.finalized, 1);
    return book;
}

size_t warnings(const LogBook& book) {
    size_t count = 0;
    for (const auto& [level, text] : book.messages)
        if (level == MNN_LOG_WARNING && text.find("'again' produces tensor 1") != std::string::npos) ++count;
    return count;
}

TEST(Log, WarningsComeAtTheirLevelAndBelow) {
    EXPECT_EQ(warnings(logOf(MNN_LOG_DEFAULT)), 1u);
    EXPECT_EQ(warnings(logOf(MNN_LOG_WARNING)), 1u);
    EXPECT_EQ(warnings(logOf(MNN_LOG_DEBUG)), 1u);
    EXPECT_TRUE(logOf(MNN_LOG_ERROR).messages.empty());
}

TEST(Log, MessagesAboveTheLevelAreNotSent) {
    for (const int32_t level : {MNN_LOG_ERROR, MNN_LOG_WARNING, MNN_LOG_INFO, MNN_LOG_DEBUG})
        for (const auto& [told, text] : logOf(level).messages) {
            EXPECT_LE(told, level) << text;
            EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        }
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

TEST_F(ExternalWeightPath, OfNoFileIsToldByName) {
    std::filesystem::remove(path_);
    const mnn_interpreter_options_t chosen = options();
    const Opened opened(net_, &chosen);
    EXPECT_EQ(opened.status, MNN_ERROR_FILE_NOT_EXIST) << opened.sentence;
    EXPECT_NE(opened.sentence.find(path_), std::string::npos) << opened.sentence;
}

TEST_F(ExternalWeightPath, OfAShortFileIsToldWithNumbers) {
    write(5);
    const mnn_interpreter_options_t chosen = options();
    const Opened opened(net_, &chosen);
    EXPECT_EQ(opened.status, MNN_ERROR_TRUNCATED) << opened.sentence;
    EXPECT_NE(opened.sentence.find("24"), std::string::npos) << opened.sentence;
    EXPECT_NE(opened.sentence.find("20"), std::string::npos) << opened.sentence;
}

TEST_F(ExternalWeightPath, IsNeededForAModelOfMemory) {
    const Opened opened(net_, nullptr);
    EXPECT_EQ(opened.status, MNN_ERROR_FILE_NOT_EXIST) << opened.sentence;
}

TEST_F(ExternalWeightPath, IsTheModelsWithAnEndingOfItsOwn) {
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
}  // namespace mnnc::testing
