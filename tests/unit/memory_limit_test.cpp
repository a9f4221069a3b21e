// The memory limit of a container, read from copies of the system's files.
#include "session/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace mnnc::test {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

class MemoryLimit : public ::testing::Test {
  protected:
    void SetUp() override {
        root_ = std::filesystem::temp_directory_path() /
                ("mnn_c_cgroup_" + std::to_string(reinterpret_cast<uintptr_t>(this)));
        std::filesystem::create_directories(root_);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void put(const std::string& path, const std::string& text) {
        const std::filesystem::path file = root_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    int64_t limit() const { return containerMemoryLimit(root_.string()); }

    std::filesystem::path root_;
};

TEST_F(MemoryLimit, NoControlGroupsNoLimit) {
    EXPECT_EQ(limit(), kNone);
    put("proc/self/cgroup", "0::/\n");
    EXPECT_EQ(limit(), kNone);
    put("sys/fs/cgroup/memory.max", "max\n");
    EXPECT_EQ(limit(), kNone);
}

TEST_F(MemoryLimit, TheSmallestOfAGroupAndItsParentsCounts) {
    put("proc/self/cgroup", "0::/outer/inner\n");
    put("sys/fs/cgroup/outer/inner/memory.max", "max\n");
    put("sys/fs/cgroup/outer/memory.max", "500000000\n");
    EXPECT_EQ(limit(), 500000000);
    put("sys/fs/cgroup/outer/inner/memory.max", "300000000\n");
    EXPECT_EQ(limit(), 300000000);
    put("sys/fs/cgroup/memory.max", "200000000\n");
    EXPECT_EQ(limit(), 200000000);
}

TEST_F(MemoryLimit, VersionOneHasASeparateController) {
    put("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/x\n1:name=systemd:/\n");
    put("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "123456789\n");
    EXPECT_EQ(limit(), 123456789);
    put("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes",
        "9223372036854771712\n");  // the form of "no limit"
    EXPECT_EQ(limit(), 9223372036854771712);
}

TEST_F(MemoryLimit, InvalidFilesAreNoLimit) {
    put("proc/self/cgroup", "senseless\n::\n0::/../../etc\n0::/g\n");
    put("sys/fs/cgroup/g/memory.max", "-5\n");
    EXPECT_EQ(limit(), kNone);
    put("sys/fs/cgroup/g/memory.max", "99999999999999999999999\n");
    EXPECT_EQ(limit(), kNone);
    put("sys/fs/cgroup/g/memory.max", "");
    EXPECT_EQ(limit(), kNone);
}

TEST_F(MemoryLimit, TheDefaultIsNeverAboveIt) {
    EXPECT_GT(defaultMemoryLimit(), 0);
    EXPECT_LE(defaultMemoryLimit(), containerMemoryLimit(""));
}

}  // namespace
}  // namespace mnnc::test
