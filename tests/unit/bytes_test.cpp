// The bytes of a model: mapped, read, copied or borrowed, and the errors for files that cannot be read.
#include "model/bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
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
    // Released or not, the bytes are those of the file.
    mapped.dropPages();
    read.dropPages();
    ASSERT_EQ(mapped.size(), content.size());
    ASSERT_EQ(read.size(), content.size());
    EXPECT_EQ(std::memcmp(mapped.view(0, content.size()).bytes.data(), content.data(), content.size()), 0);
    EXPECT_EQ(std::memcmp(read.view(0, content.size()).bytes.data(), content.data(), content.size()), 0);

    alignas(8) uint8_t aligned[16] = {};
    EXPECT_EQ(ModelBytes::borrowed(aligned, 8).view(0, 8).bytes.data(), aligned);
    const ModelBytes moved = ModelBytes::borrowed(aligned + 1, 8);
    EXPECT_NE(moved.view(0, 8).bytes.data(), aligned + 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(moved.view(0, 8).bytes.data()) % 8, 0u);
}

TEST(ModelBytes, WhatWasFetchedOutlivesTheSource) {
    std::vector<uint8_t> content(3 * 4096 + 5);
    for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<uint8_t>(i % 251);
    auto owner = std::make_shared<int>(0);
    const std::weak_ptr<int> given = owner;
    ModelBytes bytes = ModelBytes::borrowed(content.data(), content.size(), std::move(owner));
    EXPECT_EQ(bytes.data(), nullptr);
    ASSERT_TRUE(bytes.fetch(4096, 1));
    EXPECT_FALSE(bytes.fetch(content.size(), 1));
    EXPECT_TRUE(bytes.inMemory(4096, 4096));
    EXPECT_FALSE(bytes.inMemory(4095, 2));
    EXPECT_FALSE(bytes.inMemory(4096, 4097));
    {
        const HeldBytes held = bytes.view(1, 2);
        EXPECT_EQ(held.bytes.data(), content.data() + 1);  // in place
        bytes.release();
        EXPECT_FALSE(given.expired());
        EXPECT_EQ(held.bytes[0], 1);
    }
    EXPECT_TRUE(given.expired());
    bytes.release();
    EXPECT_EQ(bytes.view(4097, 1).bytes[0], 4097 % 251);
    expectFailure(Status::BadState, "mnn_interpreter_release_model", [&] { bytes.view(1, 2); });
    expectFailure(Status::BadState, "once more", [&] { bytes.view(8192, 1); });
    bytes.requireUnchanged();
    bytes.dropPages();
    EXPECT_EQ(bytes.size(), content.size());
}

#if !defined(__SANITIZE_ADDRESS__)  // its blocks are not made of pages
size_t residentBytes(const uint8_t* data, size_t size) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((size + page - 1) / page);
    EXPECT_EQ(::mincore(const_cast<uint8_t*>(data), size, pages.data()), 0);
    return page * static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](int flags) { return flags & 1; }));
}

// A constant that is used in place keeps its own pages after a release, not the model.
TEST(ModelBytes, ReleasedBytesKeepThePagesOfViews) {
    constexpr size_t kSize = (size_t{3} << 20) + 123, kPages = size_t{128} << 10;
    std::vector<uint8_t> content(kSize);
    for (size_t i = 0; i < kSize; ++i) content[i] = static_cast<uint8_t>(1 + i % 251);
    const ModelBytes bytes = ModelBytes::copied(content.data(), kSize);
    const size_t first = 300000, second = (size_t{2} << 20) - 5, count = 200000;
    HeldBytes early = bytes.view(first, count), late = bytes.view(second, count), last = bytes.view(kSize - 9, 9);
    const uint8_t* data = early.bytes.data() - first;
    EXPECT_GE(residentBytes(data, kSize), kSize);
    bytes.release();
    EXPECT_LE(residentBytes(data, kSize), 2 * (count + kPages) + kPages);
    EXPECT_TRUE(std::equal(early.bytes.begin(), early.bytes.end(), content.begin() + first));
    EXPECT_TRUE(std::equal(last.bytes.begin(), last.bytes.end(), content.end() - 9));
    expectFailure(Status::BadState, "release", [&] { bytes.view(first, count); });
    early.owner.reset();
    EXPECT_LE(residentBytes(data, kSize), count + 2 * kPages);
    EXPECT_TRUE(std::equal(late.bytes.begin(), late.bytes.end(), content.begin() + second));
}

TEST(ModelBytes, ViewsShareTheirPages) {
    constexpr size_t kSize = size_t{1} << 20;
    const std::vector<uint8_t> content(kSize, 7);
    const ModelBytes bytes = ModelBytes::copied(content.data(), kSize);
    HeldBytes whole = bytes.view(100000, 500000), inner = bytes.view(200000, 100), behind = bytes.view(600001, 50000);
    const uint8_t* data = whole.bytes.data() - 100000;
    bytes.release();
    whole.owner.reset();
    EXPECT_EQ(inner.bytes[0], 7);
    EXPECT_EQ(inner.bytes[99], 7);
    EXPECT_EQ(behind.bytes[0], 7);
    EXPECT_LE(residentBytes(data, kSize), 50000 + (size_t{256} << 10));
}
#endif

}  // namespace
}  // namespace mnnc::test
