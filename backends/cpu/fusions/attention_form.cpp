// Walks from the product of queries and keys to the result, and notes what each command does to the scores.
#include "backends/cpu/fusions/attention_form.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "backends/cpu/ops/matrix_view.h"
#include "ops/binary.h"
#include "ops/matmul.h"
#include "ops/region_series.h"
#include "ops/softmax.h"
#include "plan/elementwise_chains.h"
#include "tensor/region_check.h"

namespace mnnc::cpu {
namespace {

// Heads of all batches whose places are compared one by one.
constexpr int64_t kMostHeads = 1 << 16;

bool isProduct(const Command& command) {
    return command.type == OpType::MatMul || command.type == OpType::BatchMatMul;
}

// The axes before the last two.
Shape leading(const Shape& shape) {
    Shape result;
    for (int axis = 0; axis + 2 < shape.rank(); ++axis) result.push(shape[axis]);
    return result;
}

// The same with at least two axes.
OperandView withTwoAxes(OperandView view) {
    while (view.shape.rank() < 2) {
        view.shape.insert(0, 1);
        std::rotate(view.stride.begin(), view.stride.end() - 1, view.stride.end());
        view.stride[0] = 0;
    }
    return view;
}

bool isRowMajor(const OperandView& view) {
    const OperandView plain = OperandView::of(view.shape);
    for (size_t axis = 0; axis < static_cast<size_t>(view.shape.rank()); ++axis)
        if (view.shape[static_cast<int>(axis)] != 1 && view.stride[axis] != plain.stride[axis]) return false;
    return view.offset == 0;
}

bool goesForward(const OperandView& view) {
    return std::all_of(view.stride.begin(), view.stride.begin() + view.shape.rank(),
                       [](int64_t stride) { return stride >= 0; });
}

class Reader {
  public:
    Reader(std::span<const Command> commands, std::span<Tensor* const> inputs)
        : commands_(commands), inputs_(inputs) {}

    std::optional<AttentionForm> read() {
        const auto product = std::find_if(commands_.begin(), commands_.end(), isProduct);
        if (product == commands_.end() || !readProduct(*product)) return {};
        const Command* step = next(*product);
        for (; step && step->type != OpType::Softmax; step = next(*step))
            if (!readScores(*step)) return {};
        if (!step || normalizeAxis(step->paramsAs<SoftmaxParams>().axis, scores_.rank(), "Softmax") !=
                         scores_.rank() - 1)
            return {};
        const Command* values = next(*step);
        if (!values || !isProduct(*values) || !readValues(*values)) return {};
        const Command* moved = next(*values);
        if (!placeResult(*values, moved) || &commands_.back() != (moved ? moved : values) ||
            !std::isfinite(form_.args.scale))
            return {};
        return std::move(form_);
    }

  private:
    AttentionInput inputFrom(const Tensor* tensor, int64_t start) const {
        return {static_cast<int>(std::find(inputs_.begin(), inputs_.end(), tensor) - inputs_.begin()), start};
    }

    // The command that reads the result of this one.
    const Command* next(const Command& command) {
        value_ = command.outputs[0];
        for (const Command& reader : commands_)
            if (std::find(reader.inputs.begin(), reader.inputs.end(), value_) != reader.inputs.end())
                return &reader;
        return nullptr;
    }

    static OperandView viewOf(const Command& command, size_t operand) {
        return command.views.empty() ? OperandView::of(command.inputs[operand]->shape)
                                     : command.views[operand];
    }

    // The steps from a batch, and from a head, to the next, where matrices lie at such places.
    bool setSteps(const std::vector<size_t>& places, size_t& batchStep, size_t& headStep) const {
        const auto heads = static_cast<size_t>(form_.args.heads);
        if (places.size() != heads * static_cast<size_t>(form_.args.batch)) return false;
        batchStep = places.size() > heads ? places[heads] : 0;
        headStep = heads > 1 ? places[1] : 0;
        for (size_t i = 0; i < places.size(); ++i)
            if (places[i] != i / heads * batchStep + i % heads * headStep) return false;
        return true;
    }
    template <typename T>
    bool setSteps(AttentionOperand<T>& operand, const OperandView& view, const Shape& own,
                  const Shape& all) const {
        return goesForward(view) &&
               setSteps(matrixOffsets(view, own, all), operand.batchStep, operand.headStep);
    }

