// Interp and Interp3D (nearest, linear, cubic) and the legacy Resize. All of them become Interp commands over [n, c,
// (depth,) height, width] with one source map per axis; sizes, scales and coordinate modes are resolved before.
#pragma once
#include <vector>

#include "ops/op_def.h"

namespace mnnc {

enum class ResizeType : uint8_t { NearestFloor = 1, Linear = 2, Cubic = 3, NearestRound = 4 };
enum class CoordinateMode : uint8_t {
    NotSet = 0,
    AlignCorners = 1,
    HalfPixels = 2,
    PytorchHalfPixels = 3,
    Asymmetric = 4,
    TensorflowHalfPixels = 5,
};

// The parameters in the file.
struct InterpParams : ParamsOf<InterpParams> {
    ResizeType type = ResizeType::Linear;
    CoordinateMode mode = CoordinateMode::Asymmetric;  // legacy flags are resolved; NotSet: invalid (mayBeLowered)
    bool legacy = false;                               // Resize: only scales are used
    int size[3] = {0, 0, 0};                           // depth, height, width; 0: determined by scale
    float scale[3] = {0, 0, 0};
    // Static models without sizes: the scales may belong to the lowered form (loweredAxis), whose coordinate mode has
    // no meaning and may be invalid.
    bool mayBeLowered = false;
    float offset[3] = {0, 0, 0};
    float cubicA = -0.75f;
};

// An axis of an Interp command: source = a * destination + b, in double precision, so that nearest neighbours are those
// of exact arithmetic.
struct AxisMap {
    double a = 1, b = 0;
    float cubicA = -0.75f;  // parameter of Keys' kernel
};
// ratio: in / out, or the reciprocal of a scale in the file.
AxisMap mapAxis(const InterpParams& params, int64_t in, int64_t out, double ratio);
// Returns the map of an axis (depth, height, width) in the form that the converter writes into static models: the scale
// is source / destination, and the offset is added. The converter rounds both to float32; where the extents determine
// the exact number, the map has that number.
AxisMap loweredAxis(const InterpParams& params, int axis, int64_t in, int64_t out);

struct InterpCommand : ParamsOf<InterpCommand> {
    ResizeType type = ResizeType::Linear;
    AxisMap axis[3];  // depth, height, width
};

// The source positions and weights of one output axis: `taps` entries per output position, with indices inside [0, in).
struct AxisTaps {
    int taps = 1;
    std::vector<int32_t> index;
    std::vector<float> weight;
};
AxisTaps makeAxisTaps(ResizeType type, const AxisMap& map, int64_t in, int64_t out);

}  // namespace mnnc
