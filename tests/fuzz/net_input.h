// An input of the targets that take nets: the bytes of a .mnn file and, when a trailer ends them, a weight file and
// settings. So every .mnn file is a valid input.
//     model | weight file | settings (16 bytes) | bytes of the weight file (u32) | "MNNCFUZZ"
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fuzz {

using Settings = std::array<uint8_t, 16>;

struct NetInput {
    std::span<const uint8_t> model;
    std::span<const uint8_t> weights;
    Settings settings{};
};

constexpr char kTrailerMark[] = {'M', 'N', 'N', 'C', 'F', 'U', 'Z', 'Z'};
constexpr size_t kTrailerBytes = std::tuple_size_v<Settings> + 4 + sizeof kTrailerMark;

inline NetInput splitInput(const uint8_t* data, size_t size) {
    NetInput input;
    input.model = {data, size};
    if (size < kTrailerBytes) return input;
    const uint8_t* mark = data + size - sizeof kTrailerMark;
    if (std::memcmp(mark, kTrailerMark, sizeof kTrailerMark) != 0) return input;
    uint32_t weightBytes = 0;
    std::memcpy(&weightBytes, mark - 4, 4);
    const size_t rest = size - kTrailerBytes;
    if (weightBytes > rest) return input;
    std::memcpy(input.settings.data(), data + rest, input.settings.size());
    input.model = {data, rest - weightBytes};
    input.weights = {data + rest - weightBytes, weightBytes};
    return input;
}

inline std::vector<uint8_t> joinInput(const NetInput& input) {
    std::vector<uint8_t> bytes(input.model.begin(), input.model.end());
    bytes.insert(bytes.end(), input.weights.begin(), input.weights.end());
    bytes.insert(bytes.end(), input.settings.begin(), input.settings.end());
    const auto weightBytes = static_cast<uint32_t>(input.weights.size());
    const auto* length = reinterpret_cast<const uint8_t*>(&weightBytes);
    bytes.insert(bytes.end(), length, length + 4);
    bytes.insert(bytes.end(), std::begin(kTrailerMark), std::end(kTrailerMark));
    return bytes;
}

}  // namespace fuzz
