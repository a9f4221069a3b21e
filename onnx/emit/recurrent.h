// What recurrent layers share: their weights, states and attributes, and the form that goes through the steps in a
// loop.
#pragma once
#include <string>
#include <vector>

#include "helpers.h"

namespace mnnc::onnx {

struct Activation {
    const char* name;  // an operator of ONNX, "Affine" or "ScaledTanh"
    float alpha, beta;
    bool hasDefaults;
};

// What a node says of each step.
struct Cell {
    std::vector<Activation> activations;  // those of the first direction, then those of the second one
    float clip = 0;                       // of what activations get; 0: none
    bool coupled = false;                 // LSTM: a cell forgets as much as it takes in
    bool plain = true;                    // as the operators of the format have it
};

struct Layer {
    V x = nullptr, weights = nullptr, states = nullptr, bias = nullptr, first = nullptr, firstCell = nullptr;
    int64_t directions = 1, hidden = 0;
    bool backwards = false, batchFirst = false;
};

// usual: the activations where the node names none.
Cell readCell(Call& c, const std::vector<std::string>& usual);
// x and the states have the time first. gates: 4 of LSTM, 3 of GRU, 1 of RNN.
Layer readLayer(Call& c, int64_t gates);

V noBias(Call& c, const Layer& layer, int64_t gates);
// The sum of the biases of both products: [directions, gates * hidden].
V sumOfBiases(Call& c, const Layer& layer, int64_t gates);
V zeroState(Call& c, const Layer& layer);
// The outputs of the node; cell: null where it has none.
void finish(Call& c, const Layer& layer, V all, V last, V cell);

// Whether some sequences of the batch end before the last step.
bool hasLengths(Call& c);
// The first steps of each sequence in the opposite order. batch: its axis; that of the time is 0.
V turnedSequences(Call& c, V value, V lengths, int32_t batch);

// A loop over the steps, with the arithmetic of a step in operators of the format: for what they do not have as one.
void lstmSteps(Call& c, const Cell& cell, V peepholes);
void gruSteps(Call& c, const Cell& cell);
void rnnSteps(Call& c, const Cell& cell);

}  // namespace mnnc::onnx
