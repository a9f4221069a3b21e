// Reads the cache file. A damaged file, or one with other content, counts as absent.
#include "session/cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/file_calls.h"

namespace mnnc {

namespace {

constexpr int64_t kMaxBytes = int64_t{256} << 20;

}  // namespace

std::vector<uint8_t> readCacheFile(const std::string& path) {
    // The path may be a pipe, on which a blocking open() would wait.
    const Descriptor file(uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
    struct stat info {};
    if (file.fd < 0 || fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMaxBytes) return {};
    std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = uninterrupted([&] { return read(file.fd, bytes.data() + done, bytes.size() - done); });
        if (got <= 0) return {};
        done += static_cast<size_t>(got);
    }
    return bytes;
}

}  // namespace mnnc
