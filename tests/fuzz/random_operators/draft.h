// One operator before it is added to a net: its parameters, and its operands.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "mnn_objects_generated.h"
#include "random.h"

namespace fuzz {

namespace wire = mnnc::wire;
using Dims = std::vector<int32_t>;

constexpr auto DT_FLOAT = wire::DataType::DT_FLOAT, DT_INT32 = wire::DataType::DT_INT32,
               DT_UINT8 = wire::DataType::DT_UINT8, DT_INT8 = wire::DataType::DT_INT8;

struct Operand {
    Dims dims;
    wire::DataType type = wire::DataType::DT_FLOAT;
    bool constant = false;
    std::vector<double> values = {};  // of a constant; random ones where there are too few
    bool sequence = false;            // instead, a sequence of tensors (TensorArray)
};

struct Draft {
    Random& random;
    wire::OpT op;
    std::vector<Operand> inputs = {};
    size_t outputs = 1;
    wire::MNN_DATA_FORMAT format = wire::MNN_DATA_FORMAT::NCHW;
    wire::NetSource source = wire::NetSource::ONNX;
    std::vector<std::unique_ptr<wire::SubGraphProtoT>> bodies = {};

    int number(int from, int to) { return from + static_cast<int>(random.below(static_cast<size_t>(to - from + 1))); }
    int extent();
    Dims shape(int minRank, int maxRank);
    Operand floats(Dims dims) { return {std::move(dims)}; }
    // An operand of integers, mostly constant, because many operators need them when the session is created.
    Operand ints(Dims dims, std::vector<double> values = {});
    Operand list(const std::vector<int>& values);
    Operand scalar(double value, wire::DataType type = wire::DataType::DT_INT32);
    Operand weights(Dims dims) { return {std::move(dims), wire::DataType::DT_FLOAT, !random.oneIn(4)}; }
    // Returns an axis of `rank`, counted from either end.
    int axis(size_t rank);
    std::vector<float> reals(int64_t count);
};

// Returns an operator of that type, with a number of inputs near those that the format allows. `settled`: related
// parameters fit, so that most of these run.
Draft draftOf(wire::OpType type, bool settled, Random& random);

void settleShapes(Draft& draft);     // moves elements, produces tensors from shapes and indices
void settleLayers(Draft& draft);     // layers with weights, windows, norms
void settleDetection(Draft& draft);  // boxes, regions, recurrences, the rest
void settleControl(Draft& draft);    // subgraphs, loops, regions, arrays of tensors

}  // namespace fuzz
