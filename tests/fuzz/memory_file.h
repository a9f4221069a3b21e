// A file whose bytes lie in memory, for functions that take a path.
#pragma once
#include <sys/mman.h>
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
        if (ftruncate(descriptor_, 0) != 0) std::abort();
        for (size_t done = 0; done < size;) {
            const ssize_t put = pwrite(descriptor_, data + done, size - done, static_cast<off_t>(done));
            if (put <= 0) std::abort();
            done += static_cast<size_t>(put);
        }
    }
    const std::string& path() const { return path_; }

  private:
    int descriptor_;
    std::string path_;
};

}  // namespace fuzz
