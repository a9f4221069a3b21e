// Parameters of RNN, LSTM, RNNSequenceGRU and LSTMBlockCell.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/params.h"

namespace mnnc {

struct LoopedLayer;

// A GRU has these inputs for each direction: weights [inputs + hidden][2 hidden] of the gates z and r, their bias, the
// same for the candidate, and the bias of the products with the state. With rowWeights it has, for one direction,
// weights [3 hidden][inputs] of z, r and the candidate, their bias, weights [3 hidden][hidden] of the state, and their
// bias.
struct RecurrentParams : ParamsOf<RecurrentParams> {
    int64_t hidden = 0;
    // GRU
    bool bidirectional = false, linearBeforeReset = false, keepAllOutputs = false, rowWeights = false;
    // LSTM of Caffe, whose weights are in its table: gates in the order i, o, f, c as in the weights of ONNX.
    std::vector<float> inputWeights, recurrentWeights, bias;
    // Set for a layer that a converter wrote as a loop.
    std::shared_ptr<const LoopedLayer> looped;
};

struct LstmBlockParams : ParamsOf<LstmBlockParams> {
    float cellClip = 0, forgetBias = 1;  // cellClip 0: no clipping
    bool peephole = false;
};

}  // namespace mnnc
