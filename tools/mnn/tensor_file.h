// Reads tensors from files: .npy, numbers in .csv and .json, raw bytes in .raw and .bin, and from standard input any of
// these but raw bytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npy.h"

namespace tool {

// The input that a file is read for. Files without a shape of their own (.csv, .raw, .bin) get `shape`, and raw bytes
// are elements of type `element`.
struct Expected {
    std::string name;
    std::vector<int64_t> shape;  // below 0: open
    Element element = Element::Float32;
};

// Selects the reader by the ending of `file`, or by the first bytes where it is standard input ("-"). Throws ToolError.
Array parseTensor(std::string_view bytes, const std::string& file, const Expected& expected);

}  // namespace tool
