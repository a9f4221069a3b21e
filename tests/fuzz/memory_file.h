// A file whose bytes lie in memory, for functions that take a path.
#pragma once
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace fuzz {

class MemoryFile {
  public:
    MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
        if (descriptor_ < 0) std::abort();
        path_ = "/proc/self/fd/" + std::to_string(descriptor_);
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    void set(const uint8_t* data, size_t size) {
        cut(0);
        while (size_ < size) {
            const ssize_t put = pwrite(descriptor_, data + size_, size - size_, static_cast<off_t>(size_));
            if (put <= 0) std::abort();
            size_ += static_cast<size_t>(put);
        }
    }
    void cut(size_t size) {
        if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) std::abort();
        size_ = size;
    }
    void overwrite(size_t offset, uint8_t byte) {
        if (pwrite(descriptor_, &byte, 1, static_cast<off_t>(offset)) != 1) std::abort();
    }
    // Sets the time of the last modification to 2001.
    void age() {
        const timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
        if (futimens(descriptor_, times) != 0) std::abort();
    }
    size_t size() const { return size_; }
    const std::string& path() const { return path_; }

  private:
    int descriptor_;
    size_t size_ = 0;
    std::string path_;
};

}  // namespace fuzz
