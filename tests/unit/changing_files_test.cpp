// Model and weight files that are replaced, changed or removed while they are in use, through the public functions.
#include "changing_files.h"

#include <map>

namespace mnnc::test {
namespace {

struct Event {
    const char* name;
    void (*act)(const std::string& path, const Bytes& other);
    bool changes;
};

const Event kEvents[] = {
    {"copied_over", [](const std::string& path, const Bytes& other) { writeFile(path, other); }, true},
    {"overwritten_in_place",
     [](const std::string& path, const Bytes& other) {
         std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
         file.seekp(static_cast<std::streamoff>(other.size() / 2));
         file.write(reinterpret_cast<const char*>(other.data() + other.size() / 2), 4096);
     },
     true},
    {"truncated", [](const std::string& path, const Bytes& other) { fs::resize_file(path, other.size() / 2); }, true},
    {"emptied", [](const std::string& path, const Bytes&) { fs::resize_file(path, 0); }, true},
    {"appended", [](const std::string& path, const Bytes& other) { fs::resize_file(path, other.size() + 100); }, true},
    {"touched", [](const std::string& path, const Bytes&) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }, true},
    {"written_with_its_old_time",
     [](const std::string& path, const Bytes& other) {
         const auto time = fs::last_write_time(path);
         writeFile(path, other);
         fs::last_write_time(path, time);
     },
     true},
    {"renamed_over",
     [](const std::string& path, const Bytes& other) {
         writeFile(path + ".new", other);
         fs::rename(path + ".new", path);
     },
     false},
    {"removed", [](const std::string& path, const Bytes&) { fs::remove(path); }, false},
    {"linked", [](const std::string& path, const Bytes&) { fs::create_hard_link(path, path + ".link"); }, false},
};

class ChangingFiles : public ::testing::TestWithParam<std::tuple<Event, bool>> {
  protected:
    void SetUp() override {
        char name[] = "/tmp/mnn_c_changing_XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        folder_ = name;
        model_ = folder_ + "/net.mnn";
        event_ = std::get<0>(GetParam());
        external_ = std::get<1>(GetParam());
        if (external_) {
            const auto [net, weights] = externalNet(1);
            writeFile(model_, net);
            writeFile(model_ + ".weight", weights);
            other_ = externalNet(50).second;
            age(model_ + ".weight");
        } else {
            writeFile(model_, pack(convNet(1)));
            other_ = pack(convNet(50));
        }
        age(model_);
        const FileInterpreter net(model_, MNN_LOAD_CHUNKED);
        FileSession session(net);
        for (const int32_t side : {12, 40}) {
            ASSERT_STATUS(session.resize(side), MNN_OK);
            expected_[side] = session.run();
        }
    }
    void TearDown() override { fs::remove_all(folder_); }

    void act() { event_.act(external_ ? model_ + ".weight" : model_, other_); }
    mnn_status wanted() const { return event_.changes ? MNN_ERROR_FILE_CHANGED : MNN_OK; }

    std::string folder_, model_;
    Event event_{};
    bool external_ = false;
    Bytes other_;
    std::map<int32_t, std::vector<float>> expected_;
};

TEST_P(ChangingFiles, BeforeAPlan) {
    const FileInterpreter net(model_);
    ASSERT_STATUS(net.status, MNN_OK);
    FileSession session(net);  // the input's extents are open, so no plan is made
    ASSERT_STATUS(session.status, MNN_OK);
    act();
    EXPECT_STATUS(session.resize(12), wanted());
    FileSession later(net);
    EXPECT_STATUS(later.status, MNN_OK);
    EXPECT_STATUS(later.resize(12), wanted());
    if (!event_.changes) {
        EXPECT_EQ(later.run(), expected_[12]);
        EXPECT_EQ(session.run(), expected_[12]);
    }
}

TEST_P(ChangingFiles, BeforeAnotherShape) {
    const FileInterpreter net(model_);
    FileSession session(net);
    ASSERT_STATUS(session.resize(12), MNN_OK);
    EXPECT_EQ(session.run(), expected_[12]);
    act();
    // The weights for the other shape are read again, or were prepared for the first one.
    const mnn_status status = session.resize(40);
    EXPECT_STATUS(status, wanted());
    if (status == MNN_OK) {
        EXPECT_EQ(session.run(), expected_[40]);
    }
    ASSERT_STATUS(session.resize(12), MNN_OK);
    EXPECT_EQ(session.run(), expected_[12]);
    EXPECT_EQ(session.run(9).size(), expected_[12].size());
    EXPECT_STATUS(session.resize(40), wanted());
    ASSERT_STATUS(session.resize(12), MNN_OK);
    EXPECT_EQ(session.run(), expected_[12]);
}

TEST_P(ChangingFiles, BeforeARun) {
    const FileInterpreter net(model_);
    FileSession session(net);
    ASSERT_STATUS(session.resize(40), MNN_OK);
    act();
    EXPECT_EQ(session.run(), expected_[40]);
    EXPECT_EQ(session.run(), expected_[40]);
}

std::string nameOf(const ::testing::TestParamInfo<std::tuple<Event, bool>>& info) {
    return std::string(std::get<1>(info.param) ? "weights_" : "model_") + std::get<0>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Events, ChangingFiles, ::testing::Combine(::testing::ValuesIn(kEvents), ::testing::Bool()),
                         nameOf);

}  // namespace
}  // namespace mnnc::test
