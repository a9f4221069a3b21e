// The kind of core of an Arm CPU, from the kernel's description.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/cpu/processor/core_kind.h"

namespace mnnc::test {
namespace {

TEST(CoreKind, ReadsThePartOfEachProcessor) {
    const auto cores = describedCores(
        "processor\t: 0\nBogoMIPS\t: 38.40\nFeatures\t: fp asimd asimddp\nCPU implementer\t: 0x41\n"
        "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd05\nCPU revision\t: 0\n\n"
        "processor\t: 4\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\nHardware\t: a board\n");
    ASSERT_EQ(cores.size(), 2u);
    EXPECT_EQ(cores[0].processor, 0);
    EXPECT_EQ(cores[0].part, 0x41d05u);
    EXPECT_EQ(cores[1].processor, 4);
    EXPECT_EQ(cores[1].part, 0x41d0bu);
}

TEST(CoreKind, OtherTextsNameNoPart) {
    EXPECT_TRUE(describedCores("").empty());
    EXPECT_TRUE(describedCores("CPU part\t: 0xd05\n").empty());
    for (const char* text : {"processor\t: 0\nvendor_id\t: AuthenticAMD\n", "processor : 0\nCPU part : 0xd05",
                             "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0500\n",
                             "processor : 0\nCPU implementer : 0x141\nCPU part : 0xd05\n",
                             "processor : 0\nCPU implementer : 0x41\nCPU part : core\n",
                             "processor : 0\n : \n:\nCPU implementer :\nCPU part :"}) {
        const auto cores = describedCores(text);
        ASSERT_EQ(cores.size(), 1u) << text;
        EXPECT_EQ(cores[0].part, 0u) << text;
    }
    EXPECT_TRUE(describedCores("processor : -3\nprocessor : many\nprocessor : 99999999999999999999\n").empty());
}

// A folder in the form of the kernel's description of processors.
class Processors {
  public:
    Processors() {
        std::string name = (std::filesystem::temp_directory_path() / "core_kind.XXXXXX").string();
        EXPECT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    ~Processors() { std::filesystem::remove_all(folder_); }
    void add(int processor, int index, const char* level, const char* type, const char* size) {
        const auto place = folder_ / ("cpu" + std::to_string(processor)) / "cache" / ("index" + std::to_string(index));
        std::filesystem::create_directories(place);
        std::ofstream(place / "level") << level << "\n";
        std::ofstream(place / "type") << type << "\n";
        std::ofstream(place / "size") << size << "\n";
    }
    CoreCaches caches(int processor) const { return describedCaches(folder_.string(), processor); }

  private:
    std::filesystem::path folder_;
};

TEST(CoreKind, ReadsCaches) {
    Processors all;
    all.add(0, 0, "1", "Data", "32K");
    all.add(0, 1, "1", "Instruction", "48K");
    all.add(0, 2, "2", "Unified", "1M");
    all.add(0, 3, "3", "Unified", "8192K");
    all.add(4, 0, "1", "Data", "0K");
    all.add(4, 1, "2", "Unified", "a lot");
    EXPECT_EQ(all.caches(0).level1Data, 32 << 10);
    EXPECT_EQ(all.caches(0).level2, 1 << 20);
    for (const int processor : {4, 5}) {
        EXPECT_EQ(all.caches(processor).level1Data, 0);
        EXPECT_EQ(all.caches(processor).level2, 0);
    }
}

TEST(CoreKind, TheLargestCoreDecides) {
    const CoreKind little{{32 << 10, 128 << 10}, 0x41d05, false, false},
        big{{64 << 10, 256 << 10}, 0x41d0b, false, false}, prime{{64 << 10, 512 << 10}, 0x41d0b, false, false},
        other{{64 << 10, 512 << 10}, 0x41d44, false, false};
    EXPECT_EQ(largestCore({}).part, 0u);
    EXPECT_EQ(largestCore({little, big}).part, big.part);
    EXPECT_EQ(largestCore({big, little}).part, big.part);
    EXPECT_EQ(largestCore({big, prime, little}).caches.level2, prime.caches.level2);
    // The order does not matter.
    EXPECT_EQ(largestCore({prime, other}).part, other.part);
    EXPECT_EQ(largestCore({other, prime}).part, other.part);
}

TEST(CoreKind, IsTheSameEachTime) {
    const CoreKind first = detectCoreKind(), second = detectCoreKind();
    EXPECT_EQ(first.part, second.part);
    EXPECT_EQ(first.caches.level2, second.caches.level2);
    EXPECT_EQ(first.i8mm, second.i8mm);
}

}  // namespace
}  // namespace mnnc::test
