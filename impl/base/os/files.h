// Opens, reads, maps, moves and lists files. Paths are UTF-8. A call that fails returns false, null or a negative
// number, and lastError() returns the reason until the next call.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace mnnc::os {

int lastError() noexcept;
// Returns the system's sentence for an error. Safe to call from several threads.
std::string errorText(int error);
// Whether the error says that there is no such file.
bool saysMissing(int error) noexcept;
// Whether the error says that there is no memory.
bool saysNoMemory(int error) noexcept;

// The state of an open file. A change of the file changes a field after `kind`.
struct FileFacts {
    enum class Kind { Regular, Folder, Other };
    Kind kind = Kind::Other;
    int64_t bytes = 0;
    std::array<uint64_t, 2> identity{};  // the file system, and the file in it
    uint64_t links = 0;                  // paths of the file
    int64_t modified = 0;                // when its bytes changed, in nanoseconds since 1970
    int64_t changed = 0;                 // when its bytes, rights or number of links changed
};

// A file that is open for reading. Its path may be removed, or taken by another file, meanwhile.
class InputFile {
  public:
    InputFile() = default;
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    // Does not wait for the writer of a pipe. The path may name a folder or a device.
    bool open(const char* path) noexcept;
    bool facts(FileFacts& facts) const noexcept;
    // Returns how many bytes were read: 0 at the end, below 0 after a failure. Safe to call from several threads.
    int64_t read(uint64_t offset, void* out, size_t bytes) const noexcept;
    // Maps the first `bytes` bytes, which are not 0, for reading. Null: they cannot be mapped.
    void* map(size_t bytes) const noexcept;

  private:
    intptr_t handle_ = -1;
};

void unmapFile(void* mapping, size_t bytes) noexcept;
// Removes pages of a mapped file from memory; a later access reads them from the file again.
void dropPages(void* begin, size_t bytes) noexcept;

// Returns nanoseconds since 1970 by the clock from which files get their times; INT64_MAX when it cannot be read.
int64_t fileClock() noexcept;

// Like fopen(); a child process does not inherit the file.
std::FILE* openStream(const char* path, const char* mode) noexcept;
// Moves a file to a path, and replaces a file that is there. Windows refuses this while that file is open.
bool renameFile(const char* from, const char* to) noexcept;
bool removeFile(const char* path) noexcept;

// Numbers that change with the contents of a file or a folder, and with its permissions; their meaning depends on the
// system.
struct FoundFile {
    bool isFolder = false;
    std::array<uint64_t, 5> contents{};     // identity, size and times
    std::array<uint64_t, 4> permissions{};  // rights, owner and the device
};
bool findFile(const char* path, FoundFile& found) noexcept;
// Calls a function for each entry of a folder except "." and "..", with null where nothing is known about the entry.
bool listFolder(const char* path, const std::function<void(const char* name, const FoundFile*)>& entry);

}  // namespace mnnc::os
