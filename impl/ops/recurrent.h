// Parameters of RNN, LSTM, RNNSequenceGRU and LSTMBlockCell.
#pragma once
#include <cstdint>
#include <vector>

#include "ops/params.h"

namespace mnnc {

struct RecurrentParams : ParamsOf<RecurrentParams> {
    int64_t hidden = 0;
    // GRU
    bool bidirectional = false, linearBeforeReset = false, keepAllOutputs = false;
    // LSTM of Caffe, whose weights are in its table: gates in the order i, o, f, c as in the weights of ONNX.
    std::vector<float> inputWeights, recurrentWeights, bias;
};

struct LstmBlockParams : ParamsOf<LstmBlockParams> {
    float cellClip = 0, forgetBias = 1;  // cellClip 0: none
    bool peephole = false;
};

}  // namespace mnnc
