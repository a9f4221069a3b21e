// Model files that stay as they are while they are in use: links, copies in memory, callbacks, threads.
#include <algorithm>
#include <atomic>
#include <thread>

#include "changing_files.h"

namespace mnnc::test {
namespace {

class FilesInUse : public ::testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/mnn_c_changing_XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        folder_ = name;
        model_ = folder_ + "/net.mnn";
    }
    void TearDown() override { fs::remove_all(folder_); }
    void store(const wire::NetT& net) {
        writeFile(model_, pack(net));
        age(model_);
    }
    std::vector<float> expected() {
        const FileInterpreter net(model_, MNN_LOAD_CHUNKED);
        FileSession session(net);
        return session.run();
    }

    std::string folder_, model_;
};

// Links are added and removed (backups by hard links); the bytes stay.
TEST_F(FilesInUse, LinksAreNoChange) {
    store(convNet(1));
    const FileInterpreter net(model_);
    FileSession session(net);
    fs::create_hard_link(model_, folder_ + "/link");
    EXPECT_STATUS(session.resize(12), MNN_OK);
    fs::create_hard_link(model_, folder_ + "/other");
    fs::remove(model_);
    EXPECT_STATUS(session.resize(40), MNN_OK);
}

// The clock of a file system may be too coarse to show a change directly after a write.
TEST_F(FilesInUse, FreshFilesAreKeptInMemory) {
    store(convNet(1));
    const FileInterpreter control(model_);
    FileSession first(control);
    ASSERT_STATUS(first.resize(12), MNN_OK);
    const std::vector<float> expected12 = first.run();
    writeFile(model_, pack(convNet(1)));  // not made older
    const FileInterpreter net(model_);
    ASSERT_STATUS(net.status, MNN_OK);
    writeFile(model_, pack(convNet(50)));
    fs::resize_file(model_, 10);
    FileSession session(net);
    ASSERT_STATUS(session.resize(12), MNN_OK);
    EXPECT_EQ(session.run(), expected12);
    EXPECT_STATUS(session.resize(40), MNN_OK);
}

TEST_F(FilesInUse, AConstantWithTwoConsumers) {
    store(productNet(1));
    const std::vector<float> wanted = expected();
    ASSERT_FALSE(wanted.empty());
    const FileInterpreter net(model_);
    FileSession session(net);
    ASSERT_STATUS(session.status, MNN_OK);
    EXPECT_EQ(session.run(), wanted);
    writeFile(model_, pack(productNet(50)));
    EXPECT_EQ(session.run(), wanted);
    {
        // The second session uses the weights that the first one prepared.
        FileSession second(net);
        if (second.status == MNN_OK) {
            EXPECT_EQ(second.run(), wanted);
        }
    }
    mnn_session_destroy(&session.handle);
    FileSession third(net);
    EXPECT_STATUS(third.status, MNN_ERROR_FILE_CHANGED);
    EXPECT_EQ(third.handle, nullptr);
}

int32_t readInputs(void* seen, const mnn_op_info_t*, const mnn_tensor_t* const* tensors, size_t count) {
    auto& [statuses, values] = *static_cast<std::pair<std::vector<mnn_status>, std::vector<float>>*>(seen);
    for (size_t i = 0; i < count; ++i) {
        size_t elements = 0;
        mnn_tensor_element_count(tensors[i], &elements);
        values.resize(elements);
        statuses.push_back(mnn_tensor_read(tensors[i], values.data(), elements * 4, MNN_FORMAT_NCHW));
    }
    return MNN_OP_RUN;
}

// A callback may read a constant that is packed and not kept.
TEST_F(FilesInUse, CallbacksReadConstants) {
    store(productNet(1));
    const FileInterpreter net(model_);
    FileSession session(net);
    ASSERT_STATUS(session.status, MNN_OK);
    const std::vector<float> wanted = session.run();
    std::pair<std::vector<mnn_status>, std::vector<float>> seen;
    mnn_run_options_t watched;
    mnn_run_options_init(&watched, sizeof watched);
    watched.before = readInputs;
    watched.user_data = &seen;
    ASSERT_STATUS(mnn_session_run_with_options(session.handle, &watched), MNN_OK);
    ASSERT_EQ(seen.first.size(), 6u);  // the inputs of three operators
    for (const mnn_status status : seen.first) EXPECT_STATUS(status, MNN_OK);
    EXPECT_EQ(seen.second, smallFloats(80 * 80, 2));  // c, the last one read
    writeFile(model_, pack(productNet(50)));
    seen.first.clear();
    ASSERT_STATUS(mnn_session_run_with_options(session.handle, &watched), MNN_OK);
    EXPECT_EQ(std::count(seen.first.begin(), seen.first.end(), MNN_ERROR_FILE_CHANGED), 1);
    EXPECT_EQ(session.run(), wanted);
}

TEST_F(FilesInUse, SeveralThreadsCreateSessions) {
    store(productNet(1));
    const std::vector<float> wanted = expected();
    const FileInterpreter net(model_);
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 10; ++i) {
                FileSession session(net);
                right += session.status == MNN_OK && session.run() == wanted;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 40);
}

TEST_F(FilesInUse, TheFileIsClosedAtTheEnd) {
    store(convNet(1));
    const auto descriptors = [] {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    const auto before = descriptors();
    {
        const FileInterpreter net(model_);
        FileSession session(net);
        EXPECT_EQ(session.resize(12), MNN_OK);
        EXPECT_EQ(descriptors(), before + 1);
    }
    EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace mnnc::test
