// The cores of a machine: the contents of the kernel's files, and the cores for the threads of a power.
#include "backend/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "backend/backend.h"
#include "base/os/threads.h"

namespace mnnc::test {
namespace {

using List = std::vector<int>;

// A phone: one prime core, three large ones, four small ones.
const std::vector<CoreSpeed> kPhone = {{0, 300}, {1, 300}, {2, 300}, {3, 300}, {4, 800}, {5, 800}, {6, 800}, {7, 1024}};

TEST(Cores, HighPowerTakesTheFastestThatAreEnough) {
    EXPECT_EQ(coresOf(kPhone, {}, Power::High, 1), List({7}));
    EXPECT_EQ(coresOf(kPhone, {}, Power::High, 2), List({7, 4, 5, 6}));
    EXPECT_EQ(coresOf(kPhone, {}, Power::High, 4), List({7, 4, 5, 6}));
    EXPECT_EQ(coresOf(kPhone, {}, Power::High, 5), List());  // all of them: no reason to bind threads
}

TEST(Cores, LowPowerTakesTheSlowest) {
    EXPECT_EQ(coresOf(kPhone, {}, Power::Low, 1), List({0, 1, 2, 3}));
    EXPECT_EQ(coresOf(kPhone, {}, Power::Low, 4), List({0, 1, 2, 3}));
    EXPECT_EQ(coresOf(kPhone, {}, Power::Low, 6), List({0, 1, 2, 3, 4, 5, 6}));
}

TEST(Cores, OnlyThoseThatAreWanted) {
    EXPECT_EQ(coresOf(kPhone, {1, 5, 2}, Power::Normal, 4), List({1, 5, 2}));
    EXPECT_EQ(coresOf(kPhone, {1, 5, 2}, Power::High, 1), List({5}));
    EXPECT_EQ(coresOf(kPhone, {1, 5, 2}, Power::Low, 2), List({1, 2}));
    EXPECT_EQ(coresOf(kPhone, {4, 5, 6}, Power::Low, 1), List({4, 5, 6}));  // alike
    EXPECT_EQ(coresOf({}, {}, Power::High, 4), List());
    EXPECT_EQ(coresOf({}, {3}, Power::High, 4), List({3}));
}

class Description : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / ("mnn_c_cores_" + std::to_string(getpid()));
        std::filesystem::create_directories(folder_);
        machine_ = machineCores(folder_.string());
        ASSERT_FALSE(machine_.empty());
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(int core, const char* name, const std::string& text) const {
        const auto path = folder_ / ("cpu" + std::to_string(core)) / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    std::filesystem::path folder_;
    std::vector<CoreSpeed> machine_;  // without files to read
};

TEST_F(Description, CapacitiesComeBeforeFrequencies) {
    for (const CoreSpeed& one : machine_) {
        EXPECT_EQ(one.speed, 0);
        write(one.core, "cpufreq/cpuinfo_max_freq", std::to_string(1000000 + one.core) + "\n");
    }
    for (const CoreSpeed& one : machineCores(folder_.string())) EXPECT_EQ(one.speed, 1000000 + one.core);
    for (const CoreSpeed& one : machine_) write(one.core, "cpu_capacity", std::to_string(100 + one.core) + "\n");
    for (const CoreSpeed& one : machineCores(folder_.string())) EXPECT_EQ(one.speed, 100 + one.core);
}

TEST_F(Description, FilesThatMakeNoSense) {
    for (const char* text : {"", "fast\n", "-5\n", "0\n", "99999999999999999999999999\n"}) {
        for (const CoreSpeed& one : machine_) write(one.core, "cpu_capacity", text);
        for (const CoreSpeed& one : machineCores(folder_.string())) EXPECT_GE(one.speed, 0);
    }
    // If one core has no number, no comparison is possible.
    write(machine_.front().core, "cpu_capacity", "no number");
    for (const CoreSpeed& one : machineCores(folder_.string())) EXPECT_EQ(one.speed, 0);
}

TEST(Cores, AThreadIsPlaced) {
    cpu_set_t before, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    const std::vector<CoreSpeed> machine = machineCores();
    ASSERT_FALSE(machine.empty());
    const int core = machine.back().core;
    bool placed = false;
    cpu_set_t seen;
    CPU_ZERO(&seen);
    std::thread([&] {
        placed = os::placeThread(pthread_self(), {core});
        sched_getaffinity(0, sizeof seen, &seen);
    }).join();
    EXPECT_TRUE(placed);
    EXPECT_EQ(CPU_COUNT(&seen), 1);
    EXPECT_TRUE(CPU_ISSET(core, &seen));
    EXPECT_FALSE(os::placeThread(pthread_self(), {-1}));
    EXPECT_FALSE(os::placeThread(pthread_self(), {CPU_SETSIZE}));
    EXPECT_FALSE(os::placeThread(pthread_self(), {CPU_SETSIZE - 1}));
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace mnnc::test
