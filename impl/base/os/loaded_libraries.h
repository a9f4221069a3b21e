// The part of libraries_posix.cpp that differs between its systems.
#pragma once
#include <string>
#include <vector>

namespace mnnc::os {

// Returns the paths of the dynamic libraries that are loaded now and have a file.
std::vector<std::string> loadedLibraries();

}  // namespace mnnc::os
