// Reads the cache file. A damaged file, or one with other content, counts as absent.
#include "session/cache_file.h"

#include "base/os/files.h"

namespace mnnc {

namespace {

constexpr int64_t kMaxBytes = int64_t{256} << 20;

}  // namespace

std::vector<uint8_t> readCacheFile(const std::string& path) {
    os::InputFile file;
    os::FileFacts facts;
    const bool good = file.open(path.c_str()) && file.facts(facts) && facts.kind == os::FileFacts::Kind::Regular;
    if (!good || facts.bytes > kMaxBytes) return {};
    std::vector<uint8_t> bytes(static_cast<size_t>(facts.bytes));
    size_t done = 0;
    while (done < bytes.size()) {
        const int64_t got = file.read(done, bytes.data() + done, bytes.size() - done);
        if (got <= 0) return {};
        done += static_cast<size_t>(got);
    }
    return bytes;
}

}  // namespace mnnc
