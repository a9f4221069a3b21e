// See fold_channels.h. Convolution -> ReLU or ReLU6; Convolution [-> ConvertTensor] -> Scale [-> ConvertTensor], as
// BatchNormalization is written; Convolution -> BinaryOp with a constant that has a number for each channel; a product and
// its Reshape -> BinaryOp with a number for each column.
#include "fold_channels.h"

#include <algorithm>

namespace mnnc::onnx {
namespace {

class Folding {
  public:
    Folding(Scope& scope, const std::deque<Value>& values, const std::vector<int>& outputs)
        : scope_(scope),
          makers_(scope.tensors.size(), -1),
          uses_(scope.tensors.size(), 0),
          reader_(scope.tensors.size(), -1),
          ranks_(scope.tensors.size(), 0),
          removed_(scope.operators.size()) {
        for (const int id : outputs) ++uses_[at(id)];
        for (const Value& value : values)
            if (value.scope == &scope && value.tensor >= 0) ranks_[at(value.tensor)] = value.rank();
        for (size_t i = 0; i < scope.operators.size(); ++i) {
            const wire::OpT& op = scope.operators[i].op;
            for (const int id : op.outputIndexes) makers_[at(id)] = static_cast<int>(i);
            for (const int id : op.inputIndexes) {
                ++uses_[at(id)];
                reader_[at(id)] = static_cast<int>(i);
            }
        }
    }

    void run() {
        for (size_t i = 0; i < scope_.operators.size(); ++i) {
            const OpType type = scope_.operators[i].op.type;
            if (type == OpType::Scale) foldScale(i);
            if (type == OpType::BinaryOp) foldBinary(i);
            if (type == OpType::ReLU || type == OpType::ReLU6) foldActivation(i);
        }
        size_t i = 0;
        std::erase_if(scope_.operators, [&](const Operator&) { return removed_[i++]; });
    }

  private:
    // A convolution can cut off what lies outside of a range itself: the activation behind it becomes its parameter.
    void foldActivation(size_t i) {
        const wire::OpT& cut = scope_.operators[i].op;
        const int tensor = cut.inputIndexes[0], maker = makers_[at(tensor)];
        if (maker < 0 || uses_[at(tensor)] != 1) return;
        wire::OpT& made = op(maker);
        if (made.type != OpType::Convolution && made.type != OpType::ConvolutionDepthwise) return;
        wire::Convolution2DT* table = made.main.AsConvolution2D();
        if (!table || !table->common || made.inputIndexes.size() != 1 || table->common->relu6) return;
        const wire::ReluT* slope = cut.main.AsRelu();
        const wire::Relu6T* range = cut.main.AsRelu6();
        if (slope && slope->slope == 0)
            table->common->relu = true;
        else if (range && range->minValue == 0 && range->maxValue == 6 && !table->common->relu)
            table->common->relu6 = true;
        else
            return;
        take(made, cut.outputIndexes[0], maker);
        removed_[i] = true;
    }

    static size_t at(int id) { return static_cast<size_t>(id); }
    wire::OpT& op(int i) { return scope_.operators[at(i)].op; }

    // The convolution with constant weights that makes a tensor which nothing else reads; null: none.
    Operator* convolution(int tensor) {
        const int maker = makers_[at(tensor)];
        if (maker < 0 || uses_[at(tensor)] != 1) return nullptr;
        wire::OpT& made = op(maker);
        if (made.type != OpType::Convolution && made.type != OpType::ConvolutionDepthwise) return nullptr;
        const wire::Convolution2DT* table = made.main.AsConvolution2D();
        Operator& whole = scope_.operators[at(maker)];
        const bool plain = table && !scope_.values[at(tensor)]->steps && table->common &&
                           made.inputIndexes.size() == 1 && !table->common->relu && !table->common->relu6 &&
                           (!table->weight.empty() || whole.weights) && table->common->outputCount > 0 &&
                           table->bias.size() == static_cast<size_t>(table->common->outputCount);
        return plain ? &whole : nullptr;
    }

    static void shift(Operator& made, const std::vector<float>& values) {
        std::vector<float>& bias = made.op.main.AsConvolution2D()->bias;
        for (size_t o = 0; o < bias.size(); ++o) bias[o] += values[o];
    }

    static void apply(Operator& made, const std::vector<float>& factor, const std::vector<float>& shift) {
        made.fillWeights();
        wire::Convolution2DT& table = *made.op.main.AsConvolution2D();
        const size_t channels = table.bias.size(), each = table.weight.size() / channels;
        for (size_t o = 0; o < channels; ++o) {
            for (size_t k = 0; k < each; ++k) table.weight[o * each + k] *= factor[o];
            table.bias[o] = table.bias[o] * factor[o] + shift[o];
        }
    }

    void take(wire::OpT& made, int tensor, int maker) {
        made.outputIndexes = {tensor};
        makers_[at(tensor)] = maker;
    }

