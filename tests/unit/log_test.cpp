// Messages of the library at each log level, through the public functions.
#include "opened_model.h"

namespace mnnc::test {
namespace {

struct LogBook {
    std::vector<std::pair<int32_t, std::string>> messages;
    int finalized = 0;
};

void onMessage(void* user, int32_t level, const char* message) {
    auto* book = static_cast<LogBook*>(user);
    EXPECT_EQ(book->finalized, 0) << "a message behind the end";
    book->messages.emplace_back(level, message);
}

// The messages at a level while a net is loaded whose two operators produce the same tensor, which is warned of.
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
        for (const auto& [sent, text] : logOf(level).messages) {
            EXPECT_LE(sent, level) << text;
            EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        }
}

}  // namespace
}  // namespace mnnc::test
