// Reads and replaces the cache file. A file that is damaged or of other content counts as absent.
#include "session/cache_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace mnnc {

namespace {

constexpr int64_t kMaxBytes = int64_t{256} << 20;

struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    ~Descriptor() {
        if (fd >= 0) close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int fd;
};

// The result of a call of the system that no signal has interrupted.
template <typename Call>
auto uninterrupted(Call&& call) {
    for (;;)
        if (const auto result = call(); result != -1 || errno != EINTR) return result;
}

// Text of errno; std::strerror is not thread-safe.
std::string osText() {
    return std::generic_category().message(errno);
}

// A file beside another one, which replaces it as a whole or goes away.
class Replacement {
  public:
    explicit Replacement(const std::string& path)
        : path_(path), file_(uninterrupted([&] {
              temporary_ = path + ".XXXXXX";
              return mkostemp(temporary_.data(), O_CLOEXEC);
          })) {
        if (file_.fd < 0)
            fail(Status::FileOpenFailed, "cannot create a file beside '%s': %s", path.c_str(),
                 osText().c_str());
    }
    ~Replacement() {
        if (!done_) unlink(temporary_.c_str());
    }
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    void write(const std::vector<uint8_t>& bytes) {
        // Beyond the limit on the size of files a write is a signal that ends the process.
        rlimit most{};
        if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes.size() > most.rlim_cur) {
            errno = EFBIG;
            require(false);
        }
        size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t put =
                uninterrupted([&] { return ::write(file_.fd, bytes.data() + done, bytes.size() - done); });
            if (put == 0) errno = EIO;  // no progress, and no reason for it
            require(put > 0);
            done += static_cast<size_t>(put);
        }
    }
    // The bytes are on the disk before the name is theirs: a crash in between leaves the old file.
    void commit() {
        const int result = uninterrupted([&] { return fsync(file_.fd); });
        // Not every file system has it.
        require(result == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP);
        // An interrupted close() has closed.
        require(close(std::exchange(file_.fd, -1)) == 0 || errno == EINTR);
        require(rename(temporary_.c_str(), path_.c_str()) == 0);
        done_ = true;
    }

  private:
    void require(bool good) const {
        if (!good) fail(Status::FileWriteFailed, "cannot write '%s': %s", path_.c_str(), osText().c_str());
    }

    const std::string& path_;
    std::string temporary_;
    Descriptor file_;
    bool done_ = false;
};

}  // namespace

std::vector<uint8_t> readCacheFile(const std::string& path) {
    // Not blocking: the path may be a pipe.
    const Descriptor file(
        uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
    struct stat info {};
    if (file.fd < 0 || fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMaxBytes)
        return {};
    std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got =
            uninterrupted([&] { return read(file.fd, bytes.data() + done, bytes.size() - done); });
        if (got <= 0) return {};
        done += static_cast<size_t>(got);
    }
    return bytes;
}

void writeCacheFile(const std::string& path, const std::vector<uint8_t>& bytes) {
    Replacement file(path);
    file.write(bytes);
    file.commit();
}

}  // namespace mnnc
