// Files by POSIX.
#include "base/os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <memory>
#include <system_error>

namespace mnnc::os {

namespace {

constexpr size_t kReadChunk = size_t{16} << 20;  // some systems refuse more than 2 GiB at once

// Times beyond 2262 wrap, because times are only compared.
int64_t nanoseconds(const timespec& time) noexcept {
    return static_cast<int64_t>(static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
                                static_cast<uint64_t>(time.tv_nsec));
}

// macOS has names of its own for the times, and a signed number for the device.
#ifdef __APPLE__
int64_t modifiedAt(const struct stat& info) noexcept {
    return nanoseconds(info.st_mtimespec);
}
int64_t changedAt(const struct stat& info) noexcept {
    return nanoseconds(info.st_ctimespec);
}
#else
int64_t modifiedAt(const struct stat& info) noexcept {
    return nanoseconds(info.st_mtim);
}
int64_t changedAt(const struct stat& info) noexcept {
    return nanoseconds(info.st_ctim);
}
#endif
uint64_t deviceOf(const struct stat& info) noexcept {
    return static_cast<uint64_t>(info.st_dev);
}

FoundFile foundFile(const struct stat& info) noexcept {
    FoundFile found;
    found.isFolder = S_ISDIR(info.st_mode);
    found.contents = {deviceOf(info), info.st_ino, static_cast<uint64_t>(info.st_size),
                      static_cast<uint64_t>(modifiedAt(info)), static_cast<uint64_t>(changedAt(info))};
    found.permissions = {info.st_mode, info.st_uid, info.st_gid, static_cast<uint64_t>(info.st_rdev)};
    return found;
}

}  // namespace

int lastError() noexcept {
    return errno;
}

// The sentence is a string of its own, because std::strerror() may return a buffer that all threads share.
std::string errorText(int error) {
    return std::generic_category().message(error);
}

bool saysMissing(int error) noexcept {
    return error == ENOENT || error == ENOTDIR;
}

bool saysNoMemory(int error) noexcept {
    return error == ENOMEM;
}

InputFile::~InputFile() {
    if (handle_ >= 0) ::close(static_cast<int>(handle_));
}

bool InputFile::open(const char* path) noexcept {
    // O_NONBLOCK: opening a named pipe must not block.
    do {
        handle_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (handle_ < 0 && errno == EINTR);
    return handle_ >= 0;
}

bool InputFile::facts(FileFacts& facts) const noexcept {
    struct stat info {};
    int result = 0;
    do {
        result = ::fstat(static_cast<int>(handle_), &info);
    } while (result != 0 && errno == EINTR);
    if (result != 0) return false;
    facts.kind = S_ISREG(info.st_mode)   ? FileFacts::Kind::Regular
                 : S_ISDIR(info.st_mode) ? FileFacts::Kind::Folder
                                         : FileFacts::Kind::Other;
    facts.bytes = info.st_size;
    facts.identity = {deviceOf(info), info.st_ino};
    facts.links = info.st_nlink;
    facts.modified = modifiedAt(info);
    facts.changed = changedAt(info);
    return true;
}

int64_t InputFile::read(uint64_t offset, void* out, size_t bytes) const noexcept {
    for (;;) {
        const ssize_t got =
            ::pread(static_cast<int>(handle_), out, std::min(kReadChunk, bytes), static_cast<off_t>(offset));
        if (got >= 0 || errno != EINTR) return got;
    }
}

void* InputFile::map(size_t bytes) const noexcept {
    void* const mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, static_cast<int>(handle_), 0);
    return mapping == MAP_FAILED ? nullptr : mapping;
}

void unmapFile(void* mapping, size_t bytes) noexcept {
    if (mapping) ::munmap(mapping, bytes);
}

void dropPages(void* begin, size_t bytes) noexcept {
    ::madvise(begin, bytes, MADV_DONTNEED);
}

int64_t fileClock() noexcept {
    timespec now{};
    if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return std::numeric_limits<int64_t>::max();
    return nanoseconds(now);
}

std::FILE* openStream(const char* path, const char* mode) noexcept {
    char closing[8] = {};
    for (size_t i = 0; mode[i] && i + 2 < sizeof closing; ++i) {
        closing[i] = mode[i];
        closing[i + 1] = 'e';
    }
    return std::fopen(path, closing);
}

bool renameFile(const char* from, const char* to) noexcept {
    return ::rename(from, to) == 0;
}

bool removeFile(const char* path) noexcept {
    return ::unlink(path) == 0;
}

bool findFile(const char* path, FoundFile& found) noexcept {
    struct stat info {};
    if (::stat(path, &info) != 0) return false;
    found = foundFile(info);
    return true;
}

bool listFolder(const char* path, const std::function<void(const char* name, const FoundFile*)>& entry) {
    struct FolderCloser {
        void operator()(DIR* folder) const noexcept { ::closedir(folder); }
    };
    const std::unique_ptr<DIR, FolderCloser> folder(::opendir(path));
    if (!folder) return false;
    // The end of the folder leaves errno, an error sets it.
    const auto next = [&] {
        errno = 0;
        return ::readdir(folder.get());
    };
    while (const dirent* one = next()) {
        const std::string name = one->d_name;
        if (name == "." || name == "..") continue;
        struct stat info {};
        const bool known = ::fstatat(::dirfd(folder.get()), one->d_name, &info, 0) == 0;
        const FoundFile found = known ? foundFile(info) : FoundFile();
        entry(name.c_str(), known ? &found : nullptr);
    }
    return errno == 0;
}

}  // namespace mnnc::os
