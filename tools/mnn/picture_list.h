// Lists the pictures that the arguments of --image select.
#pragma once
#include <string>
#include <vector>

namespace tool {

struct PictureFile {
    std::string path;  // "-": standard input
    std::string name;  // without folder and ending, for output files
};

// Expands files, "-", folders (to all their pictures), and patterns such as "photos/*.png". Throws ToolError for an
// argument that selects none.
std::vector<PictureFile> pictureFiles(const std::vector<std::string>& arguments);

// Throws UsageError when two of them have the same name, because their output files would replace each other.
void requireDifferentNames(const std::vector<PictureFile>& files, const char* option);

}  // namespace tool
