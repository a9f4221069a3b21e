// Replaces a file: a temporary file in the same folder gets the bytes and the access rights, then the name.
#include "base/os/replace_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <utility>

#include "base/os/file_calls_posix.h"
#include "base/os/files.h"

namespace mnnc::os {

namespace {

constexpr mode_t kRights = 0777;
constexpr size_t kMaxName = 240;  // leaves room for an ending where names have up to 255 bytes

struct Refusal {
    Replaced result;
    std::string why;
};

// The kind of a file that cannot be replaced; null for a regular file.
const char* otherKind(mode_t mode) {
    if (S_ISREG(mode)) return nullptr;
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return S_ISBLK(mode) || S_ISCHR(mode) ? "a device" : "no regular file";
}

// The regular file at the end of a path whose last component may be a symbolic link.
struct Target {
    explicit Target(const std::string& wanted) : path(wanted) {
        constexpr int kMaxLinks = 40;  // as many as the kernel follows
        for (int links = 0;; ++links) {
            exists = lstat(path.c_str(), &info) == 0;
            if (!exists && errno != ENOENT) refuse(wanted, errorText(errno));
            if (!exists && path.empty()) refuse(wanted, "its name is empty");
            if (!exists || !S_ISLNK(info.st_mode)) break;
            if (links == kMaxLinks) refuse(wanted, "it is a symbolic link in a circle");
            follow(wanted);
        }
        if (const char* kind = exists ? otherKind(info.st_mode) : nullptr)
            refuse(wanted, std::string("it is ") + kind + ", and only a regular file is replaced");
    }

    std::string path;
    bool exists = false;
    struct stat info {};

  private:
    void follow(const std::string& wanted) {
        std::array<char, PATH_MAX> named{};
        const ssize_t length = readlink(path.c_str(), named.data(), named.size());
        if (length < 0) refuse(wanted, errorText(errno));
        const std::string next(named.data(), static_cast<size_t>(length));
        const size_t folder = next.empty() || next[0] == '/' ? 0 : path.rfind('/') + 1;
        path = path.substr(0, folder) + next;
    }
    [[noreturn]] static void refuse(const std::string& wanted, const std::string& why) {
        throw Refusal{Replaced::NotOpened, "cannot write '" + wanted + "': " + why};
    }
};

// A temporary file beside the target: it either replaces the target completely or is deleted.
class Replacement {
  public:
    explicit Replacement(const std::string& path) : path_(path), target_(path), file_(create()) {
        if (file_.fd < 0)
            throw Refusal{Replaced::NotOpened, "cannot create a file beside '" + path + "': " + errorText(errno)};
    }
    ~Replacement() {
        if (!done_) unlink(temporary_.c_str());
    }
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    void write(const uint8_t* data, size_t bytes) {
        // A write beyond the limit on file sizes raises a signal that ends the process.
        rlimit limit{};
        if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
            errno = EFBIG;
            require(false);
        }
        size_t done = 0;
        while (done < bytes) {
            const ssize_t put = uninterrupted([&] { return ::write(file_.fd, data + done, bytes - done); });
            if (put == 0) errno = EIO;  // no progress, and no reason for it
            require(put > 0);
            done += static_cast<size_t>(put);
        }
    }
    // The bytes are on the disk before the file is renamed: a crash in between leaves the old file.
    void commit() {
        if (target_.exists) inherit();
        const int result = uninterrupted([&] { return fsync(file_.fd); });
        // Some file systems do not implement fsync().
        require(result == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP);
        // A close() that a signal interrupts has closed the descriptor.
        require(close(std::exchange(file_.fd, -1)) == 0 || errno == EINTR);
        require(rename(temporary_.c_str(), target_.path.c_str()) == 0);
        done_ = true;
    }

  private:
    // Creates a file that did not exist before. Where it replaces an old file, other users cannot open it until it is
    // finished; a new file gets the usual rights without those that the process masks.
    int create() {
        constexpr int kTries = 100;
        const mode_t rights = target_.exists ? S_IRUSR | S_IWUSR : 0666;
        for (int i = 0; i < kTries; ++i) {
            timespec now{};
            clock_gettime(CLOCK_REALTIME, &now);
            const unsigned number = static_cast<unsigned>(now.tv_nsec) ^ static_cast<unsigned>(getpid()) << 12;
            std::array<char, 16> ending{};
            std::snprintf(ending.data(), ending.size(), ".%06x", number % (1U << 24U));
            // The folder limits the length of a name.
            const size_t name = target_.path.rfind('/') + 1;
            temporary_ = target_.path.substr(0, std::min(target_.path.size(), name + kMaxName)) + ending.data();
            const int made = uninterrupted(
                [&] { return open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights); });
            if (made >= 0 || errno != EEXIST) return made;
        }
        return -1;
    }
    // Keeps the owner where possible, and the access rights; those of a group only where the group was kept. What is
    // right already is not set, because a file system that gives all files the same owner and rights may refuse that.
    void inherit() {
        struct stat own {};
        require(fstat(file_.fd, &own) == 0);
        const struct stat& old = target_.info;
        mode_t rights = old.st_mode & kRights;
        if ((own.st_uid != old.st_uid || own.st_gid != old.st_gid) && fchown(file_.fd, old.st_uid, old.st_gid) != 0 &&
            fchown(file_.fd, static_cast<uid_t>(-1), old.st_gid) != 0 && own.st_gid != old.st_gid)
            rights &= ~static_cast<mode_t>(S_IRWXG);
        if ((own.st_mode & kRights) != rights) require(fchmod(file_.fd, rights) == 0);
    }
    void require(bool good) const {
        if (!good) throw Refusal{Replaced::NotWritten, "cannot write '" + path_ + "': " + errorText(errno)};
    }

    const std::string& path_;
    Target target_;
    std::string temporary_;
    Descriptor file_;
    bool done_ = false;
};

}  // namespace

Replaced replaceFile(const std::string& path, const uint8_t* data, size_t bytes, std::string& why) {
    try {
        Replacement file(path);
        file.write(data, bytes);
        file.commit();
        return Replaced::Completely;
    } catch (Refusal& refusal) {
        why = std::move(refusal.why);
        return refusal.result;
    }
}

}  // namespace mnnc::os
