// Writes shapes, counts and sizes as text.
#include "text.h"

namespace tool {

std::string shapeText(const std::vector<int64_t>& shape) {
    if (shape.empty()) return "scalar";
    std::string text;
    for (const int64_t dim : shape) {
        if (!text.empty()) text += 'x';
        text += dim < 0 ? "?" : std::to_string(dim);
    }
    return text;
}

std::string countText(double number) {
    const char* units[] = {" k", " M", " G", " T"};
    if (number < 1000) return fmt::format("{:.0f}", number);
    size_t unit = 0;
    for (number /= 1000; number >= 1000 && unit < 3; unit++) number /= 1000;
    return fmt::format("{:.2f}{}", number, units[unit]);
}

std::string bytesText(uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

}  // namespace tool
