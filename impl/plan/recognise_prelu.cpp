// The pass recognise-prelu: x * (x < 0 ? slope : 1) (He et al., "Delving Deep into Rectifiers", arXiv 1502.01852), with
// a slope for each channel or one for all, as the converter writes ONNX's PRelu. It runs before passes use scales,
// because the scales of the condition and of the broadcast slopes have no meaning.
#include <optional>

#include "ops/activation.h"
#include "ops/channel_axis.h"
#include "plan/activation_forms.h"
#include "plan/elementwise_chains.h"
#include "plan/passes.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;
using Slopes = std::optional<std::vector<float>>;

bool isNumber(const Operand& tensor, float value) {
    return isKnownNumber(tensor) && tensor.type == DataType::Float32 && tensor.channelBlock == 1 &&
           *tensor.known<float>() == value;
}

// Returns whether a Raster produces a tensor of x's shape by broadcasting a constant: one element for each channel of
// x, or a single element for everything.
bool broadcastsChannels(const Command& raster, const Operand& x) {
    const Operand &from = *raster.inputs[0], &to = *raster.outputs[0];
    const int axis = channelAxis(x);
    if (raster.inputs.size() != 1 || raster.regions.size() != 1 || axis < 0 || !(to.shape == x.shape)) return false;
    const Region& region = raster.regions[0];
    const int64_t inner = to.shape.elements(axis + 1, to.shape.rank());
    if (region.count() != to.elements() || region.src.offset != 0 || region.dst.offset != 0) return false;
    bool takesChannels = from.elements() == 1;
    int64_t below = 1;
    for (int i = 2; i >= 0; --i) {
        const int64_t size = region.size[i];
        if (size == 1) continue;
        if (region.dst.stride[i] != below) return false;
        if (region.src.stride[i] != 0) {
            if (takesChannels || region.src.stride[i] != 1 || size != to.shape[axis] || below != inner) return false;
            takesChannels = true;
        }
        below *= size;
    }
    return takesChannels && (from.elements() == 1 || from.elements() == to.shape[axis]);
}

class PReluFinder {
  public:
    explicit PReluFinder(CommandGraph& graph) : graph_(graph) {}

    void rewrite(Id product) {
        const BinaryParams* params = floatBinary(graph_.command(product));
        if (!params || params->code != kBinaryMul || params->relu) return;
        for (const size_t side : {size_t{1}, size_t{0}}) {
            steps_.clear();
            Command command = graph_.command(product);
            Operand *factor = command.inputs[side], *x = command.inputs[1 - side];
            if (!(x->shape == command.outputs[0]->shape) || graph_.onlyConsumer(factor) != product) continue;
            Slopes slopes = slopesOf(factor, x);
            if (!slopes) continue;
            if (slopes->size() > 1 && channelAxis(*x) != channelAxis(*command.outputs[0])) continue;
            auto prelu = std::make_shared<PReluParams>();
            prelu->slopes = std::move(*slopes);
            command.type = OpType::PReLU;
            command.params = std::move(prelu);
            command.inputs = {x};
            graph_.replace(product, std::move(command));
            for (const Id step : steps_) {
                const Operand* result = graph_.command(step).outputs[0];
                if (graph_.consumers(result).empty() && !graph_.isLiveOut(result)) graph_.erase(step, product);
            }
            return;
        }
    }

  private:
    // Returns the producer of a tensor of the same values and shape, before Rasters that only copy; kNone: there is
    // none.
    Id origin(Operand*& tensor) {
        for (Id id = graph_.producer(tensor); id != CommandGraph::kNone; id = graph_.producer(tensor)) {
            if (graph_.isControl(id)) break;
            steps_.push_back(id);
            const Command& command = graph_.command(id);
            if (command.type != OpType::Raster || command.inputs.size() != 1 ||
                !isIdentity(command.regions, tensor->elements()))
                return id;
            Operand* source = command.inputs[0];
            if (!(source->shape == tensor->shape) || source->type != tensor->type ||
                (source->format == Format::NHWC) != (tensor->format == Format::NHWC))
                return id;
            tensor = source;
        }
        return CommandGraph::kNone;
    }

    // Returns the slopes where `factor` is x < 0 ? slope : 1, or x > 0 ? 1 : slope.
    Slopes slopesOf(Operand* factor, Operand* x) {
        const Id choice = origin(factor);
        if (choice == CommandGraph::kNone || graph_.command(choice).type != OpType::Select) return {};
        const std::vector<Operand*> operands = graph_.command(choice).inputs;
        if (operands.size() != 3) return {};
        for (const bool negative : {true, false}) {
            const size_t slope = negative ? 1 : 2;
            if (!isNumber(*operands[3 - slope], 1)) continue;
            const std::vector<Id> steps = steps_;
            if (compares(operands[0], x, negative)) return valuesOf(operands[slope], *x);
            steps_ = steps;
        }
        return {};
    }

    // Returns whether a condition compares x with 0: x < 0 or x <= 0 if `negative`, else x > 0 or x >= 0.
    bool compares(Operand* condition, Operand* x, bool negative) {
        const Id comparison = origin(condition);
        if (comparison == CommandGraph::kNone || graph_.command(comparison).type != OpType::BinaryOp) return false;
        const Command& command = graph_.command(comparison);
        const int code = command.paramsAs<BinaryParams>().code;
        const bool less = code == kBinaryLess || code == kBinaryLessEqual,
                   greater = code == kBinaryGreater || code == kBinaryGreaterEqual;
        if (command.inputs.size() != 2 || !(negative ? less : greater) || !isNumber(*command.inputs[1], 0))
            return false;
        return sourceOf(command.inputs[0]) == sourceOf(x);
    }
    const Operand* sourceOf(Operand* tensor) {
        const std::vector<Id> steps = steps_;  // the producers of x stay in the graph
        origin(tensor);
        steps_ = steps;
        return tensor;
    }

    Slopes valuesOf(Operand* slopes, const Operand& x) {
        const Operand* constant = slopes;
        const Id id = graph_.producer(slopes);
        if (id != CommandGraph::kNone) {
            const Command& raster = graph_.command(id);
            if (graph_.isControl(id) || raster.type != OpType::Raster || raster.inputs.empty() ||
                !broadcastsChannels(raster, x))
                return {};
            steps_.push_back(id);
            constant = raster.inputs[0];
        } else if (slopes->elements() != 1) {
            return {};
        }
        if (!constant->hasConstantValue || !constant->values || constant->onDevice || constant->channelBlock != 1 ||
            constant->type != DataType::Float32)
            return {};
        const auto* values = constant->known<float>();
        return std::vector<float>(values, values + constant->elements());
    }

    CommandGraph& graph_;
    // Commands before the product, erased where nothing else reads their results; consumers come before producers.
    std::vector<Id> steps_;
};

}  // namespace

void recognisePRelu(CommandGraph& graph, const PlanContext&) {
    PReluFinder finder(graph);
    for (const Id id : graph.ids())
        if (graph.contains(id) && !graph.isControl(id)) finder.rewrite(id);
}

}  // namespace mnnc
