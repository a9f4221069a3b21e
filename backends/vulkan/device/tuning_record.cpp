// Stores choices as a sequence of: length of the problem, problem, choice.
#include "backends/vulkan/device/tuning_record.h"

#include <cstring>

namespace mnnc::vulkan {

namespace {

void append(std::vector<uint8_t>& bytes, const void* data, size_t count) {
    const auto* begin = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), begin, begin + count);
}

// Removes a number from the front; returns std::nullopt when there are too few bytes.
std::optional<uint32_t> takeNumber(std::span<const uint8_t>& bytes) {
    uint32_t number = 0;
    if (bytes.size() < sizeof number) return std::nullopt;
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes = bytes.subspan(sizeof number);
    return number;
}

}  // namespace

std::optional<uint32_t> TuningRecord::find(const std::string& problem) const {
    const std::lock_guard lock(mutex_);
    const auto found = choices_.find(problem);
    return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

void TuningRecord::keep(const std::string& problem, uint32_t choice) {
    const std::lock_guard lock(mutex_);
    choices_[problem] = choice;
}

size_t TuningRecord::size() const {
    const std::lock_guard lock(mutex_);
    return choices_.size();
}

std::vector<uint8_t> TuningRecord::bytes() const {
    const std::lock_guard lock(mutex_);
    std::vector<uint8_t> bytes;
    for (const auto& [problem, choice] : choices_) {
        const auto length = static_cast<uint32_t>(problem.size());
        append(bytes, &length, sizeof length);
        append(bytes, problem.data(), problem.size());
        append(bytes, &choice, sizeof choice);
    }
    return bytes;
}

bool TuningRecord::merge(std::span<const uint8_t> bytes) {
    std::map<std::string, uint32_t> read;
    while (!bytes.empty()) {
        const std::optional<uint32_t> length = takeNumber(bytes);
        if (!length || *length > bytes.size()) return false;
        std::string problem(reinterpret_cast<const char*>(bytes.data()), *length);
        bytes = bytes.subspan(*length);
        const std::optional<uint32_t> choice = takeNumber(bytes);
        if (!choice) return false;
        read.emplace(std::move(problem), *choice);
    }
    const std::lock_guard lock(mutex_);
    choices_.merge(read);
    return true;
}

}  // namespace mnnc::vulkan
