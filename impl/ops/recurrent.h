// Parameters of RNN, LSTM, RNNSequenceGRU and LSTMBlockCell.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/params.h"

namespace mnnc {

struct LoopedLayer;

// Inputs of a GRU for each direction: [inputs + hidden][2 hidden] weights of the gates z and r, their bias, the same
// for the candidate, and the bias of the products with the state. With rowWeights instead, for one direction: [3
// hidden][inputs] weights of z, r and candidate, their bias, [3 hidden][hidden] weights of the state, their bias.
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
