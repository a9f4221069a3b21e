// Parts that the rules of recurrent layers share: weights, states and attributes, and the loop over the steps.
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

// The activations and options of a step, from the attributes of the node.
struct Cell {
    std::vector<Activation> activations;  // of the first direction, then of the second one
    float clip = 0;                       // limit on the operands of activations; 0: none
    bool coupled = false;                 // LSTM: a cell forgets as much as it adds
    bool plain = true;                    // equal to the format's operators
};

struct Layer {
    V x = nullptr, weights = nullptr, recurrence = nullptr, bias = nullptr;
    V initialState = nullptr, initialCell = nullptr;
    int64_t directions = 1, hidden = 0;
    bool backwards = false, batchFirst = false;
};

// Reads the attributes. usual: the default activations of one direction.
Cell readCell(Call& c, const std::vector<std::string>& usual);
// Reads the inputs. x becomes [time, batch, inputs], the initial states [directions, batch, hidden]. gates: 4 for LSTM,
// 3 for GRU, 1 for RNN.
Layer readLayer(Call& c, int64_t gates);

V noBias(Call& c, const Layer& layer, int64_t gates);
// The sum of the biases of both products: [directions, gates * hidden].
V sumOfBiases(Call& c, const Layer& layer, int64_t gates);
V zeroState(Call& c, const Layer& layer);
// Sets the outputs of the node; cell: null where it has none.
void finish(Call& c, const Layer& layer, V all, V last, V cell);

// Whether some sequences of the batch end before the last step.
bool hasLengths(Call& c);
// Reverses the first steps of each sequence. batch: its axis; the time is axis 0.
V turnedSequences(Call& c, V value, V lengths, int32_t batch);

// A loop over the steps, with the arithmetic of a step in operators of the format: for layers that the format lacks.
void lstmSteps(Call& c, const Cell& cell, V peepholes);
void gruSteps(Call& c, const Cell& cell);
void rnnSteps(Call& c, const Cell& cell);

}  // namespace mnnc::onnx
