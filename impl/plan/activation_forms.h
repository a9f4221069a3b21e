// How converters write additions and activations: the forms that passes recognise.
#pragma once
#include <vector>

#include "ops/binary.h"
#include "plan/graph.h"

namespace mnnc {

// Operation numbers of the wire format.
enum BinaryCode : int { kBinaryAdd = 0, kBinarySub = 1, kBinaryMul = 2, kBinaryRealDiv = 7 };
enum UnaryCode : int {
    kUnarySigmoid = 29,
    kUnaryTanh = 30,
    kUnaryHardSwish = 31,
    kUnaryGelu = 32,
    kUnaryGeluStandard = 33,
    kUnarySilu = 34
};

// The parameters of a BinaryOp over two float operands; null for other commands.
const BinaryParams* floatBinary(const Command& command);

// Whether a command multiplies tensors a and b, and does nothing else.
bool isProduct(const Command& command, const Tensor* a, const Tensor* b);

// clip(x / 6 + 1 / 2, 0, 1), optionally times x, however the factors are spread over its commands.
struct HardActivation {
    Tensor* x = nullptr;
    bool timesX = false;
    std::vector<CommandGraph::Id>
        steps;  // its commands in order; the last one makes the result. None: no such form
};
// The longest such form whose first command is `first`.
HardActivation hardActivation(const CommandGraph& graph, CommandGraph::Id first);

}  // namespace mnnc
