// Turns the result of the system's replacement into an error.
#include "session/replace_file.h"

#include "base/error.h"
#include "base/os/replace_file.h"

namespace mnnc {

void replaceFile(const std::string& path, const std::vector<uint8_t>& bytes) {
    std::string why;
    const os::Replaced result = os::replaceFile(path, bytes.data(), bytes.size(), why);
    if (result == os::Replaced::Completely) return;
    throw Error(result == os::Replaced::NotWritten ? Status::FileWriteFailed : Status::FileOpenFailed, std::move(why));
}

}  // namespace mnnc