    bool readProduct(const Command& command) {
        const OperandView a = viewOf(command, 0), b = viewOf(command, 1);
        const MatMulSizes sizes =
            matMulSizes(command.paramsAs<MatMulParams>(), a.shape, b.shape, command.name.c_str());
        const std::optional<Matrix> left = matrixOf(a, sizes.transposeA),
                                    right = matrixOf(b, sizes.transposeB);
        const int64_t count = sizes.batch.elements();
        const int64_t heads = sizes.batch.rank() == 0 ? 1 : sizes.batch[sizes.batch.rank() - 1];
        if (!left || left->transposed || !right || a.shape.rank() < 2 || b.shape.rank() < 2 || count == 0 ||
            count > kMostHeads || std::max({sizes.e, sizes.l, sizes.h}) > INT_MAX ||
            std::min({sizes.e, sizes.l, sizes.h}) == 0)
            return false;
        AttentionArgs& args = form_.args;
        args.heads = args.keyHeads = static_cast<int>(heads);
        args.batch = static_cast<int>(count / heads);
        args.queries = static_cast<int>(sizes.e);
        args.depth = static_cast<int>(sizes.l);
        args.keys = static_cast<int>(sizes.h);
        args.q.rowStep = left->ld;
        args.k.rowStep = right->ld;
        args.keysTransposed = !right->transposed;
        form_.q = inputFrom(command.inputs[0], a.offset);
        form_.k = inputFrom(command.inputs[1], b.offset);
        scores_ = command.outputs[0]->shape;
        return setSteps(args.q, a, sizes.batchA, sizes.batch) &&
               setSteps(args.k, b, sizes.batchB, sizes.batch);
    }

    bool readScores(const Command& command) {
        if (command.type == OpType::Raster) return readReshape(command);
        if (!(command.outputs[0]->shape == scores_)) return false;
        if (command.type == OpType::Select) return readSelect(command);
        return command.type == OpType::BinaryOp && readBinary(command);
    }

    // The last two axes stay what they are.
    bool readReshape(const Command& raster) {
        const Shape& shape = raster.outputs[0]->shape;
        const int rank = shape.rank();
        const bool keeps =
            rank >= 2 && shape[rank - 1] == form_.args.keys && shape[rank - 2] == form_.args.queries;
        scores_ = shape;
        return keeps && raster.inputs.size() == 1 && isIdentity(raster.regions, shape.elements());
    }

    bool readBinary(const Command& command) {
        const auto& params = command.paramsAs<BinaryParams>();
        const bool first = command.inputs[0] == value_;
        const Tensor& other = *command.inputs[first ? 1 : 0];
        if (params.relu || &other == value_ || form_.keep.index >= 0) return false;
        const bool divides = params.code == kBinaryRealDiv && first;
        if (divides || params.code == kBinaryMul) {
            if (!isKnownNumber(other) || form_.masks[0].index >= 0) return false;
            const float factor = *other.as<const float>();
            form_.args.scale = divides ? form_.args.scale / factor : form_.args.scale * factor;
            return true;
        }
        const size_t place = form_.masks[0].index >= 0 ? 1 : 0;
        return params.code == kBinaryAdd && form_.masks[place].index < 0 &&
               readMask(other, form_.masks[place], form_.args.masks[place]);
    }

    bool readSelect(const Command& command) {
        const size_t kept = command.inputs[1] == value_ ? 1 : 2;
        const Tensor &condition = *command.inputs[0], &dropped = *command.inputs[3 - kept];
        if (form_.keep.index >= 0 || &dropped == value_ || condition.type != DataType::Int32 ||
            !isKnownNumber(dropped))
            return false;
        form_.args.dropped = *dropped.as<const float>();
        form_.args.keepsZeros = kept == 2;
        return readMask(condition, form_.keep, form_.args.keep);
    }

