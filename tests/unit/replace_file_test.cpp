// A file is replaced completely, or not changed.
#include "session/replace_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "model_builder.h"

namespace mnnc::test {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

class ReplaceFile : public ::testing::Test {
  protected:
    ReplaceFile() {
        std::string made = (fs::temp_directory_path() / "replace_file_test.XXXXXX").string();
        folder_ = mkdtemp(made.data());
    }
    ~ReplaceFile() override { fs::remove_all(folder_); }
    std::string path() const { return (folder_ / "file").string(); }
    Bytes content() const {
        std::ifstream file(path(), std::ios::binary);
        return Bytes(std::istreambuf_iterator<char>(file), {});
    }
    // Returns the number of files and folders.
    long entries() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

    fs::path folder_;
};

TEST_F(ReplaceFile, IsReplacedAsAWhole) {
    Bytes bytes(100000);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 >> 3);
    for (const size_t size : {size_t{100000}, size_t{3}, size_t{0}, size_t{5000}}) {
        const Bytes wanted(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        replaceFile(path(), wanted);
        EXPECT_EQ(content(), wanted);
        EXPECT_EQ(entries(), 1);
    }
}

TEST_F(ReplaceFile, LeavesNothingBehindWhenItCannotBeWritten) {
    fs::create_directories(path() + "/inner");  // a folder that no file replaces
    expectFailure(Status::FileOpenFailed, "cannot write '" + path() + "': it is a directory", [&] {
        replaceFile(path(), {1, 2, 3});
    });
    EXPECT_TRUE(fs::is_directory(path()));
    EXPECT_EQ(entries(), 1);
    const std::string nowhere = (folder_ / "missing" / "file").string();
    expectFailure(Status::FileOpenFailed, "beside '" + nowhere + "'", [&] { replaceFile(nowhere, {1}); });
    EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace mnnc::test
