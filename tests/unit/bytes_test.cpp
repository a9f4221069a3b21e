// The bytes of a model: mapped, read, copied or borrowed, and how a file that cannot be read is refused.
#include "model/bytes.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model_builder.h"

namespace mnnc::test {
namespace {

class TempFile {
  public:
    explicit TempFile(const std::vector<uint8_t>& bytes) {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        path_ = ::testing::TempDir() + "mnnc_" + info->test_suite_name() + "_" + info->name() + ".bin";
        std::ofstream(path_, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    ~TempFile() { std::filesystem::remove(path_); }
    const char* path() const { return path_.c_str(); }

  private:
    std::string path_;
};

TEST(ModelBytes, FileErrors) {
    expectFailure(Status::NullArgument, "NULL", [] { ModelBytes::fromFile(nullptr); });
    expectFailure(Status::FileNotExist, "/no/such/file", [] { ModelBytes::fromFile("/no/such/file"); });
    expectFailure(Status::FileOpenFailed, "directory", [] { ModelBytes::fromFile("/"); });
    expectFailure(Status::FileOpenFailed, "regular", [] { ModelBytes::fromFile("/dev/null"); });
    const TempFile empty({});
    expectFailure(Status::Truncated, "empty", [&] { ModelBytes::fromFile(empty.path()); });
}

TEST(ModelBytes, UnreadableFile) {
    const TempFile file({1, 2, 3});
    std::filesystem::permissions(file.path(), std::filesystem::perms::none);
    // root may read everything, so the test becomes the user `nobody` for a moment.
    const bool isRoot = ::geteuid() == 0;
    if (isRoot && ::seteuid(65534) != 0) GTEST_SKIP() << "this user may read everything";
    expectFailure(Status::FileOpenFailed, "denied", [&] { ModelBytes::fromFile(file.path()); });
    if (isRoot) {
        EXPECT_EQ(::seteuid(0), 0);
    }
}

TEST(ModelBytes, MemoryErrors) {
    const uint8_t byte = 0;
    expectFailure(Status::NullArgument, "NULL", [] { ModelBytes::copied(nullptr, 4); });
    expectFailure(Status::NullArgument, "NULL", [] { ModelBytes::borrowed(nullptr, 4); });
    expectFailure(Status::Truncated, "empty", [&] { ModelBytes::borrowed(&byte, 0); });
}

TEST(ModelBytes, MappedReadAndBorrowedBytesAgree) {
    const std::vector<uint8_t> content = pack(makeReluNet());
    const TempFile file(content);
    const ModelBytes mapped = ModelBytes::fromFile(file.path(), ModelBytes::Access::Map);
    const ModelBytes read = ModelBytes::fromFile(file.path(), ModelBytes::Access::Read);
    EXPECT_TRUE(mapped.isMapped());
    EXPECT_FALSE(read.isMapped());
    // Given back or not, the bytes are those of the file.
    mapped.dropPages();
    read.dropPages();
    ASSERT_EQ(mapped.size(), content.size());
    ASSERT_EQ(read.size(), content.size());
    EXPECT_EQ(std::memcmp(mapped.data(), content.data(), content.size()), 0);
    EXPECT_EQ(std::memcmp(read.data(), content.data(), content.size()), 0);

    alignas(8) uint8_t aligned[16] = {};
    EXPECT_EQ(ModelBytes::borrowed(aligned, 8).data(), aligned);
    const ModelBytes moved = ModelBytes::borrowed(aligned + 1, 8);
    EXPECT_NE(moved.data(), aligned + 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(moved.data()) % 8, 0u);
}

}  // namespace
}  // namespace mnnc::test
