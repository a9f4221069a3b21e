// Writes texts to files and to standard output.
#include "output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/os/files.h"
#include "errors.h"
#include "text.h"

namespace tool {

void writeOutput(const std::string& path, std::string_view text) {
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file;
    std::FILE* out = stdout;
    if (path != kStandardStream) {
        file.reset(mnnc::os::openStream(path.c_str(), "wb"));
        out = file.get();
    }
    if (!out || std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0)
        throw ToolError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

}  // namespace tool
