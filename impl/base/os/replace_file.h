// Replaces a file completely, or leaves it as it is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace mnnc::os {

// NotOpened: the path is no regular file that can be replaced, or no file can be made beside it.
enum class Replaced { Completely, NotOpened, NotWritten };

// `path` is UTF-8. Readers and other writers always see a complete file, the old or the new one, even if this process
// or the machine stops meanwhile. A symbolic link stays, and the file that it names is replaced. The new file has the
// access rights of the old one. After a failure the old file stays, no temporary file is left, and `why` is a sentence.
Replaced replaceFile(const std::string& path, const uint8_t* data, size_t bytes, std::string& why);

}  // namespace mnnc::os
