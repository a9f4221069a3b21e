// The numbers that stand for free extents while a model is read. Strategies differ in them: a net may be valid for few.
#include <algorithm>

#include "importer.h"

namespace mnnc::onnx {

// The numbers for a name that is a sum, such as "past_sequence_length + sequence_length".
std::optional<std::array<int64_t, kProbes>> Importer::sumFor(const std::string& name, size_t axis, size_t rank,
                                                             int strategy) {
    if (name.find('+') == std::string::npos) return {};
    std::array<int64_t, kProbes> sum{};
    for (size_t begin = 0; begin <= name.size();) {
        const size_t end = std::min(name.find('+', begin), name.size());
        const size_t first = name.find_first_not_of(' ', begin), last = name.find_last_not_of(' ', end - 1);
        if (first >= end || last < first) return {};
        const std::string part = name.substr(first, last - first + 1);
        Extent extent;
        if (part.find_first_not_of("0123456789") != std::string::npos)
            extent.name = part;
        else if (part.size() < 10)
            extent.value = std::stoll(part);
        else
            return {};
        const std::array<int64_t, kProbes> numbers = standsFor(extent, axis, rank, strategy);
        for (size_t p = 0; p < kProbes; ++p) sum[p] += numbers[p];
        begin = end + 1;
    }
    return sum;
}

// A batch is small. Other extents are large enough for what nets do to them: they halve them five times, or cut windows
// out.
std::array<int64_t, kProbes> Importer::standsFor(const Extent& extent, size_t axis, size_t rank, int strategy) {
    if (extent.value >= 0) return {extent.value, extent.value};
    if (const auto given = options_.extents.find(std::string(extent.name));
        !extent.name.empty() && given != options_.extents.end())
        return {given->second, given->second};
    free_ = true;
    const std::string key = extent.name.empty() ? (axis == 0 ? "\1batch" : "\1other") : std::string(extent.name);
    if (const auto known = extents_.find(key); known != extents_.end()) return known->second;
    if (const auto sum = sumFor(key, axis, rank, strategy)) return extents_[key] = *sum;
    const auto order = static_cast<int64_t>(extents_.size());
    std::array<int64_t, kProbes> numbers{96, 160};
    if (strategy == 0 && axis == 0) numbers = {2, 3};
    if (strategy == 1) numbers = {8, 12};
    if (strategy == 2) numbers = {16 + 16 * order, 32 + 32 * order};
    if (strategy == 3) numbers = {1, 2};
    if (strategy == 4)
        numbers = rank < 4 ? std::array<int64_t, kProbes>{1536, 2048} : std::array<int64_t, kProbes>{32, 64};  // audio
    if (strategy == 5)  // multiples of many numbers of heads
        numbers = rank < 4 ? std::array<int64_t, kProbes>{720, 1440} : std::array<int64_t, kProbes>{72, 144};
    if (strategy == kTextStrategies[0] && rank == 4 && axis == 2) numbers = {32, 33};
    if (strategy == kTextStrategies[1] && rank == 4 && axis == 2) numbers = {16, 17};
    if (strategy == kKeptStrategy) {
        const bool isMask = rank == 2 && axis > 0 && lengths_++ > 0;
        numbers = rank > 2 ? std::array<int64_t, kProbes>{16, 32}
                  : isMask ? std::array<int64_t, kProbes>{24, 44}
                           : std::array<int64_t, kProbes>{8, 12};
    }
    if (strategy >= 4 && strategy <= kLenientStrategy && axis == 0) numbers = {2, 3};
    extents_[key] = numbers;
    return numbers;
}

}  // namespace mnnc::onnx