    void foldScale(size_t i) {
        const wire::OpT& scale = scope_.operators[i].op;
        const wire::ScaleT* table = scale.main.AsScale();
        const int packed = scale.inputIndexes[0], result = scale.outputIndexes[0];
        const int into = makers_[at(packed)], out = reader_[at(result)];
        if (!table || into < 0 || out < 0 || uses_[at(packed)] != 1 || uses_[at(result)] != 1) return;
        if (op(into).type != OpType::ConvertTensor || op(out).type != OpType::ConvertTensor) return;
        Operator* made = convolution(op(into).inputIndexes[0]);
        if (!made || table->scaleData.size() != made->op.main.AsConvolution2D()->bias.size() ||
            table->biasData.size() != table->scaleData.size())
            return;
        apply(*made, table->scaleData, table->biasData);
        const int maker = makers_[at(op(into).inputIndexes[0])];
        take(made->op, op(out).outputIndexes[0], maker);
        removed_[at(into)] = removed_[i] = removed_[at(out)] = true;
    }

    // The product of a layer, [M, N, 1, 1], behind its Reshape to [..., N]; null: it is none.
    Operator* layer(int tensor) {
        const int reshape = makers_[at(tensor)];
        if (reshape < 0 || uses_[at(tensor)] != 1 || op(reshape).type != OpType::Reshape) return nullptr;
        const int product = op(reshape).inputIndexes[0];
        const Value* value = scope_.values[at(product)];
        Operator* made = convolution(product);
        if (!made || value->rank() != 4 || value->steps || !value->fixed(2) || !value->fixed(3) ||
            value->dims[0][2] != 1 || value->dims[0][3] != 1)
            return nullptr;
        return made;
    }

    // A number for each column of a layer.
    bool foldBias(size_t i, int tensor, int other) {
        Operator* made = layer(tensor);
        const int constant = makers_[at(other)];
        if (!made || constant < 0 || !scope_.operators[at(constant)].constant) return false;
        const Array& array = *scope_.operators[at(constant)].constant;
        const size_t channels = made->op.main.AsConvolution2D()->bias.size(), rank = ranks_[at(tensor)];
        const Value* value = scope_.values[at(tensor)];
        bool fits = array.type == DataType::DT_FLOAT && array.floatCount() == channels && rank >= 2 &&
                    array.dims.size() <= rank && !array.dims.empty() &&
                    array.dims.back() == static_cast<int64_t>(channels) && value->fixed(rank - 1) &&
                    value->dims[0][rank - 1] == static_cast<int64_t>(channels) && !value->steps;
        if (!fits) return false;
        shift(*made, array.allFloats());
        take(op(makers_[at(tensor)]), scope_.operators[i].op.outputIndexes[0], makers_[at(tensor)]);
        removed_[i] = true;
        return true;
    }

    void foldBinary(size_t i) {
        const wire::OpT& binary = scope_.operators[i].op;
        const wire::BinaryOpT* table = binary.main.AsBinaryOp();
        if (!table ||
            (table->opType != wire::BinaryOpOperation::ADD && table->opType != wire::BinaryOpOperation::MUL))
            return;
        for (size_t side = 0; side < 2; ++side) {
            const int tensor = binary.inputIndexes[side], other = binary.inputIndexes[1 - side];
            if (table->opType == wire::BinaryOpOperation::ADD && foldBias(i, tensor, other)) return;
            Operator* made = convolution(tensor);
            const int constant = makers_[at(other)];
            if (!made || constant < 0 || !scope_.operators[at(constant)].constant) continue;
            const Array& array = *scope_.operators[at(constant)].constant;
            const size_t channels = made->op.main.AsConvolution2D()->bias.size(), rank = ranks_[at(tensor)];
            // [channels, 1...], perhaps behind ones, and no axis more than the result has.
            bool fits = array.type == DataType::DT_FLOAT && array.floatCount() == channels && rank >= 3 &&
                        array.dims.size() <= rank && array.dims.size() + 1 >= rank;
            for (size_t axis = 0; fits && axis < array.dims.size(); ++axis) {
                const bool isChannel = axis + rank == array.dims.size() + 1;
                fits = array.dims[axis] == (isChannel ? static_cast<int64_t>(channels) : 1);
            }
            if (!fits) continue;
            if (table->opType == wire::BinaryOpOperation::ADD)
                shift(*made, array.allFloats());
            else
                apply(*made, array.allFloats(), std::vector<float>(channels, 0.0f));
            take(made->op, binary.outputIndexes[0], makers_[at(tensor)]);
            removed_[i] = true;
            return;
        }
    }

    Scope& scope_;
    std::vector<int> makers_;    // of tensors: the operator
    std::vector<int> uses_;      // of tensors: by operators, and as outputs
    std::vector<int> reader_;    // of tensors: an operator that reads it
    std::vector<size_t> ranks_;  // of tensors
    std::vector<bool> removed_;
};

}  // namespace

void foldChannels(Builder& builder, const std::vector<V>& outputs) {
    std::vector<int> ids;
    for (const V value : outputs) ids.push_back(value->tensor);
    bool first = true;
    for (Scope& scope : builder.scopes()) {
        if (first || !scope.name.empty()) Folding(scope, builder.values(), first ? ids : scope.outputs).run();
        first = false;
    }
}

}  // namespace mnnc::onnx
