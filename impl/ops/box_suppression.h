// Greedy non-maximum suppression of boxes with ordered corners, shared by the detection operators. Boxes and scores are
// contents of tensors: NaN and infinity may occur, and must never order two candidates both ways.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mnnc {

// Intersection over union of two boxes, each given by its lower and its upper corner; 0 where one of them has no area.
// `extra` is added to the difference of corners to get a side: 1 where corners are pixels.
inline float boxOverlap(const float* a, const float* b, float extra) noexcept {
    float sideA[2], sideB[2], common[2];
    for (int i = 0; i < 2; ++i) {
        sideA[i] = a[2 + i] - a[i] + extra;
        sideB[i] = b[2 + i] - b[i] + extra;
        common[i] = std::min(a[2 + i], b[2 + i]) - std::max(a[i], b[i]) + extra;
        if (!(sideA[i] > 0 && sideB[i] > 0 && common[i] > 0)) return 0;
    }
    const float inner = common[0] * common[1];
    return inner / (sideA[0] * sideA[1] + sideB[0] * sideB[1] - inner);
}

// Descending by score; equal scores by index. No score may be NaN.
struct ByScore {
    const float* scores;
    bool operator()(int32_t a, int32_t b) const noexcept {
        return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
    }
};

// Selects from `candidates`, which are indices of boxes with the best first, those that overlap no selected box by more
// than `limit`, and at most `maxKept`. Moves them to the front and returns their number.
inline int64_t suppressBoxes(const float* boxes, int32_t* candidates, int64_t count, int64_t maxKept, float limit,
                             float extra) noexcept {
    int64_t kept = 0;
    for (int64_t i = 0; i < count && kept < maxKept; ++i) {
        const float* box = boxes + int64_t{candidates[i]} * 4;
        bool keep = true;
        for (int64_t k = 0; keep && k < kept; ++k)
            keep = !(boxOverlap(boxes + int64_t{candidates[k]} * 4, box, extra) > limit);
        if (keep) candidates[kept++] = candidates[i];
    }
    return kept;
}

}  // namespace mnnc
