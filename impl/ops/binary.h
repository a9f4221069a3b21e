// Parameters of BinaryOp and Eltwise.
#pragma once
#include <vector>

#include "ir/params.h"
#include "model/model.h"
#include "tensor/data_type.h"

namespace mnnc {

// Numbers of BinaryOp.opType that code outside of the operator uses.
enum BinaryCode : int {
    kBinaryAdd = 0,
    kBinarySub = 1,
    kBinaryMul = 2,
    kBinaryDiv = 3,  // number in files; see currentBinaryCode
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

// The numbers of a file and those of commands. The writer of a file decides the meaning of a division with remainder:
// ONNX's Mod becomes MOD, with fmod = 1 FLOORMOD; TensorFlow's FloorMod becomes FLOORMOD, its truncating Mod MOD. In a
// command FLOORMOD has the sign of the divisor over floats and of the dividend over integers, MOD the other way round.
enum class ModRule { AsCommands, Onnx, TensorFlow };
ModRule modRule(ModelSource source);
// Returns the number in a command for operands of this type.
int commandBinaryCode(int code, ModRule rule, DataType type);
// Converts a number that old writers used to the present one. (Files from ONNX use kBinaryDiv for the mean of two.)
int currentBinaryCode(int code);

struct BinaryParams : ParamsOf<BinaryParams> {
    int code = 0;       // BinaryOp.opType
    bool relu = false;  // clamp the result at 0 from below
    // In an operator only; resolved before it becomes a command:
    bool mean = false;  // half of the sum, with which writers express ONNX's Mean of two tensors
    ModRule mod = ModRule::AsCommands;
};

// Lowered to a chain of BinaryOp commands.
struct EltwiseParams : ParamsOf<EltwiseParams> {
    int code = 0;              // as a BinaryOp code
    std::vector<float> coeff;  // for a sum, a factor for each input; empty: all are 1
};

}  // namespace mnnc
