// Replaces a file as a whole: a model that is saved, a cache.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mnnc {

// Writes beside the file and renames, so that readers and other writers see an old or a new file, never half
// of one, also when this process or the machine stops meanwhile. Where `path` is a symbolic link, the file that it
// names is replaced and the link stays. The new file has the access rights of the old one, and its owner and group
// where the process may give them; a file that was not there has the rights that the process gives to new files
// (umask). Throws FileOpenFailed when there is something else than a regular file or no file can be made beside it,
// else FileWriteFailed, with the reason; the old file stays and no other is left.
void replaceFile(const std::string& path, const std::vector<uint8_t>& bytes);

}  // namespace mnnc
