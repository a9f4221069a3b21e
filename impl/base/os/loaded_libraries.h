// The part of libraries_posix.cpp that differs between its systems.
#pragma once
#include <string>
#include <vector>

namespace mnnc::os {

// The paths of the dynamic libraries that are loaded now, without those that have no file.
std::vector<std::string> loadedLibraries();

}  // namespace mnnc::os
