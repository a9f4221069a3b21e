// Expands folders and patterns.
#include "picture_list.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/os/paths.h"
#include "base/os/terminal.h"
#include "errors.h"
#include "output_file.h"
#include "picture.h"
#include "text.h"

namespace tool {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> picturesIn(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator entry(mnnc::os::pathOf(folder), error), end; !error && entry != end;
         entry.increment(error))
        if (isPictureName(mnnc::os::textOf(entry->path())) && !entry->is_directory())
            paths.push_back(mnnc::os::textOf(entry->path()));
    if (error) throw ToolError(fmt::format("cannot read the folder '{}': {}", folder, error.message()));
    if (paths.empty()) throw ToolError(fmt::format("there is no picture in the folder '{}'", folder));
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::vector<std::string> matches(const std::string& pattern) {
    std::vector<std::string> paths = mnnc::os::matchingPaths(pattern);
    if (paths.empty()) throw ToolError(fmt::format("--image: there is no file '{}'", pattern));
    return paths;
}

// Returns the name of the folder for the results of a picture.
std::string resultName(const std::string& path) {
    if (path == kStandardStream) return "standard-input";
    return mnnc::os::fileNameOf(mnnc::os::textOf(mnnc::os::pathOf(path).stem()));
}

}  // namespace

std::vector<PictureFile> pictureFiles(const std::vector<std::string>& arguments) {
    std::vector<PictureFile> files;
    for (const std::string& argument : arguments) {
        std::vector<std::string> paths = {argument};
        std::error_code ignored;
        if (fs::is_directory(mnnc::os::pathOf(argument), ignored))
            paths = picturesIn(argument);
        else if (argument != kStandardStream && !fs::exists(mnnc::os::pathOf(argument), ignored))
            paths = matches(argument);
        for (const std::string& path : paths) files.push_back({path, resultName(path)});
    }
    return files;
}

void requireDifferentNames(const std::vector<PictureFile>& files, const char* option) {
    std::map<std::string, std::string> paths;
    for (const PictureFile& file : files) {
        const auto [place, isNew] = paths.emplace(file.name, file.path);
        if (!isNew)
            throw UsageError(
                fmt::format("{}: '{}' and '{}' would both write '{}'", option, place->second, file.path, file.name));
    }
}

}  // namespace tool
