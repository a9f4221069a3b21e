// Parameters of BinaryOp and Eltwise.
#pragma once
#include <vector>

#include "ir/params.h"
#include "model/model.h"
#include "tensor/data_type.h"

namespace mnnc {

// Numbers of BinaryOp.opType that other code than the operator's own asks for.
enum BinaryCode : int {
    kBinaryAdd = 0,
    kBinarySub = 1,
    kBinaryMul = 2,
    kBinaryDiv = 3,  // of files; currentBinaryCode
    kBinaryPow = 6,
    kBinaryRealDiv = 7,
    kBinaryMinimum = 8,
    kBinaryMaximum = 9,
    kBinaryGreater = 10,
    kBinaryGreaterEqual = 11,
    kBinaryLess = 12,
    kBinaryLessEqual = 16,
    kBinaryFloorMod = 17,
    kBinaryMod = 19
};

// The numbers of a file and those of commands. The writer of a file decides what a division with remainder means:
// ONNX's Mod becomes MOD, with fmod = 1 FLOORMOD; TensorFlow's FloorMod becomes FLOORMOD, its truncating Mod MOD. In a
// command FLOORMOD has the sign of the divisor over floats and of the dividend over integers, MOD the other way round.
enum class ModRule { AsCommands, Onnx, TensorFlow };
ModRule modRule(ModelSource source);
// The number of a command for operands of a type.
int commandBinaryCode(int code, ModRule rule, DataType type);
// The number in use for what old writers wrote under another one. (For ONNX's writer kBinaryDiv is the mean of two.)
int currentBinaryCode(int code);

struct BinaryParams : ParamsOf<BinaryParams> {
    int code = 0;       // BinaryOp.opType
    bool relu = false;  // clamp the result at 0 from below
    // Of an operator, resolved before it becomes a command:
    bool mean = false;  // half of the sum: what ONNX's Mean of two tensors is written as
    ModRule mod = ModRule::AsCommands;
};

// Lowered to a chain of BinaryOp commands.
struct EltwiseParams : ParamsOf<EltwiseParams> {
    int code = 0;              // as a BinaryOp code
    std::vector<float> coeff;  // of a sum: a factor for each input; empty: all are 1
};

}  // namespace mnnc
