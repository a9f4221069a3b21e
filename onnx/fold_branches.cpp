// See fold_branches.h. Nets like RepVGG and MobileOne are trained with parallel branches: convolutions with windows of
// several sizes, and a normalisation of the input itself. Their sum is linear: a convolution takes in another one whose
// window lies inside of its own, and a Scale of its input, as BatchNormalization is written. Sums of more than two
// branches merge pair by pair, in their order.
#include "fold_branches.h"

#include <algorithm>
#include <array>

#include "links.h"

namespace mnnc::onnx {
namespace {

// A window along one axis.
struct Window {
    int64_t kernel, stride, dilate, begin, end;
    int64_t reach() const { return (kernel - 1) * dilate + 1; }
};

// Returns the tap of `host` that reads the same element as the first tap of `other`; -1: the window of `other` is no
// part of the window of `host`, or the results have different extents.
int64_t tapOf(const Window& host, const Window& other) {
    const int64_t shift = host.begin - other.begin;
    if (host.stride != other.stride || (other.dilate != host.dilate && other.kernel > 1)) return -1;
    if (shift < 0 || shift % host.dilate != 0 || shift / host.dilate + other.kernel > host.kernel) return -1;
    return host.end - other.end == host.reach() - other.reach() - shift ? shift / host.dilate : -1;
}

// A convolution over a plane with constant weights [outputs, inputs of a group, height, width].
struct Layer {
    Operator* made = nullptr;
    wire::Convolution2DT* table = nullptr;
    std::array<Window, 2> windows = {};
    size_t groupInputs = 0;
    explicit operator bool() const { return made != nullptr; }
    const wire::Convolution2DCommonT& common() const { return *table->common; }
    size_t outputs() const { return table->bias.size(); }
    size_t area() const { return static_cast<size_t>(windows[0].kernel * windows[1].kernel); }
};

class Branches {
  public:
    Branches(Scope& scope, const std::vector<int>& outputs)
        : scope_(scope), links_(scope, outputs), removed_(scope.operators.size()) {}

    bool run() {
        bool changed = false;
        for (size_t i = 0; i < scope_.operators.size(); ++i) changed = foldSum(i) || changed;
        eraseMarked(scope_, removed_);
        return changed;
    }

  private:
    static size_t at(int id) { return static_cast<size_t>(id); }
    wire::OpT& op(int i) { return scope_.operators[at(i)].op; }

    // The convolution that produces a tensor with a single consumer.
    Layer layerOf(int tensor) {
        const int producer = links_.producer(tensor);
        if (producer < 0 || !links_.usedOnce(tensor) || scope_.values[at(tensor)]->steps) return {};
        Operator& made = scope_.operators[at(producer)];
        wire::Convolution2DT* table = made.op.main.AsConvolution2D();
        const bool isConvolution = made.op.type == OpType::Convolution || made.op.type == OpType::ConvolutionDepthwise;
        if (!isConvolution || !table || !table->common || made.op.inputIndexes.size() != 1) return {};
        const wire::Convolution2DCommonT& c = *table->common;
        if (c.relu || c.relu6 || c.padMode != wire::PadMode::CAFFE || c.pads.size() != 4 || c.group < 1 ||
            c.inputCount < 1 || c.outputCount < 1 || table->bias.size() != static_cast<size_t>(c.outputCount))
            return {};
        Layer layer{&made, table};
        layer.windows = {Window{c.kernelY, c.strideY, c.dilateY, c.pads[0], c.pads[2]},
                         Window{c.kernelX, c.strideX, c.dilateX, c.pads[1], c.pads[3]}};
        layer.groupInputs = static_cast<size_t>(c.inputCount / c.group);
        if (std::any_of(layer.windows.begin(), layer.windows.end(),
                        [](const Window& w) { return w.kernel < 1 || w.stride < 1 || w.dilate < 1; }))
            return {};
        const size_t weights = made.weights ? made.weights->floatCount() : table->weight.size();
        return weights > 0 && weights == layer.outputs() * layer.groupInputs * layer.area() ? layer : Layer();
    }

