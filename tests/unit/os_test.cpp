// Tests impl/base/os: files with UTF-8 paths, memory, threads, libraries. They are compiled for each system.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/os/files.h"
#include "base/os/libraries.h"
#include "base/os/memory.h"
#include "base/os/paths.h"
#include "base/os/replace_file.h"
#include "base/os/threads.h"

namespace mnnc::test {
namespace {

using namespace os;
namespace fs = std::filesystem;

// Bytes that the text mode of some systems changes: line ends, and the byte 0x1a, which once ended text files.
const std::string kBytes("one\ntwo\r\n\x1a\0end", 14);

class OsFiles : public ::testing::Test {
  protected:
    OsFiles() {
        for (int i = 0; folder_.empty(); ++i) {  // the name has letters of two, three and four bytes
            const fs::path one =
                fs::temp_directory_path() / pathOf("os_test \xc3\xbc\xe6\x97\xa5\xf0\x9f\x98\x80 " + std::to_string(i));
            if (fs::create_directory(one)) folder_ = one;
        }
    }
    ~OsFiles() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return textOf(folder_ / pathOf(name)); }
    static void write(const std::string& path, const std::string& bytes) {
        std::FILE* const file = openStream(path.c_str(), "wb");
        ASSERT_NE(file, nullptr) << path << ": " << errorText(lastError());
        EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
        EXPECT_EQ(std::fclose(file), 0);
    }
    static std::string content(const InputFile& file) {
        std::string bytes(100, '\0');
        const int64_t got = file.read(0, bytes.data(), bytes.size());
        bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
        return bytes;
    }

    fs::path folder_;
};

TEST_F(OsFiles, PathsAreUtf8) {
    write(path("\xc3\xa9.bin"), kBytes);
    std::set<std::string> names;
    EXPECT_TRUE(listFolder(textOf(folder_).c_str(), [&](const char* name, const FoundFile*) { names.insert(name); }));
    EXPECT_EQ(names, std::set<std::string>{"\xc3\xa9.bin"});
    EXPECT_EQ(textOf(*fs::directory_iterator(folder_)), path("\xc3\xa9.bin"));
    FoundFile found;
    EXPECT_TRUE(findFile(path("\xc3\xa9.bin").c_str(), found));
    EXPECT_FALSE(found.isFolder);
    EXPECT_TRUE(findFile(textOf(folder_).c_str(), found));
    EXPECT_TRUE(found.isFolder);
    // Bytes that are no UTF-8 name no file here; on a system whose names are bytes they might.
    EXPECT_FALSE(fs::exists(folder_ / pathOf("\xff\xfe")));
    EXPECT_FALSE(findFile("\xff\xfe", found));
}

TEST_F(OsFiles, AreReadAndMapped) {
    write(path("file"), kBytes);
    InputFile file, again;
    ASSERT_TRUE(file.open(path("file").c_str()));
    ASSERT_TRUE(again.open(path("file").c_str()));
    EXPECT_EQ(content(file), kBytes);
    char two[2];
    EXPECT_EQ(file.read(4, two, 2), 2);
    EXPECT_EQ(std::string(two, 2), "tw");
    EXPECT_EQ(file.read(kBytes.size(), two, 2), 0);
    FileFacts facts, same;
    ASSERT_TRUE(file.facts(facts));
    ASSERT_TRUE(again.facts(same));
    EXPECT_EQ(facts.kind, FileFacts::Kind::Regular);
    EXPECT_EQ(facts.bytes, static_cast<int64_t>(kBytes.size()));
    EXPECT_EQ(facts.links, 1U);
    EXPECT_EQ(facts.identity, same.identity);
    EXPECT_EQ(facts.modified, same.modified);
    EXPECT_LE(facts.modified, fileClock());
    void* const mapping = file.map(kBytes.size());
    ASSERT_NE(mapping, nullptr);
    EXPECT_EQ(std::memcmp(mapping, kBytes.data(), kBytes.size()), 0);
    dropPages(mapping, kBytes.size());
    EXPECT_EQ(std::memcmp(mapping, kBytes.data(), kBytes.size()), 0);
    unmapFile(mapping, kBytes.size());
}

TEST_F(OsFiles, ThatAreMissingOrFolders) {
    InputFile missing, folder;
    EXPECT_FALSE(missing.open(path("missing").c_str()));
    const int error = lastError();
    EXPECT_TRUE(saysMissing(error));
    EXPECT_FALSE(saysNoMemory(error));
    EXPECT_FALSE(errorText(error).empty());
    ASSERT_TRUE(folder.open(textOf(folder_).c_str()));
    FileFacts facts;
    ASSERT_TRUE(folder.facts(facts));
    EXPECT_EQ(facts.kind, FileFacts::Kind::Folder);
}

// An open file keeps its bytes when its name is removed.
TEST_F(OsFiles, AreMovedAndRemoved) {
    write(path("old"), "old bytes");
    write(path("new"), "new bytes");
    FileFacts before, after;
    {
        InputFile old;
        ASSERT_TRUE(old.open(path("old").c_str()));
        ASSERT_TRUE(old.facts(before));
    }
    ASSERT_TRUE(renameFile(path("new").c_str(), path("old").c_str())) << errorText(lastError());
    {
        InputFile renamed;
        ASSERT_TRUE(renamed.open(path("old").c_str()));
        EXPECT_EQ(content(renamed), "new bytes");
        ASSERT_TRUE(renamed.facts(after));
        EXPECT_NE(before.identity, after.identity);
        EXPECT_TRUE(removeFile(path("old").c_str())) << errorText(lastError());
        EXPECT_EQ(content(renamed), "new bytes");
    }
    EXPECT_FALSE(removeFile(path("old").c_str()));
}

TEST_F(OsFiles, AreReplacedCompletely) {
    const std::string target = path("net \xc3\xa9");
    std::string why;
    for (const size_t size : {size_t{3}, size_t{0}, kBytes.size()}) {
        EXPECT_EQ(replaceFile(target, reinterpret_cast<const uint8_t*>(kBytes.data()), size, why), Replaced::Completely)
            << why;
        InputFile file;
        ASSERT_TRUE(file.open(target.c_str()));
        EXPECT_EQ(content(file), kBytes.substr(0, size));
    }
    EXPECT_EQ(replaceFile(textOf(folder_), nullptr, 0, why), Replaced::NotOpened);
    EXPECT_NE(why.find("it is a directory"), std::string::npos) << why;
    EXPECT_EQ(replaceFile(path("missing/net"), nullptr, 0, why), Replaced::NotOpened);
    EXPECT_NE(why.find("beside"), std::string::npos) << why;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);  // no temporary file stays
}

