// A case folder has a model, inputs and expected outputs as .npy, and case.json that names them. All but the model are
// in case.npz or, where there is none, in the folder itself.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "npy.h"

namespace tool {

struct CaseTensor {
    std::string name;
    Array array;
    bool argmaxEqual = false;  // outputs: the largest element of each row must have the expected index
    bool unordered = false;    // outputs: part of the list of rows that has no order
};

struct Case {
    std::string name;
    std::filesystem::path model;
    std::vector<CaseTensor> inputs;
    std::vector<CaseTensor> outputs;
    double tolerance = 0;  // bounds max|ours - expected| / max|expected|
    int64_t maxUnmatched = 0;
};

// Returns the case folders of a path: the path itself, or its sub-folders with a case.npz or case.json. Throws
// ToolError when there are none.
std::vector<std::filesystem::path> findCases(const std::filesystem::path& path);

// Throws ToolError for missing and for contradictory parts.
Case readCase(const std::filesystem::path& folder);

}  // namespace tool
