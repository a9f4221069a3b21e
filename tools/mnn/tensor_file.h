// Tensors in files: .npy, numbers in .csv and .json, raw bytes in .raw and .bin, and any of these but raw on standard
// input.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npy.h"

namespace tool {

// What an input takes. Files without a shape of their own (.csv, .raw, .bin) get `shape`, and raw bytes are `element`.
struct Expected {
    std::string name;
    std::vector<int64_t> shape;  // below 0: open
    Element element = Element::Float32;
};

// The ending of `file`, or the first bytes where it is standard input ("-"), choose the reader of the bytes. Throws
// ToolError and JsonError.
Array parseTensor(std::string_view bytes, const std::string& file, const Expected& expected);

}  // namespace tool