    template <typename T>
    bool readMask(const Tensor& mask, AttentionInput& input, AttentionMask<T>& steps) const {
        const Tensor* from = &mask;
        OperandView view = OperandView::of(mask.shape);
        for (const Command& command : commands_) {
            if (command.outputs[0] != &mask) continue;
            const std::optional<OperandView> through = viewThroughRaster(command);
            if (!through || command.inputs[0]->type != mask.type) return false;
            view = *through;
            from = command.inputs[0];
        }
        view = withTwoAxes(view);
        input = inputFrom(from, view.offset);
        const int rank = view.shape.rank();
        const auto step = [&](int axis) {
            return view.shape[axis] == 1 ? 0 : view.stride[static_cast<size_t>(axis)];
        };
        steps.rowStep = static_cast<size_t>(step(rank - 2));
        steps.columnStep = static_cast<size_t>(step(rank - 1));
        const Shape own = leading(view.shape), all = leading(scores_);
        return rank <= scores_.rank() && steps.columnStep <= 1 && setSteps(steps, view, own, all);
    }

    bool readValues(const Command& command) {
        const OperandView a = viewOf(command, 0), b = viewOf(command, 1);
        const MatMulSizes sizes =
            matMulSizes(command.paramsAs<MatMulParams>(), a.shape, b.shape, command.name.c_str());
        const std::optional<Matrix> right = matrixOf(b, sizes.transposeB);
        AttentionArgs& args = form_.args;
        if (command.inputs[0] != value_ || command.inputs[1] == value_ || !right || !isRowMajor(a) ||
            sizes.transposeA || a.shape.rank() < 2 || b.shape.rank() < 2 || sizes.e != args.queries ||
            sizes.l != args.keys || sizes.h > INT_MAX || sizes.h == 0 ||
            sizes.batchA.elements() != sizes.batch.elements())
            return false;
        args.valueDepth = static_cast<int>(sizes.h);
        args.v.rowStep = right->ld;
        args.valuesTransposed = right->transposed;
        form_.v = inputFrom(command.inputs[1], b.offset);
        return setSteps(args.v, b, sizes.batchB, sizes.batch);
    }

    // Where the rows of the result go: to the product's own tensor or through the Raster behind it.
    bool placeResult(const Command& values, const Command* raster) {
        OperandView view = OperandView::of(values.outputs[0]->shape);
        if (raster) {
            const int64_t elements = values.outputs[0]->elements();
            const std::optional<RegionSeries> series = RegionSeries::of(raster->regions);
            if (raster->type != OpType::Raster || raster->inputs.size() != 1 || !series ||
                raster->outputs[0]->elements() != elements || !series->fills(elements))
                return false;
            const std::optional<OperandView> back = series->reversed().through(view, elements);
            if (!back) return false;
            view = *back;
        }
        const int rank = view.shape.rank();
        const int64_t row = view.stride[static_cast<size_t>(rank - 2)];
        if (view.shape[rank - 1] != 1 && view.stride[static_cast<size_t>(rank - 1)] != 1) return false;
        form_.outStart = view.offset;
        form_.args.out.rowStep = static_cast<size_t>(row);
        const Shape batch = leading(view.shape);
        return setSteps(form_.args.out, view, batch, batch);
    }

    const std::span<const Command> commands_;
    const std::span<Tensor* const> inputs_;
    AttentionForm form_;
    Shape scores_;                   // the shape of the scores at present
    const Tensor* value_ = nullptr;  // the scores at present
};

}  // namespace

std::optional<OperandView> viewThroughRaster(const Command& raster) {
    if (raster.type != OpType::Raster || raster.inputs.size() != 1) return {};
    const std::optional<RegionSeries> series = RegionSeries::of(raster.regions);
    const Tensor& made = *raster.outputs[0];
    return series ? series->through(OperandView::of(made.shape), made.elements()) : std::nullopt;
}

std::optional<AttentionForm> attentionForm(std::span<const Command> commands,
                                           std::span<Tensor* const> inputs) {
    return Reader(commands, inputs).read();
}

}  // namespace mnnc::cpu
