// Parameters of While in its LoopParam form: commands over boxes of tensors, once or in each round. It runs no
// subgraph.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/params.h"
#include "ops/binary.h"
#include "tensor/data_type.h"
#include "tensor/region.h"
#include "tensor/shape.h"

namespace mnnc {

struct LoopOperand {
    int slot = 0;       // number of the input, or of the output, counted after all inputs
    View view;          // strides of the box
    int64_t step = 0;   // distance that the box moves per unit
    int unitSlot = -1;  // -1: the unit is the number of the round; else the element of this tensor with that number
};

struct LoopCommand {
    enum class Kind { Zero, Copy, Unary, Binary, MatMul };
    Kind kind = Kind::Copy;
    int code = 0;  // for Unary and Binary
    bool transposeA = false, transposeB = false;
    int64_t size[3] = {1, 1, 1};        // of the box; for a product its rows, inner length and columns
    std::vector<LoopOperand> operands;  // the first one is written
    int fuse = -1;                      // a BinaryOp code that combines the old value with the new one; negative: the
                                        // new one replaces it
};

struct LoopParams : ParamsOf<LoopParams> {
    struct Output {
        Shape shape;
        DataType type = DataType::Float32;
        Format format = Format::NCHW;
    };
    std::vector<Output> outputs;
    // Inputs that commands write: each has a separate output, after those of the file, which replaces it everywhere.
    std::vector<size_t> writtenInputs;
    std::vector<LoopCommand> before, commands;
    int64_t rounds = 0;
    int64_t visits = 0;                 // elements that all commands of all rounds visit
    ModRule mod = ModRule::AsCommands;  // rule for the commands' BinaryOp codes
};

}  // namespace mnnc
