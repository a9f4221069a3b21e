// Asks the engine about single operators through its public functions: what extents and types its outputs have, and
// what their contents are. So nothing that the engine knows is written a second time here.
#pragma once
#include <mnn_c.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "array.h"

namespace mnnc::onnx {

// One input of an operator that is asked about.
struct Operand {
    DataType type = DataType::DT_FLOAT;
    Dims dims;
    ArrayPtr content;  // null: not known
};

struct Result {
    DataType type = DataType::DT_FLOAT;
    bool known = false;  // the extents do not depend on contents that are not known
    Dims dims;
    ArrayPtr content;  // where it was asked for
};

class Evaluator {
  public:
    // cancel: ends questions; may be null.
    explicit Evaluator(mnn_cancel_t* cancel) : cancel_(cancel) {}

    // What one operator makes of its inputs. `mostElements`: outputs of more elements get no content; below 0: no
    // output gets one. Throws what the engine refuses, with its sentence.
    std::vector<Result> operator()(OpType type, const wire::OpParameterUnion& parameter,
                                   const std::vector<Operand>& inputs, size_t outputs, int64_t mostElements);

    // Not 0: extents are numbers that stand for free ones, and an operator that takes more bytes with them is refused.
    uint64_t mostGuessed = 0;
    // What an operator over constants may take, beside 16 times its own bytes.
    uint64_t mostFolded = uint64_t{1} << 30;

  private:
    mnn_cancel_t* cancel_;
    std::unordered_map<std::string, std::vector<Result>> answers_;  // by the bytes of the question
};

// Throws what the engine says where it does not load a net.
void requireLoads(Bytes net, Bytes weights, mnn_cancel_t* cancel);

// A constant as the parameter of a Const operator.
wire::BlobT blobOf(const Array& array);

}  // namespace mnnc::onnx
