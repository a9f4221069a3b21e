// POSIX open, fstat and pread. Every failure names the path and includes the text of the operating system.
#include "model/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "base/error.h"

namespace mnnc {

namespace {

constexpr size_t kReadChunk = size_t{16} << 20;  // some systems refuse more than 2 GiB at once

// std::strerror is not thread-safe, this function is.
std::string osText(int error) {
    return std::generic_category().message(error);
}

bool sameTime(const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// A time in the future counts as just now.
bool lessThanASecondAgo(const timespec& time) {
    timespec now{};
    if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return true;
    const auto seconds = static_cast<long long>(now.tv_sec) - static_cast<long long>(time.tv_sec);
    return seconds < 1 || (seconds == 1 && now.tv_nsec < time.tv_nsec);
}

}  // namespace

File::File(const char* path) {
    if (!path) fail(Status::NullArgument, "the path of the file is NULL");
    path_ = path;
    // O_NONBLOCK: opening a named pipe must not block; pipes are refused below.
    do {
        descriptor_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) {
        const int error = errno;
        const bool missing = error == ENOENT || error == ENOTDIR;
        fail(missing ? Status::FileNotExist : Status::FileOpenFailed, "cannot open '%s': %s", path,
             osText(error).c_str());
    }
    try {
        opened_ = examine(Status::FileOpenFailed);
        if (S_ISDIR(opened_.st_mode))
            fail(Status::FileOpenFailed, "cannot open '%s': %s", path, osText(EISDIR).c_str());
        if (!S_ISREG(opened_.st_mode)) fail(Status::FileOpenFailed, "cannot open '%s': it is not a regular file", path);
        if (opened_.st_size <= 0) fail(Status::Truncated, "'%s' is empty", path);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
    justModified_ = lessThanASecondAgo(opened_.st_mtim);
}

File::~File() {
    ::close(descriptor_);
}

struct stat File::examine(Status failure) const {
    struct stat info {};
    int result = 0;
    do {
        result = ::fstat(descriptor_, &info);
    } while (result != 0 && errno == EINTR);
    if (result != 0) fail(failure, "cannot examine '%s': %s", path_.c_str(), osText(errno).c_str());
    return info;
}

void File::requireUnchanged() const {
    const struct stat now = examine(Status::FileReadFailed);
    const char* what = nullptr;
    if (now.st_dev != opened_.st_dev || now.st_ino != opened_.st_ino)
        what = "it is another file now";
    else if (now.st_size != opened_.st_size)
        what = "its size is another";
    else if (!sameTime(now.st_mtim, opened_.st_mtim))
        what = "it was modified";
    // Adding or removing links also changes this time, but not the bytes.
    else if (now.st_nlink == opened_.st_nlink && !sameTime(now.st_ctim, opened_.st_ctim))
        what = "its state was modified";
    if (what) fail(Status::FileChanged, "'%s' changed since it was loaded: %s", path_.c_str(), what);
}

void File::read(size_t offset, void* out, size_t bytes) const {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t got = ::pread(descriptor_, static_cast<char*>(out) + done, std::min(kReadChunk, bytes - done),
                                    static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(Status::FileReadFailed, "cannot read '%s': %s", path_.c_str(), osText(errno).c_str());
        if (got == 0) {
            requireUnchanged();
            fail(Status::FileReadFailed, "cannot read '%s': it ended after %zu of %zu bytes", path_.c_str(),
                 offset + done, size());
        }
        done += static_cast<size_t>(got);
    }
}

}  // namespace mnnc
