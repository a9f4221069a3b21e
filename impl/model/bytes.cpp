// Files and buffers as bytes: POSIX open, mmap with a chunked read as the fallback.
// Every failure names the path and carries the text of the operating system.
#include "model/bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace mnnc {

namespace {

constexpr size_t kReadChunk = size_t{16} << 20;
constexpr uintptr_t kAlignment = 8;

class FileDescriptor {
  public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    ~FileDescriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

// std::strerror is not thread-safe; this is.
std::string osText(int error) {
    return std::generic_category().message(error);
}

void readAll(int fd, uint8_t* out, size_t size, const char* path) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = ::read(fd, out + done, std::min(kReadChunk, size - done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(Status::FileReadFailed, "cannot read '%s': %s", path, osText(errno).c_str());
        if (got == 0)
            fail(Status::FileReadFailed, "cannot read '%s': it ended after %zu of %zu bytes", path, done,
                 size);
        done += static_cast<size_t>(got);
    }
}

}  // namespace

ModelBytes& ModelBytes::operator=(ModelBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapping_, other.mapping_);
    std::swap(owned_, other.owned_);
    return *this;
}

ModelBytes::~ModelBytes() {
    if (mapping_) ::munmap(mapping_, size_);
}

ModelBytes ModelBytes::fromFile(const char* path, Access access) {
    if (!path) fail(Status::NullArgument, "the path of the file is NULL");
    // O_NONBLOCK: opening a named pipe must not hang; it is refused below.
    const FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) {
        const int error = errno;
        const bool missing = error == ENOENT || error == ENOTDIR;
        fail(missing ? Status::FileNotExist : Status::FileOpenFailed, "cannot open '%s': %s", path,
             osText(error).c_str());
    }
    struct stat info {};
    if (::fstat(file.get(), &info) != 0)
        fail(Status::FileOpenFailed, "cannot examine '%s': %s", path, osText(errno).c_str());
    if (S_ISDIR(info.st_mode))
        fail(Status::FileOpenFailed, "cannot open '%s': %s", path, osText(EISDIR).c_str());
    if (!S_ISREG(info.st_mode))
        fail(Status::FileOpenFailed, "cannot open '%s': it is not a regular file", path);
    if (info.st_size <= 0) fail(Status::Truncated, "'%s' is empty", path);

    ModelBytes bytes;
    const size_t size = static_cast<size_t>(info.st_size);
    if (access == Access::Map) {
        void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
        if (mapping != MAP_FAILED) {
            bytes.mapping_ = mapping;
            bytes.data_ = static_cast<const uint8_t*>(mapping);
            bytes.size_ = size;
            return bytes;
        }
    }
    bytes.owned_ = std::make_unique_for_overwrite<uint8_t[]>(size);
    readAll(file.get(), bytes.owned_.get(), size, path);
    bytes.data_ = bytes.owned_.get();
    bytes.size_ = size;
    return bytes;
}

void ModelBytes::dropPages() const noexcept {
    if (mapping_) ::madvise(mapping_, size_, MADV_DONTNEED);
}

ModelBytes ModelBytes::copied(const void* data, size_t size) {
    if (!data) fail(Status::NullArgument, "the model buffer is NULL");
    if (size == 0) fail(Status::Truncated, "the model buffer is empty");
    ModelBytes bytes;
    bytes.owned_ = std::make_unique_for_overwrite<uint8_t[]>(size);
    std::memcpy(bytes.owned_.get(), data, size);
    bytes.data_ = bytes.owned_.get();
    bytes.size_ = size;
    return bytes;
}

ModelBytes ModelBytes::borrowed(const void* data, size_t size) {
    if (!data || size == 0 || reinterpret_cast<uintptr_t>(data) % kAlignment != 0) return copied(data, size);
    ModelBytes bytes;
    bytes.data_ = static_cast<const uint8_t*>(data);
    bytes.size_ = size;
    return bytes;
}

}  // namespace mnnc
