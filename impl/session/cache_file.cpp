#include "session/cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace mnnc {

namespace {

constexpr int64_t kMostBytes = int64_t{256} << 20;

struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    ~Descriptor() {
        if (fd >= 0) close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    const int fd;
};

}  // namespace

std::vector<uint8_t> readCacheFile(const std::string& path) {
    // Not blocking: the path may be a pipe.
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (file.fd < 0 || fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMostBytes)
        return {};
    std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = read(file.fd, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return {};
        done += static_cast<size_t>(got);
    }
    return bytes;
}

void writeCacheFile(const std::string& path, const std::vector<uint8_t>& bytes) {
    std::string temporary = path + ".XXXXXX";
    const Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
    if (file.fd < 0)
        fail(Status::FileOpenFailed, "cannot write beside '%s': %s", path.c_str(), std::strerror(errno));
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t put = write(file.fd, bytes.data() + done, bytes.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) break;
        done += static_cast<size_t>(put);
    }
    if (done == bytes.size() && rename(temporary.c_str(), path.c_str()) == 0) return;
    const int error = errno;
    unlink(temporary.c_str());
    fail(Status::FileReadFailed, "cannot write '%s': %s", path.c_str(), std::strerror(error));
}

}  // namespace mnnc
