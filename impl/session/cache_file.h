// A file with what a backend prepared in an earlier process.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mnnc {

// The file's bytes; empty when there is none, it is no regular file, cannot be read or is unreasonably large:
// all of that is a miss.
std::vector<uint8_t> readCacheFile(const std::string& path);

// Writes beside the file and renames, so that readers and other writers see an old or a new file, never half
// of one, also when this process or the machine stops meanwhile. Throws FileOpenFailed or FileWriteFailed with the
// reason; the old file stays and no other is left.
void writeCacheFile(const std::string& path, const std::vector<uint8_t>& bytes);

}  // namespace mnnc
