// Selects the reader of a tensor, and reads numbers from text.
#include "tensor_file.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "base/os/paths.h"
#include "errors.h"
#include "json.h"
#include "mnn_c.h"
#include "output_file.h"
#include "text.h"

namespace tool {
namespace {

Array doubles(const std::vector<double>& values, std::vector<int64_t> shape) {
    Array array{Element::Float64, std::move(shape), std::vector<unsigned char>(values.size() * sizeof(double))};
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
}

// The largest number of elements of an input whose bytes can be counted.
constexpr size_t kMaxValues = SIZE_MAX / sizeof(double);

size_t expectedCount(const Expected& expected) {
    size_t count = 1;
    for (const int64_t dim : expected.shape) {
        if (dim < 0) throw ToolError("the file has no shape of its own: give --shape");
        if (__builtin_mul_overflow(count, static_cast<size_t>(dim), &count) || count > kMaxValues)
            throw ToolError("the input has more elements than a file can hold");
    }
    return count;
}

void checkCount(size_t found, size_t wanted, const char* what) {
    if (found != wanted) throw ToolError(fmt::format("it has {} {}, {} are needed", found, what, wanted));
}

// Reads numbers with white space, commas or semicolons between them.
Array fromCsv(std::string_view text, const Expected& expected) {
    std::vector<double> values;
    const char *at = text.data(), *const end = at + text.size();
    while ((at = std::find_if_not(at, end, [](char c) { return std::strchr(" \t\r\n,;", c) && c; })) != end) {
        double value = 0;
        const std::from_chars_result result = std::from_chars(at + (*at == '+'), end, value);
        if (result.ec != std::errc() || (result.ptr != end && !std::strchr(" \t\r\n,;", *result.ptr))) {
            const char* const behind = std::find_if(at, end, [](char c) { return std::strchr(" \t\r\n,;", c); });
            throw ToolError(fmt::format("value {} is no number: '{}'", values.size(),
                                        std::string(at, std::min<size_t>(20, behind - at))));
        }
        values.push_back(value);
        at = result.ptr;
    }
    checkCount(values.size(), expectedCount(expected), "numbers");
    return doubles(values, expected.shape);
}

// Reads nested lists of numbers; all lists of one depth have the same length.
void addJson(const nlohmann::json& json, size_t depth, std::vector<int64_t>& shape, std::vector<double>& values) {
    if (!json.is_array()) {
        if (depth != shape.size()) throw ToolError("its lists are not equally deep");
        values.push_back(json.is_boolean() ? json.get<bool>() : json.get<double>());
        return;
    }
    if (depth == MNN_MAX_RANK) throw ToolError("its lists are nested deeper than a tensor has dimensions");
    const auto length = static_cast<int64_t>(json.size());
    if (depth == shape.size() && values.empty()) shape.resize(depth + 1, length);
    if (depth >= shape.size() || shape[depth] != length) throw ToolError("its lists are not equally long");
    for (const nlohmann::json& item : json) addJson(item, depth + 1, shape, values);
}

Array fromJson(std::string_view text) {
    std::vector<int64_t> shape;
    std::vector<double> values;
    try {
        addJson(parseJson(text), 0, shape, values);
    } catch (const nlohmann::json::exception& error) {
        throw ToolError(reasonOf(error));
    }
    return doubles(values, shape);
}

Array fromRaw(std::string_view bytes, const Expected& expected) {
    checkCount(bytes.size(), expectedCount(expected) * elementBytes(expected.element), "bytes");
    return {expected.element, expected.shape, {bytes.begin(), bytes.end()}};
}

}  // namespace

Array parseTensor(std::string_view bytes, const std::string& file, const Expected& expected) {
    std::string ending = mnnc::os::textOf(mnnc::os::pathOf(file).extension());
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (file == kStandardStream) {
        const size_t first = bytes.find_first_not_of(" \t\r\n");
        ending = bytes.starts_with("\x93NUMPY")                           ? ".npy"
                 : first != std::string_view::npos && bytes[first] == '[' ? ".json"
                                                                          : ".csv";
    }
    if (ending == ".csv" || ending == ".txt") return fromCsv(bytes, expected);
    if (ending == ".json") return fromJson(bytes);
    if (ending == ".raw" || ending == ".bin") return fromRaw(bytes, expected);
    return parseNpy(bytes, file);
}

}  // namespace tool
