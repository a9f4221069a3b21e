// Parameters and window arithmetic of Convolution3D and ConvTranspose3D. Axes are depth, height, width.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "ops/convolution.h"

namespace mnnc {

namespace wire {
struct Convolution3D;
}

// Refers to the bytes of the model it was parsed from and must not outlive them.
struct Conv3dParams : ParamsOf<Conv3dParams> {
    std::array<int, 3> kernel{1, 1, 1}, stride{1, 1, 1}, dilate{1, 1, 1};
    std::array<int, 3> begin{}, end{};  // padding
    std::array<int, 3> extra{};         // output padding of a transposed convolution
    ConvPad padMode = ConvPad::Explicit;
    bool statesPads = false;  // `begin` holds in every padMode; otherwise SAME determines its own pads
    bool transposed = false;
    int group = 1;
    int inputCount = 0;  // 0: the file has none
    int outputCount = 0;
    bool relu = false, relu6 = false;

    const Model* model = nullptr;  // null: the table belongs to no model
    const wire::Op* op = nullptr;
    const wire::Convolution3D* table = nullptr;
    int64_t storedWeights = -1;  // the number of weights in the file; -1: known only after decoding

    // The convolutions of the file that a rewrite joined to this one, one for each tap in depth (op and table are null
    // then); empty: the convolution is one operator of the file.
    std::vector<std::shared_ptr<const ConvParams>> depthTaps;

    int64_t modelBytes() const;  // of the whole model and its file of weights
    // Returns the weights [oc][ic/group][kd][kh][kw]; for a transposed convolution [ic][oc/group][kd][kh][kw]. Throws
    // BadWeights.
    FloatView weights(int64_t expectedCount, int64_t outputChannels, const char* name) const;
    FloatView bias(int64_t outputChannels, const char* name) const;

  private:
    WeightFiles files() const;
};

// The geometry of one convolution over known extents; all values fit an int.
struct Conv3dWindow {
    int64_t batch = 0, ic = 0, oc = 0, groups = 1;
    std::array<int64_t, 3> in{}, out{};
    std::array<int64_t, 3> begin{};  // padding before the data; negative: the first positions are skipped
    int64_t weightCount = 0;
};

// `input`: [n, c, depth, height, width]. Throws Error naming `name`.
Conv3dWindow conv3dWindow(const Conv3dParams& params, const Shape& input, const char* name);

}  // namespace mnnc
