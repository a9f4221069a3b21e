// Arrays in memory and as NumPy's .npy files (format 1.0 to 3.0, little-endian, C order). It does not depend on models.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

enum class Element { Float32, Float64, Int32, Int64, Int16, Int8, UInt16, UInt8, Bool };

size_t elementBytes(Element element);
const char* elementName(Element element);  // as NumPy spells it: "float32"

struct Array {
    Element element = Element::Float32;
    std::vector<int64_t> shape;
    std::vector<unsigned char> bytes;

    size_t count() const { return bytes.size() / elementBytes(element); }
};

// Returns element `index` as a double: exact for every type but large int64.
double valueAt(const Array& array, size_t index);

// Returns the same values as another type. Throws ToolError that names the first value that does not fit.
Array convert(const Array& array, Element element);

// These throw ToolError with the file and the reason.
Array readNpy(const std::filesystem::path& path);
Array parseNpy(std::string_view bytes, const std::string& file);  // `file` is the name in errors
std::string npyText(const Array& array);                          // returns the bytes of an .npy file
void writeNpy(const std::filesystem::path& path, const Array& array);

}  // namespace tool
