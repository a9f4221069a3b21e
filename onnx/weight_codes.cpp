// See weight_codes.h.
#include "weight_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mnnc::onnx {

bool hasCodes(std::span<const float> weights) {
    constexpr float kMost = std::numeric_limits<float>::max() / 2;
    return std::all_of(weights.begin(), weights.end(), [](float weight) { return std::abs(weight) <= kMost; });
}

WeightCodes encode(std::span<const float> weights, size_t rows, int bits) {
    // A row with a smaller step counts as a single value.
    constexpr float kNoStep = std::numeric_limits<float>::min();
    WeightCodes result;
    result.bits = bits;
    result.rows = rows;
    result.columns = weights.size() / rows;
    result.codes.resize(weights.size());
    const int smallest = result.smallest(), largest = -smallest - 1;
    for (size_t r = 0; r < rows; ++r) {
        const auto row = weights.subspan(r * result.columns, result.columns);
        const auto [low, high] = std::minmax_element(row.begin(), row.end());
        const float scale = (*high - *low) / static_cast<float>(largest - smallest);
        result.lows.push_back(*low);
        result.scales.push_back(scale >= kNoStep ? scale : 0.0f);
        for (size_t i = 0; i < row.size(); ++i) {
            const float steps = scale >= kNoStep ? std::nearbyint((row[i] - *low) / scale) : 0.0f;
            result.codes[r * result.columns + i] =
                static_cast<int8_t>(std::clamp(static_cast<int>(steps) + smallest, smallest, largest));
        }
    }
    return result;
}

std::unique_ptr<wire::IDSTQuanT> tableOf(const WeightCodes& codes) {
    auto table = std::make_unique<wire::IDSTQuanT>();
    const bool wide = codes.rows > UINT16_MAX || codes.columns > UINT16_MAX;
    table->type = 1;
    table->quantScale = 1;
    table->aMaxOrBits = codes.bits;
    table->shapeInt32 = wide;
    std::vector<int8_t>& to = table->buffer;
    const size_t count = codes.codes.size();
    to.reserve(300 + count * static_cast<size_t>(codes.bits) / 8);
    const auto number = [&to](size_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) to.push_back(static_cast<int8_t>(value >> (8 * i) & 0xff));
    };
    // Two extents, then the list of codes, then the index of each weight in that list.
    number(2, 1);
    number(codes.rows, wide ? 4 : 2);
    number(codes.columns, wide ? 4 : 2);
    const int smallest = codes.smallest();
    const int listed = -2 * smallest;
    number(static_cast<size_t>(listed), 1);  // 256 is written as 0
    for (int code = smallest; code < -smallest; ++code) to.push_back(static_cast<int8_t>(code));
    if (codes.bits == 8) {
        for (const int8_t code : codes.codes) to.push_back(static_cast<int8_t>(code - smallest));
    } else {
        for (size_t i = 0; i < count; i += 2) {
            const int first = codes.codes[i] - smallest;
            const int second = i + 1 < count ? codes.codes[i + 1] - smallest : 0;
            to.push_back(static_cast<int8_t>(first << 4 | second));
        }
    }
    if (codes.lows.empty()) {
        table->alpha = codes.scales;
        return table;
    }
    table->readType = static_cast<int32_t>(codes.rows);
    table->aMin = smallest;
    for (size_t r = 0; r < codes.rows; ++r) {
        table->alpha.push_back(codes.lows[r]);
        table->alpha.push_back(codes.scales[r]);
    }
    return table;
}

}  // namespace mnnc::onnx
