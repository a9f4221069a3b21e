// Reads files and standard input.
#include "input_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/os/files.h"
#include "errors.h"
#include "output_file.h"
#include "text.h"

namespace tool {
namespace {

struct CloseInput {
    void operator()(std::FILE* file) const {
        if (file != stdin) std::fclose(file);
    }
};

std::unique_ptr<std::FILE, CloseInput> openInput(const std::string& path) {
    static bool taken = false;
    if (path != kStandardStream)
        return std::unique_ptr<std::FILE, CloseInput>(mnnc::os::openStream(path.c_str(), "rb"));
    if (taken) throw UsageError("'-', standard input, is given twice");
    taken = true;
    return std::unique_ptr<std::FILE, CloseInput>(stdin);
}

}  // namespace

std::string readInput(const std::string& path, size_t maxBytes) {
    const std::string name = path == kStandardStream ? "standard input" : '\'' + path + '\'';
    const auto file = openInput(path);
    if (!file) throw ToolError(fmt::format("cannot open {}: {}", name, std::strerror(errno)));
    std::string bytes;
    char part[65536];
    while (const size_t count = std::fread(part, 1, sizeof part, file.get())) {
        if (count > maxBytes - bytes.size()) throw ToolError(fmt::format("{} has more than {} bytes", name, maxBytes));
        bytes.append(part, count);
    }
    if (std::ferror(file.get())) throw ToolError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
    return bytes;
}

}  // namespace tool
