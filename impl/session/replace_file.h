// Replaces a file completely: a model that is saved, a cache.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mnnc {

// Writes beside the file and renames, so that readers and other writers always see a complete file, the old or the new
// one, even if this process or the machine stops meanwhile. When `path` is a symbolic link, the file that it names is
// replaced and the link stays. The new file has the access rights of the old one, and its owner and group where the
// process may set them; without an old file it has the rights of any new file of the process (umask). Throws
// FileOpenFailed when the target is no regular file or no file can be made beside it, else FileWriteFailed with the
// reason; the old file stays then, and no temporary file is left.
void replaceFile(const std::string& path, const std::vector<uint8_t>& bytes);

}  // namespace mnnc
