// See fold_channels.h. Patterns: Convolution -> ReLU or ReLU6; Convolution [-> ConvertTensor] -> Scale [->
// ConvertTensor], as BatchNormalization is written; Convolution -> BinaryOp with a constant that has a number for each
// channel, or one; a product and its Reshape -> BinaryOp with a number for each column.
#include "fold_channels.h"

#include <algorithm>

#include "links.h"

namespace mnnc::onnx {
namespace {

class Folding {
  public:
    Folding(Scope& scope, const std::vector<int>& outputs)
        : scope_(scope), links_(scope, outputs), removed_(scope.operators.size()) {}

    void run() {
        for (size_t i = 0; i < scope_.operators.size(); ++i) {
            const OpType type = scope_.operators[i].op.type;
            if (type == OpType::Scale) foldScale(i);
            if (type == OpType::BinaryOp) foldBinary(i);
            if (type == OpType::ReLU || type == OpType::ReLU6) foldActivation(i);
        }
        eraseMarked(scope_, removed_);
    }

  private:
    // A convolution can clamp its result itself: the activation after it becomes its parameter.
    void foldActivation(size_t i) {
        const int tensor = scope_.operators[i].op.inputIndexes[0], producer = links_.producer(tensor);
        if (producer < 0 || !links_.usedOnce(tensor) || !sameSteps(tensor, scope_.operators[i].op.outputIndexes[0]))
            return;
        wire::OpT& made = op(producer);
        if (made.type == OpType::Convolution3D) {
            cutWith(i, made, made, made.main.AsConvolution3D());
        } else if (made.type == OpType::Convolution || made.type == OpType::ConvolutionDepthwise) {
            cutWith(i, made, made, made.main.AsConvolution2D());
        } else if (const Layer layer = product(tensor)) {
            cutWith(i, layer.made->op, made, layer.made->op.main.AsConvolution2D());
        }
    }

    // Returns whether the value is not rounded before its activation, or is rounded to the same codes as the result.
    bool sameSteps(int value, int result) const {
        const std::optional<Steps>& steps = scope_.values[at(value)]->steps;
        return !steps || steps == scope_.values[at(result)]->steps;
    }

    // made: the convolution; last: the operator whose result the activation reads.
    template <typename Table>
    void cutWith(size_t i, const wire::OpT& made, wire::OpT& last, Table* table) {
        const wire::OpT& cut = scope_.operators[i].op;
        if (!table || !table->common || made.inputIndexes.size() != 1 || table->common->relu6) return;
        const wire::ReluT* slope = cut.main.AsRelu();
        const wire::Relu6T* range = cut.main.AsRelu6();
        if (slope && slope->slope == 0)
            table->common->relu = true;
        else if (range && range->minValue == 0 && range->maxValue == 6 && !table->common->relu)
            table->common->relu6 = true;
        else
            return;
        take(last, cut.outputIndexes[0], links_.producer(cut.inputIndexes[0]));
        removed_[i] = true;
    }

    static size_t at(int id) { return static_cast<size_t>(id); }
    wire::OpT& op(int i) { return scope_.operators[at(i)].op; }

    // A convolution of two or three axes, possibly a transposed one.
    struct Layer {
        Operator* made = nullptr;
        std::vector<float>*weight = nullptr, *bias = nullptr;
        size_t group = 1;
        bool transposed = false;  // weights are [inputs, outputs of a group, ...]; otherwise [outputs, ...]
        size_t channels() const { return bias->size(); }
        explicit operator bool() const { return made != nullptr; }
    };

    template <typename Table>
    static Layer layerOf(Operator& made, Table* table, bool transposed) {
        const bool plain = table && table->common && made.op.inputIndexes.size() == 1 && !table->common->relu &&
                           !table->common->relu6 && (!table->weight.empty() || made.weights) &&
                           table->common->outputCount > 0 &&
                           table->bias.size() == static_cast<size_t>(table->common->outputCount);
        if (!plain) return {};
        return {&made, &table->weight, &table->bias, static_cast<size_t>(std::max(table->common->group, 1)),
                transposed};
    }

