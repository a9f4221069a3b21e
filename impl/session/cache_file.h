// A file with what a backend prepared in an earlier process.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mnnc {

// The file's bytes; empty when there is none, it is no regular file, cannot be read or is unreasonably large:
// all of that is a miss.
std::vector<uint8_t> readCacheFile(const std::string& path);

}  // namespace mnnc
