// Reads commands over scores: factors, sums with masks, conditions, reshapes.
#include "plan/attention_scores.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/region_series.h"
#include "ops/binary.h"
#include "ops/softmax.h"
#include "plan/elementwise_chains.h"
#include "tensor/region_check.h"

namespace mnnc {

using Kind = AttentionStep::Kind;

namespace {
constexpr size_t kMaxMembers = 64;  // limits how far producers of masks are followed
}  // namespace

std::optional<float> knownFactor(const Command& command, const Operand* value) {
    if (command.type != OpType::BinaryOp) return {};
    const auto& params = command.paramsAs<BinaryParams>();
    const bool first = command.inputs[0] == value;
    const Operand& other = *command.inputs[first ? 1 : 0];
    const bool divides = params.code == kBinaryRealDiv && first;
    if (params.relu || &other == value || !isKnownNumber(other) || (!divides && params.code != kBinaryMul)) return {};
    return divides ? 1 / *other.known<float>() : *other.known<float>();
}

bool ScoreReader::begin(const Operand* product, int64_t rows, int64_t columns, const Command& softmax) {
    value_ = product;
    rows_ = rows;
    columns_ = columns;
    axes_ = ScoreAxes::of(softmax.inputs[0]->shape, rows_, columns_);
    keysAreRows_ = !isOverKeys(softmax);  // keys are columns at first; otherwise they may be rows
    if (!isOverKeys(softmax)) return false;
    axes_ = ScoreAxes::of(value_->shape, rows_, columns_);
    return axes_.has_value();
}

bool ScoreReader::isOverKeys(const Command& softmax) const {
    if (!axes_) return false;
    const Shape& shape = axes_->shape;
    const int axis = normalizeAxis(softmax.paramsAs<SoftmaxParams>().axis, shape.rank(), "Softmax");
    const int64_t behind = shape.elements(axis + 1, shape.rank());
    return shape[axis] == (keysAreRows_ ? rows_ : columns_) && behind == (keysAreRows_ ? columns_ : 1);
}

bool ScoreReader::take(Id id) {
    const Command& step = graph_.command(id);
    const Operand* made = step.outputs[0];
    if (step.type == OpType::Raster) {
        axes_ = ScoreAxes::of(made->shape, rows_, columns_);
        if (!axes_ || step.inputs.size() != 1 || !isIdentity(step.regions, made->elements())) return false;
    } else if (!(made->shape == axes_->shape) || !(step.type == OpType::Select ? takeSelect(id) : takeBinary(id))) {
        return false;
    }
    members_.push_back(id);
    value_ = made;
    return true;
}

bool ScoreReader::takeBinary(Id id) {
    const Command& binary = graph_.command(id);
    if (const std::optional<float> factor = knownFactor(binary, value_)) {
        pending_ *= *factor;
        return true;
    }
    const auto& params = binary.paramsAs<BinaryParams>();
    Operand* other = binary.inputs[binary.inputs[0] == value_ ? 1 : 0];
    if (params.relu || other == value_ || other->type != DataType::Float32) return false;
    if (params.code == kBinaryAdd) return addMask(Kind::Add, other, id, *axes_);
    return params.code == kBinaryMul && addMask(Kind::Multiply, other, id, *axes_) &&
           steps_.back().operand.rowStep == 0 && steps_.back().runs.empty() && steps_.back().columnStep == 0;
}

bool ScoreReader::takeSelect(Id id) {
    const Command& select = graph_.command(id);
    const size_t kept = select.inputs[1] == value_ ? 1 : 2;
    Operand& condition = *select.inputs[0];
    const Operand& dropped = *select.inputs[3 - kept];
    if (&dropped == value_ || condition.type != DataType::Int32 || !isKnownNumber(dropped) ||
        !addMask(Kind::Keep, &condition, id, *axes_))
        return false;
    steps_.back().dropped = *dropped.known<float>();
    steps_.back().keepsZeros = kept == 2;
    return true;
}

// Adds a step with this operand, whose only consumer is `consumer` where its producers are members.
bool ScoreReader::addMask(Kind kind, Operand* operand, Id consumer, const ScoreAxes& axes) {
    const Id id = graph_.exclusiveProducer(operand, consumer);
    if (id != CommandGraph::kNone && mayTake_(id) && members_.size() < kMaxMembers) {
        const size_t members = members_.size(), steps = steps_.size();
        const float pending = pending_;
        members_.push_back(id);
        if (addMaskThrough(kind, id, axes)) return true;
        members_.resize(members);
        steps_.resize(steps);
        operands_.resize(steps);
        pending_ = pending;
    }
    return addStep(kind, operand, OperandView::of(operand->shape), axes);
}

// Adds the same step with the operands of the command that produces the operand; returns false where it cannot.
bool ScoreReader::addMaskThrough(Kind kind, Id id, const ScoreAxes& axes) {
    const Command& producer = graph_.command(id);
    const Operand& made = *producer.outputs[0];
    if (producer.type == OpType::BinaryOp && kind == Kind::Add) {
        // A sum of smaller tensors that is as large as the scores.
        const auto isSmaller = [&](const Operand* part) {
            return part->type == DataType::Float32 && part->elements() < made.elements();
        };
        return producer.paramsAs<BinaryParams>().code == kBinaryAdd && !producer.paramsAs<BinaryParams>().relu &&
               std::all_of(producer.inputs.begin(), producer.inputs.end(), isSmaller) &&
               addMask(kind, producer.inputs[0], id, axes) && addMask(kind, producer.inputs[1], id, axes);
    }
    if (producer.type != OpType::Raster || producer.inputs.size() != 1 || producer.inputs[0]->type != made.type)
        return false;
    Operand* source = producer.inputs[0];
    if (made.shape == axes.shape && isIdentity(producer.regions, made.elements()) &&
        source->elements() == made.elements()) {
        const std::optional<ScoreAxes> before = ScoreAxes::of(source->shape, rows_, columns_);
        return before && addMask(kind, source, id, *before);
    }
    const std::optional<RegionSeries> series = RegionSeries::of(producer.regions);
    const std::optional<OperandView> view =
        series ? series->through(OperandView::of(made.shape), made.elements()) : std::nullopt;
    return view && addStep(kind, source, *view, axes);
}

bool ScoreReader::addStep(Kind kind, Operand* operand, const OperandView& view, const ScoreAxes& axes) {
    if (steps_.size() == kMaxAttentionSteps) return false;
    AttentionStep step;
    step.kind = kind;
    step.scale = std::exchange(pending_, 1.0f);
    if (!axes.place(step, view, keysAreRows_) || !std::isfinite(step.scale)) return false;
    steps_.push_back(std::move(step));
    operands_.push_back(operand);
    return true;
}

}  // namespace mnnc
