// Sums places. No operation here may be fused or reordered: the file is compiled without contraction.
#include "places.h"

#include <algorithm>
#include <cmath>

namespace mnnc::image {
namespace {

// Narrows [first, last] to the range where start + i * step lies within [0, limit].
void narrow(float start, float step, float limit, float& first, float& last) {
    if (step == 0) {
        if (!(start >= 0 && start <= limit)) last = first - 1;
        return;
    }
    const float perStep = 1 / step;
    const float zero = -(start * perStep), end = limit * perStep - start * perStep;
    first = std::max(first, std::min(zero, end));
    last = std::min(last, std::max(zero, end));
}

}  // namespace

Place Matrix::at(int64_t column, int64_t row) const {
    const auto x = static_cast<float>(column), y = static_cast<float>(row);
    return {m_[0] * x + m_[1] * y + m_[2], m_[3] * x + m_[4] * y + m_[5]};
}

Walk Matrix::walk(int64_t x, int64_t y, int count) const {
    const Place from = at(x, y), to = at(x + count, y);
    const auto steps = static_cast<float>(count);
    return {from, {(to.x - from.x) / steps, (to.y - from.y) / steps}};
}

// A walk enters the picture at the pixel nearest to its edge, and leaves it after the last pixel before the edge.
Span insideSpan(const Walk& walk, int count, int64_t width, int64_t height) {
    float first = 0, last = static_cast<float>(count - 1);
    narrow(walk.start.x, walk.step.x, static_cast<float>(width - 1), first, last);
    narrow(walk.start.y, walk.step.y, static_cast<float>(height - 1), first, last);
    if (!(first <= static_cast<float>(count)) || !(last >= 0)) return {0, -1};
    return {static_cast<int>(std::floor(static_cast<double>(first) + 0.5)),
            std::min(static_cast<int>(std::floor(last)), count - 1)};
}

Walk walkFrom(const Walk& walk, int first) {
    const auto steps = static_cast<float>(first);
    return {{walk.start.x + steps * walk.step.x, walk.start.y + steps * walk.step.y}, walk.step};
}

void fillPlaces(const Walk& walk, int count, bool byFour, Place* places) {
    Place place = walk.start;
    if (!byFour) {
        for (int i = 0; i < count; ++i) {
            places[i] = place;
            place = {place.x + walk.step.x, place.y + walk.step.y};
        }
        return;
    }
    const Place four{4 * walk.step.x, 4 * walk.step.y};
    for (int i = 0; i < count; i += 4) {
        for (int lane = 0; lane < std::min(4, count - i); ++lane) {
            const auto steps = static_cast<float>(lane);
            places[i + lane] = {place.x + steps * walk.step.x, place.y + steps * walk.step.y};
        }
        place = {place.x + four.x, place.y + four.y};
    }
}

}  // namespace mnnc::image