    // The convolution with constant weights that produces a tensor with a single consumer.
    Layer convolution(int tensor) {
        const int producer = links_.producer(tensor);
        if (producer < 0 || !links_.usedOnce(tensor) || scope_.values[at(tensor)]->steps) return {};
        Operator& made = scope_.operators[at(producer)];
        wire::OpParameterUnion& main = made.op.main;
        switch (made.op.type) {
            case OpType::Convolution:
            case OpType::ConvolutionDepthwise:
                return layerOf(made, main.AsConvolution2D(), false);
            case OpType::Deconvolution:
            case OpType::DeconvolutionDepthwise:
                return layerOf(made, main.AsConvolution2D(), true);
            case OpType::Convolution3D:
                return layerOf(made, main.AsConvolution3D(), false);
            case OpType::ConvTranspose3D:
                return layerOf(made, main.AsConvolution3D(), true);
            default:
                return {};
        }
    }

    static void shift(const Layer& layer, const std::vector<float>& values) {
        for (size_t o = 0; o < layer.channels(); ++o) (*layer.bias)[o] += values[o];
    }

    // inputs: only for a transposed convolution.
    static bool apply(const Layer& layer, const std::vector<float>& factor, const std::vector<float>& shift,
                      size_t inputs) {
        const size_t channels = layer.channels();
        if (layer.transposed && (inputs == 0 || inputs % layer.group != 0 || channels % layer.group != 0)) return false;
        layer.made->fillWeights();
        std::vector<float>& weight = *layer.weight;
        if (layer.transposed) {
            const size_t outs = channels / layer.group, ins = inputs / layer.group,
                         each = weight.size() / (inputs * outs);
            if (weight.size() != inputs * outs * each) return false;
            for (size_t i = 0; i < inputs; ++i)
                for (size_t o = 0; o < outs; ++o)
                    for (size_t k = 0; k < each; ++k) weight[(i * outs + o) * each + k] *= factor[i / ins * outs + o];
        } else {
            const size_t each = weight.size() / channels;
            for (size_t o = 0; o < channels; ++o)
                for (size_t k = 0; k < each; ++k) weight[o * each + k] *= factor[o];
        }
        for (size_t o = 0; o < channels; ++o) (*layer.bias)[o] = (*layer.bias)[o] * factor[o] + shift[o];
        return true;
    }

    // The number of input channels of a layer; 0: unknown.
    size_t inputsOf(const Layer& layer) const {
        const Value& x = *scope_.values[at(layer.made->op.inputIndexes[0])];
        return x.rank() > 1 && x.fixed(1) ? static_cast<size_t>(x.dims[0][1]) : 0;
    }

    void take(wire::OpT& made, int tensor, int producer) {
        made.outputIndexes = {tensor};
        links_.setProducer(tensor, producer);
    }

    void foldScale(size_t i) {
        const wire::OpT& scale = scope_.operators[i].op;
        const wire::ScaleT* table = scale.main.AsScale();
        const int packed = scale.inputIndexes[0], result = scale.outputIndexes[0];
        const int into = links_.producer(packed), out = links_.onlyConsumer(result);
        if (!table || into < 0 || out < 0 || !links_.usedOnce(packed)) return;
        if (op(into).type != OpType::ConvertTensor || op(out).type != OpType::ConvertTensor) return;
        const Layer layer = convolution(op(into).inputIndexes[0]);
        if (!layer || table->scaleData.size() != layer.channels() ||
            table->biasData.size() != table->scaleData.size() ||
            !apply(layer, table->scaleData, table->biasData, inputsOf(layer)))
            return;
        const int producer = links_.producer(op(into).inputIndexes[0]);
        take(layer.made->op, op(out).outputIndexes[0], producer);
        removed_[at(into)] = removed_[i] = removed_[at(out)] = true;
    }

