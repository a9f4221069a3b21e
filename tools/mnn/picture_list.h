// The pictures that arguments of --image mean.
#pragma once
#include <string>
#include <vector>

namespace tool {

struct PictureFile {
    std::string path;  // "-": standard input
    std::string name;  // without folder and ending, for files that are made of it
};

// Files, "-", all pictures of a folder, and patterns such as "photos/*.png". Throws ToolError for an argument that
// means none.
std::vector<PictureFile> pictureFiles(const std::vector<std::string>& arguments);

// Throws UsageError when two of them have one name, so that files of one would replace those of the other.
void requireDifferentNames(const std::vector<PictureFile>& files, const char* option);

}  // namespace tool
