// The only source that includes {fmt}.
#include "text.h"

#include <fmt/args.h>
#include <fmt/format.h>

namespace tool::text {
namespace {

using Arguments = fmt::dynamic_format_arg_store<fmt::format_context>;

void push(Arguments& arguments, const Value& value) {
    switch (value.kind) {
        case Value::Kind::Character:
            return arguments.push_back(value.character);
        case Value::Kind::Signed:
            return arguments.push_back(value.integer);
        case Value::Kind::Unsigned:
            return arguments.push_back(value.natural);
        case Value::Kind::Real:
            return arguments.push_back(value.real);
        case Value::Kind::String:
            return arguments.push_back(fmt::string_view(value.string.data(), value.string.size()));
    }
}

}  // namespace

std::string formatValues(std::string_view pattern, std::span<const Value> values) {
    Arguments arguments;
    for (const Value& value : values) push(arguments, value);
    return fmt::vformat(fmt::string_view(pattern.data(), pattern.size()), arguments);
}

void printValues(std::FILE* file, std::string_view pattern, std::span<const Value> values) {
    const std::string line = formatValues(pattern, values);
    std::fwrite(line.data(), 1, line.size(), file);
}

}  // namespace tool::text

namespace tool {

std::string shapeText(const std::vector<int64_t>& shape) {
    if (shape.empty()) return "scalar";
    std::string text;
    for (const int64_t dim : shape) text += (text.empty() ? "" : "x") + (dim < 0 ? "?" : std::to_string(dim));
    return text;
}

std::string countText(double number) {
    const char* units[] = {" k", " M", " G", " T"};
    if (number < 1000) return text::format("{:.0f}", number);
    size_t unit = 0;
    for (number /= 1000; number >= 1000 && unit < 3; unit++) number /= 1000;
    return text::format("{:.2f}{}", number, units[unit]);
}

std::string bytesText(uint64_t bytes) {
    if (bytes < 1024) return text::format("{} B", bytes);
    if (bytes < 1024 * 1024) return text::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
    return text::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

}  // namespace tool