TEST_F(OsFiles, AnyTextBecomesANameThatIsTaken) {
    EXPECT_EQ(fileNameOf("scores.npy"), "scores.npy");
    EXPECT_EQ(fileNameOf("a/b/c"), "a_b_c");
    for (const char* text : {"", ".", "..", "...", "/", "a/../b", "a:0", "x. ", "con", "NUL.npy", "com1", "q\"<>|?*\\",
                             "\n", "\xc3\xbc.npy"}) {
        const std::string name = fileNameOf(text);
        ASSERT_TRUE(fs::create_directory(folder_ / pathOf(name))) << text << " became " << name;
        std::vector<std::string> found;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
            found.push_back(textOf(entry.path().filename()));
        EXPECT_EQ(found, std::vector<std::string>{name}) << text;
        fs::remove_all(folder_ / pathOf(name));
    }
}

TEST(OsMemory, IsReservedUsedAndReturned) {
    constexpr size_t kBytesReserved = size_t{1} << 34, kPart = size_t{1} << 20;
    auto* const memory = static_cast<unsigned char*>(reserveMemory(kBytesReserved, false));
    ASSERT_NE(memory, nullptr);
    unsigned char* const part = memory + (size_t{1} << 33);
    for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(useMemory(part, kPart));
        EXPECT_EQ(part[0] | part[kPart - 1], 0) << "in round " << round;
        std::memset(part, 7, kPart);
        ASSERT_TRUE(useMemory(part, kPart));
        EXPECT_EQ(part[0] & part[kPart - 1], 7) << "using it again keeps what it contains";
        returnMemory(part, kPart);
    }
    releaseMemory(memory, kBytesReserved);
    EXPECT_EQ(reserveMemory(std::numeric_limits<size_t>::max() / 2, true), nullptr);
    EXPECT_GT(machineMemory(), int64_t{1} << 24);
}

TEST(OsMemory, IsAligned) {
    for (const size_t alignment : {size_t{64}, size_t{4096}}) {
        void* const block = allocateAligned(alignment, 8 * alignment);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0U);
        std::memset(block, 1, 8 * alignment);
        freeAligned(block);
    }
}

// If a thread misses that it is woken, this test runs into its time limit.
TEST(OsThreads, SleepOnANumber) {
    constexpr int kRounds = 5000, kSleepers = 3;
    std::atomic<int> number{0}, seen{0};
    std::vector<std::thread> sleepers;
    for (int i = 0; i < kSleepers; ++i)
        sleepers.emplace_back([&] {
            for (int round = 0; round < kRounds; ++round) {
                sleepWhile(number, round);
                if (seen.fetch_add(1) + 1 == kSleepers * (round + 1)) wakeAll(seen);
            }
        });
    for (int round = 0; round < kRounds; ++round) {
        number.store(round + 1);
        wakeAll(number);
        for (int now = seen.load(); now != kSleepers * (round + 1); now = seen.load()) sleepWhile(seen, now);
    }
    for (std::thread& sleeper : sleepers) sleeper.join();
    EXPECT_EQ(seen.load(), kSleepers * kRounds);
}

TEST(OsThreads, ArePlacedOnCores) {
    const std::vector<UsableCore> cores = usableCores();
    ASSERT_FALSE(cores.empty());
    EXPECT_GE(onlineCores(), 1);
    std::set<int> numbers;
    std::atomic<int> end{0};
    std::thread thread([&] { sleepWhile(end, 0); });
    for (const UsableCore& core : cores) {
        EXPECT_TRUE(numbers.insert(core.number).second);
        EXPECT_TRUE(placeThread(thread.native_handle(), {core.number})) << core.number;
    }
    EXPECT_FALSE(placeThread(thread.native_handle(), {-1}));
    EXPECT_FALSE(placeThread(thread.native_handle(), {std::numeric_limits<int>::max()}));
    end.store(1);
    wakeAll(end);
    thread.join();
}

TEST(OsThreads, AreOfOneProcess) {
    int other = 0;
    std::thread([&] { other = processNumber(); }).join();
    EXPECT_EQ(other, processNumber());
    size_t withName = 0;
    const std::vector<std::string> variables = environmentVariables();
    for (const std::string& variable : variables) withName += variable.find('=') != std::string::npos;
    EXPECT_GT(withName, 0U);
    EXPECT_EQ(withName, variables.size());
}

TEST(OsLibraries, AreFoundByTheirFunctions) {
    EXPECT_FALSE(librariesWith({"malloc"}).empty());
    EXPECT_TRUE(librariesWith({"no function has this name"}).empty());
    keepLoaded("no library has this name");
    EXPECT_LT(duplicateDescriptor(-1), 0);
}

}  // namespace
}  // namespace mnnc::test
