// Compares the bytes that the process has read with those of the model's files.
#include "loading.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/os/paths.h"
#include "open_model.h"

namespace tool {
namespace {

uint64_t fileBytes(const std::string& model) {
    uint64_t sum = 0;
    for (const char* ending : {"", ".weight"}) {
        std::error_code error;
        const uintmax_t bytes = std::filesystem::file_size(mnnc::os::pathOf(model + ending), error);
        if (!error) sum += bytes;
    }
    return sum;
}

// Returns 0 where the system does not report the number.
uint64_t bytesRead() {
    std::ifstream in("/proc/self/io");
    std::string name;
    uint64_t value = 0;
    while (in >> name >> value)
        if (name == "rchar:") return value;
    return 0;
}

}  // namespace

Loading::Loading(const std::string& model)
    : fileBytes_(fileBytes(model)),
      readBefore_(bytesRead()),
      progress_("loads " + model, 0, Progress::Drawn::ByThread) {
    progress_.showPart([this] { return part(); });
}

LoadedSession loadedSession(const std::string& path, const CommonFlags& flags) {
    const Loading loading(path);
    LoadedSession loaded;
    loaded.model = openModel(path, flags.parsedShapes());
    loaded.session = createSession(loaded.model, flags);
    applyShapes(loaded.session, flags);
    requireShapes(loaded.session);
    return loaded;
}

double Loading::part() const {
    const uint64_t now = bytesRead();
    if (fileBytes_ == 0 || now <= readBefore_) return -1;
    return static_cast<double>(now - readBefore_) / static_cast<double>(fileBytes_);
}

}  // namespace tool