    // A Scale between two changes of the layout, as BatchNormalization is written.
    struct ScaleBranch {
        int into = -1, scale = -1, out = -1;
        wire::ScaleT* table = nullptr;
    };
    ScaleBranch scaleOf(int tensor) {
        ScaleBranch branch;
        branch.out = onlyProducer(tensor, OpType::ConvertTensor);
        if (branch.out < 0) return {};
        branch.scale = onlyProducer(op(branch.out).inputIndexes[0], OpType::Scale);
        if (branch.scale < 0) return {};
        branch.into = onlyProducer(op(branch.scale).inputIndexes[0], OpType::ConvertTensor);
        branch.table = branch.into < 0 ? nullptr : op(branch.scale).main.AsScale();
        return branch;
    }
    // The operator of this type that produces a tensor with a single consumer; -1: there is none.
    int onlyProducer(int tensor, OpType type) {
        const int producer = links_.producer(tensor);
        const bool fits = producer >= 0 && links_.usedOnce(tensor) && !scope_.values[at(tensor)]->steps;
        return fits && op(producer).type == type ? producer : -1;
    }

    bool foldSum(size_t i) {
        const wire::OpT& sum = scope_.operators[i].op;
        const wire::BinaryOpT* table = sum.main.AsBinaryOp();
        if (sum.type != OpType::BinaryOp || !table || table->opType != Binary::ADD || table->activationType != 0)
            return false;
        for (size_t side = 0; side < 2; ++side) {
            const int kept = sum.inputIndexes[side], merged = sum.inputIndexes[1 - side], result = sum.outputIndexes[0];
            if (!sameExtents(kept, result) || !sameExtents(merged, result)) continue;
            const Layer host = layerOf(kept);
            if (!host || (!takesLayer(host, merged) && !takesScale(host, merged))) continue;
            links_.setProducer(result, links_.producer(kept));
            host.made->op.outputIndexes = {result};
            removed_[i] = true;
            return true;
        }
        return false;
    }

    bool sameExtents(int tensor, int other) const {
        return scope_.values[at(tensor)]->dims == scope_.values[at(other)]->dims;
    }

    bool takesLayer(const Layer& host, int tensor) {
        const Layer other = layerOf(tensor);
        if (!other || other.made->op.inputIndexes != host.made->op.inputIndexes ||
            other.common().group != host.common().group || other.groupInputs != host.groupInputs ||
            other.outputs() != host.outputs())
            return false;
        const int64_t y = tapOf(host.windows[0], other.windows[0]), x = tapOf(host.windows[1], other.windows[1]);
        if (y < 0 || x < 0) return false;
        host.made->fillWeights();
        other.made->fillWeights();
        const auto width = static_cast<size_t>(host.windows[1].kernel),
                   rows = static_cast<size_t>(other.windows[0].kernel),
                   columns = static_cast<size_t>(other.windows[1].kernel);
        const float* from = other.table->weight.data();
        for (size_t plane = 0; plane < host.outputs() * host.groupInputs; ++plane)
            for (size_t row = 0; row < rows; ++row) {
                float* to = host.table->weight.data() + plane * host.area() + (static_cast<size_t>(y) + row) * width +
                            static_cast<size_t>(x);
                for (size_t column = 0; column < columns; ++column) to[column] += *from++;
            }
        for (size_t o = 0; o < host.outputs(); ++o) host.table->bias[o] += other.table->bias[o];
        removed_[at(links_.producer(tensor))] = true;
        return true;
    }

    bool takesScale(const Layer& host, int tensor) {
        constexpr Window kOne{1, 1, 1, 0, 0};
        const ScaleBranch branch = scaleOf(tensor);
        const size_t outputs = host.outputs(), groups = static_cast<size_t>(host.common().group);
        if (!branch.table || op(branch.into).inputIndexes != host.made->op.inputIndexes ||
            branch.table->scaleData.size() != outputs || branch.table->biasData.size() != outputs ||
            host.groupInputs * groups != outputs)
            return false;
        const int64_t y = tapOf(host.windows[0], kOne), x = tapOf(host.windows[1], kOne);
        if (y < 0 || x < 0) return false;
        host.made->fillWeights();
        const auto tap = static_cast<size_t>(y * host.windows[1].kernel + x);
        for (size_t o = 0; o < outputs; ++o) {
            const size_t input = o % host.groupInputs;  // of the group
            host.table->weight[(o * host.groupInputs + input) * host.area() + tap] += branch.table->scaleData[o];
            host.table->bias[o] += branch.table->biasData[o];
        }
        for (const int i : {branch.into, branch.scale, branch.out}) removed_[at(i)] = true;
        return true;
    }

    Scope& scope_;
    Links links_;
    std::vector<bool> removed_;
};

}  // namespace

bool foldBranches(Builder& builder, const std::vector<V>& outputs) {
    bool changed = false;
    forEachScope(builder, outputs,
                 [&](Scope& scope, const std::vector<int>& ids) { changed = Branches(scope, ids).run() || changed; });
    return changed;
}

}  // namespace mnnc::onnx