    // The product of a layer, [M, N, 1, 1], before its Reshape to [..., N].
    Layer product(int tensor) {
        const int reshape = links_.producer(tensor);
        if (reshape < 0 || !links_.usedOnce(tensor) || op(reshape).type != OpType::Reshape) return {};
        const int flat = op(reshape).inputIndexes[0];
        const Value* value = scope_.values[at(flat)];
        const Layer layer = convolution(flat);
        if (!layer || value->rank() != 4 || value->steps || !value->fixed(2) || !value->fixed(3) ||
            value->dims[0][2] != 1 || value->dims[0][3] != 1)
            return {};
        return layer;
    }

    // Folds a number for each column of a layer.
    bool foldBias(size_t i, int tensor, int other) {
        const Layer layer = product(tensor);
        const int constant = links_.producer(other);
        if (!layer || constant < 0 || !scope_.operators[at(constant)].constant) return false;
        const Array& array = *scope_.operators[at(constant)].constant;
        const size_t channels = layer.channels(), rank = scope_.values[at(tensor)]->rank();
        const Value* value = scope_.values[at(tensor)];
        bool fits = array.type == DataType::DT_FLOAT && array.floatCount() == channels && rank >= 2 &&
                    array.dims.size() <= rank && !array.dims.empty() &&
                    array.dims.back() == static_cast<int64_t>(channels) && value->fixed(rank - 1) &&
                    value->dims[0][rank - 1] == static_cast<int64_t>(channels) && !value->steps;
        if (!fits) return false;
        shift(layer, array.allFloats());
        take(op(links_.producer(tensor)), scope_.operators[i].op.outputIndexes[0], links_.producer(tensor));
        removed_[i] = true;
        return true;
    }

    // Whether a constant has one number for each channel of a tensor, or one for all: [channels, 1...], possibly after
    // ones, with no more axes than the tensor.
    static bool isByChannel(const Array& array, size_t channels, size_t rank) {
        if (rank < 3 || array.dims.size() > rank) return false;
        if (array.floatCount() == 1) return true;
        bool fits = array.floatCount() == channels && array.dims.size() + 1 >= rank;
        for (size_t axis = 0; fits && axis < array.dims.size(); ++axis) {
            const bool isChannel = axis + rank == array.dims.size() + 1;
            fits = array.dims[axis] == (isChannel ? static_cast<int64_t>(channels) : 1);
        }
        return fits;
    }

    void foldBinary(size_t i) {
        const wire::OpT& binary = scope_.operators[i].op;
        const wire::BinaryOpT* table = binary.main.AsBinaryOp();
        if (!table || (table->opType != wire::BinaryOpOperation::ADD && table->opType != wire::BinaryOpOperation::MUL))
            return;
        for (size_t side = 0; side < 2; ++side) {
            const int tensor = binary.inputIndexes[side], other = binary.inputIndexes[1 - side];
            if (table->opType == wire::BinaryOpOperation::ADD && foldBias(i, tensor, other)) return;
            const Layer layer = convolution(tensor);
            const int constant = links_.producer(other);
            if (!layer || constant < 0 || !scope_.operators[at(constant)].constant) continue;
            const Array& array = *scope_.operators[at(constant)].constant;
            const size_t channels = layer.channels(), rank = scope_.values[at(tensor)]->rank();
            if (array.type != DataType::DT_FLOAT || !isByChannel(array, channels, rank)) continue;
            const std::vector<float> values =
                array.floatCount() == 1 ? std::vector<float>(channels, array.allFloats()[0]) : array.allFloats();
            if (table->opType == wire::BinaryOpOperation::ADD)
                shift(layer, values);
            else if (!apply(layer, values, std::vector<float>(channels, 0.0f), inputsOf(layer)))
                continue;
            take(layer.made->op, binary.outputIndexes[0], links_.producer(tensor));
            removed_[i] = true;
            return;
        }
    }

    Scope& scope_;
    Links links_;
    std::vector<bool> removed_;
};

}  // namespace

void foldChannels(Builder& builder, const std::vector<V>& outputs) {
    forEachScope(builder, outputs, [](Scope& scope, const std::vector<int>& ids) { Folding(scope, ids).run(); });
}

}  // namespace mnnc::onnx
