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
// of one. Throws FileOpenFailed or FileReadFailed with the reason.
void writeCacheFile(const std::string& path, const std::vector<uint8_t>& bytes);

}  // namespace mnnc
