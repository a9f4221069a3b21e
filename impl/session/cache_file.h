// The file in which a backend keeps what it prepared in an earlier process.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mnnc {

// Returns the file's bytes; empty when the file is missing, irregular, unreadable or unreasonably large: each of these
// is a miss.
std::vector<uint8_t> readCacheFile(const std::string& path);

}  // namespace mnnc
