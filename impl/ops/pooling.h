// Parameters and window arithmetic of Pooling and Pooling3D. Both become one window over up to three axes; a 2-D
// pooling has depth 1.
#pragma once
#include <vector>

#include "ops/op_def.h"

namespace mnnc {

enum class PoolPad : uint8_t { Explicit = 0, Valid = 1, Same = 2 };
enum class PoolCount : uint8_t { Default = 0, IncludePadding = 1, ExcludePadding = 2 };

struct PoolParams : ParamsOf<PoolParams> {
    bool average = false;
    bool global = false;
    PoolPad padType = PoolPad::Explicit;
    PoolCount count = PoolCount::Default;
    bool ceil = true;
    bool nearestCodes = false;  // an average of int8 codes is rounded to the nearest code, not down
    bool countsCodes = false;   // an average of codes counts its padding as `count` says; otherwise it counts only
                                // elements in the map
    bool spatial3d = false;     // Pooling3D: `kernel`, `stride`, `pad` follow the spatial axes of the tensor
    std::vector<int> kernel;    // Pooling: [height, width]
    std::vector<int> stride;
    std::vector<int> pad;   // symmetric
    std::vector<int> pads;  // Pooling: empty, [height begin, height end], or [top, left, bottom, right]
};

// Reads the table of a 2-D pooling, or of its gradient.
ParamsPtr parsePooling(const wire::Op& op, const ParseContext& context);

// One spatial axis of a window; all values fit an int.
struct PoolAxis {
    int in = 1, out = 1;
    int kernel = 1, stride = 1;
    int begin = 0, end = 0;  // padding before and after the data
    bool countsPadding = false;
};

// Depth, height, width. `input`: [n, c, spatial...]. Throws Error naming `name`.
struct PoolWindow {
    PoolAxis axis[3];
};
PoolWindow poolWindow(const PoolParams& params, const Shape& input, const char* name);

// Returns the number of taps that an average counts at an output position of one axis; may be 0 or less outside the
// plane.
inline int64_t poolCount(const PoolAxis& a, int64_t position) {
    const int64_t first = position * a.stride - a.begin;
    const int64_t last = first + a.kernel;
    if (a.countsPadding) {
        const int64_t limit = static_cast<int64_t>(a.in) + a.end;
        return (last < limit ? last : limit) - first;
    }
    return (last < a.in ? last : a.in) - (first > 0 ? first : 0);
}

}  // namespace mnnc
