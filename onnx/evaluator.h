// Evaluates single operators by the engine's public functions: the extents, types and contents of their outputs. So no
// rule of the engine has to be repeated here.
#pragma once
#include <mnn_c.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "array.h"

namespace mnnc::onnx {

// One input of an operator to evaluate.
struct Operand {
    DataType type = DataType::DT_FLOAT;
    Dims dims;
    ArrayPtr content;  // null: unknown
};

struct Result {
    DataType type = DataType::DT_FLOAT;
    bool known = false;  // the extents do not depend on unknown contents
    Dims dims;
    ArrayPtr content;  // if requested
};

class Evaluator {
  public:
    // cancel: ends an evaluation; may be null.
    explicit Evaluator(mnn_cancel_t* cancel) : cancel_(cancel) {}

    // Evaluates one operator. `maxElements`: outputs with more elements get no content; below 0: no output gets
    // content. Throws the engine's error with its sentence.
    std::vector<Result> operator()(OpType type, const wire::OpParameterUnion& parameter,
                                   const std::vector<Operand>& inputs, size_t outputs, int64_t maxElements);

    // Limit on the memory of an operator whose extents include guesses for free ones; 0: there are no guesses.
    uint64_t maxGuessed = 0;
    // Limit on the memory of an operator over constants, besides 16 times its own bytes.
    uint64_t maxFolded = uint64_t{1} << 30;

  private:
    mnn_cancel_t* cancel_;
    std::unordered_map<std::string, std::vector<Result>> answers_;  // by the bytes of the question
    uint64_t answersBytes_ = 0;
};

// Throws the engine's error when it does not load a net.
void requireLoads(Bytes net, Bytes weights, mnn_cancel_t* cancel);

// A constant as the parameter of a Const operator.
wire::BlobT blobOf(const Array& array);

}  // namespace mnnc::onnx
