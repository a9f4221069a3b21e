// The pattern RotaryEmbedding (Su et al., "RoFormer", arXiv 2104.09864): x cosines + Concat(-x[half:], x[:half]) sines,
// as exporters write the rotation of queries and keys by their position, is one pass over x.
#include <algorithm>
#include <array>
#include <optional>

#include "backends/cpu/fusions/patterns.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/sequence/rotary.h"
#include "backends/cpu/ops/split.h"
#include "ops/unary.h"
#include "plan/activation_forms.h"
#include "plan/fused_command.h"

namespace mnnc::cpu {
namespace {

using Id = CommandGraph::Id;

// The inputs of the fused command, by their index, and the half of x that is negated.
struct RotaryForm {
    size_t x = 0, cosines = 0, sines = 0;
    bool negatesUpper = true;
};

class Rotary final : public Execution {
  public:
    Rotary(const CpuBackend& backend, const Command& command)
        : kernels_(rotaryKernels(backend.kernels().id)),
          form_(*std::static_pointer_cast<RotaryForm>(command.paramsAs<FusedParams>().prepared)),
          x_(*command.inputs[form_.x]),
          factors_{command.inputs[form_.cosines], command.inputs[form_.sines]},
          output_(*command.outputs[0]) {}

    // Rows are numbered without the last axis. The innermost axes along which both factors are broadcast are one group.
    void prepare() override {
        const Shape& shape = output_.shape;
        const int last = shape.rank() - 1;
        length_ = shape[last];
        rowsOfGroup_ = 1;
        groups_ = 1;
        axes_ = 0;
        std::array<int64_t, 2> step = {length_, length_};
        for (int axis = last - 1; axis >= 0; --axis) {
            Axis next{shape[axis], {}};
            for (size_t i = 0; i < 2; ++i) {
                const Shape& own = factors_[i]->shape;
                const int at = axis - (shape.rank() - own.rank());
                if (at < 0 || own[at] == 1) continue;
                next.step[i] = step[i];
                step[i] *= own[at];
            }
            if (axes_ == 0 && next.step == std::array<int64_t, 2>{}) {
                rowsOfGroup_ *= next.size;
            } else {
                axis_[static_cast<size_t>(axes_++)] = next;
                groups_ *= next.size;
            }
        }
    }

    void run(const Frame& frame) const override {
        const int64_t floats = rowsOfGroup_ * length_;
        const auto* x = frame.data<const float>(x_);
        auto* y = frame.data<float>(output_);
        forRows(frame.pool(), groups_, floats, [&](int64_t begin, int64_t end) {
            for (int64_t group = begin; group < end; ++group)
                kernels_.rotate({x + group * floats, factor(frame, 0, group), factor(frame, 1, group),
                                 y + group * floats, static_cast<size_t>(length_ / 2),
                                 static_cast<size_t>(rowsOfGroup_), form_.negatesUpper});
        });
    }

    // A pair is read before it is written.
    uint32_t inPlaceInputs(size_t) const override { return form_.x < 32 ? 1u << form_.x : 0; }

  private:
    struct Axis {
        int64_t size = 1;
        std::array<int64_t, 2> step = {};  // of the factors; 0 where they are broadcast
    };

    // Returns the row of a factor for a group of rows.
    const float* factor(const Frame& frame, size_t i, int64_t group) const {
        const auto* row = frame.data<const float>(*factors_[i]);
        for (int axis = 0; axis < axes_; ++axis) {
            const Axis& a = axis_[static_cast<size_t>(axis)];
            row += group % a.size * a.step[i];
            group /= a.size;
        }
        return row;
    }

    const RotaryKernels& kernels_;
    const RotaryForm form_;
    const Operand& x_;
    const std::array<const Operand*, 2> factors_;
    const Operand& output_;
    int64_t length_ = 0, rowsOfGroup_ = 1, groups_ = 1;
    std::array<Axis, kMaxRank> axis_;  // outside of a group, innermost first
    int axes_ = 0;
};

// Rows in a tensor: the offset of the first one, and the step to the next one.
struct RowPlaces {
    int64_t offset, step;
};

// Returns whether a region copies rows of `length` elements, one after another.
bool copiesRows(const Region& region, int64_t rows, int64_t length, const RowPlaces& from, const RowPlaces& to) {
    if (region.src.offset != from.offset || region.dst.offset != to.offset) return false;
    int64_t done = 1;
    for (int axis = 2; axis >= 0; --axis) {
        const int64_t size = region.size[axis];
        if (size == 1) continue;
        const bool isInRow = done < length;
        if (isInRow && length % (done * size) != 0) return false;
        if (region.src.stride[axis] != (isInRow ? done : done / length * from.step) ||
            region.dst.stride[axis] != (isInRow ? done : done / length * to.step))
            return false;
        done *= size;
    }
    return done == rows * length;
}

// Walks back from a sum over both products to x.
class RotaryReader {
  public:
    explicit RotaryReader(const CommandGraph& graph) : graph_(graph) {}

    std::optional<FusionMatch> read(Id sum) {
        if (!isBinary(sum, kBinaryAdd)) return {};
        const std::vector<Operand*>& terms = command(sum).inputs;
        for (const size_t plain : {0, 1}) {
            const Id product = graph_.exclusiveProducer(terms[plain], sum),
                     turned = graph_.exclusiveProducer(terms[1 - plain], sum);
            if (!isBinary(product, kBinaryMul) || !isBinary(turned, kBinaryMul)) continue;
            for (const size_t side : {0, 1}) {
                members_ = {sum, product, turned};
                if (readTurned(turned, side) && readPlain(product)) return found();
            }
        }
        return {};
    }

  private:
    const Command& command(Id id) const { return graph_.command(id); }

    // Returns whether a command makes one float tensor of float tensors, and does nothing else.
    bool isPlain(Id id, OpType type) const {
        if (id == CommandGraph::kNone || graph_.isControl(id)) return false;
        const Command& c = command(id);
        return c.type == type && c.outputs.size() == 1 && c.outputs[0]->type == DataType::Float32 &&
               !c.epilogue.any() && c.views.empty() &&
               std::all_of(c.inputs.begin(), c.inputs.end(),
                           [](const Operand* input) { return input->type == DataType::Float32; });
    }
    bool isBinary(Id id, int code) const {
        if (!isPlain(id, OpType::BinaryOp)) return false;
        const BinaryParams* params = floatBinary(command(id));
        return params && params->code == code && !params->relu;
    }

    // Reads the product of the exchanged halves, which are its input `side`, and the sines.
    bool readTurned(Id product, size_t side) {
        const Operand* halves = command(product).inputs[side];
        sines_ = command(product).inputs[1 - side];
        const Id join = graph_.exclusiveProducer(halves, product);
        if (!isPlain(join, OpType::Raster) || command(join).regions.size() != 2 || halves->shape.rank() < 1 ||
            halves->empty())
            return false;
        members_.push_back(join);
        length_ = halves->shape[halves->shape.rank() - 1];
        rows_ = halves->elements() / length_;
        if (length_ % 2 != 0) return false;
        x_ = nullptr;
        return readHalf(join, 0) && readHalf(join, 1) && negated_[0] != negated_[1] && x_->shape == halves->shape &&
               graph_.producerCount(x_) <= 1 && isFactor(*sines_) && command(product).outputs[0]->shape == x_->shape;
    }

    // Reads the half that the Raster puts first (place 0) or second (1) in each row, which is the other half of x.
    bool readHalf(Id join, size_t place) {
        const int64_t half = length_ / 2, to = place == 0 ? 0 : half;
        const std::vector<Region>& regions = command(join).regions;
        const Region& region = regions[regions[0].dst.offset == to ? 0 : 1];
        if (!copiesRows(region, rows_, half, {0, half}, {to, length_})) return false;
        const Operand* tensor = command(join).inputs[static_cast<size_t>(region.input)];
        Id consumer = join;
        Id producer = graph_.exclusiveProducer(tensor, consumer);
        negated_[place] =
            isPlain(producer, OpType::UnaryOp) && command(producer).paramsAs<UnaryParams>().code == kUnaryNeg;
        if (negated_[place]) {
            members_.push_back(producer);
            tensor = command(producer).inputs[0];
            consumer = producer;
            producer = graph_.exclusiveProducer(tensor, consumer);
        }
        if (!isPlain(producer, OpType::Raster) || command(producer).inputs.size() != 1 ||
            command(producer).regions.size() != 1 || tensor->elements() != rows_ * half ||
            !copiesRows(command(producer).regions[0], rows_, half, {half - to, length_}, {0, half}))
            return false;
        members_.push_back(producer);
        Operand* const source = command(producer).inputs[0];
        if (x_ && x_ != source) return false;
        x_ = source;
        return true;
    }

    // Reads the product of x and the cosines.
    bool readPlain(Id product) {
        const std::vector<Operand*>& inputs = command(product).inputs;
        const size_t at = inputs[0] == x_ ? 0 : 1;
        cosines_ = inputs[1 - at];
        return inputs[at] == x_ && isFactor(*cosines_) && command(product).outputs[0]->shape == x_->shape;
    }

    // Returns whether a factor has a value for each element of a row, and is broadcast to the shape of x.
    bool isFactor(const Operand& tensor) const {
        const Shape& shape = x_->shape;
        const int lead = shape.rank() - tensor.shape.rank(), last = tensor.shape.rank() - 1;
        if (lead < 0 || last < 0 || tensor.shape[last] != length_ || graph_.producerCount(&tensor) > 1) return false;
        for (int axis = 0; axis < last; ++axis)
            if (tensor.shape[axis] != 1 && tensor.shape[axis] != shape[axis + lead]) return false;
        return true;
    }

    FusionMatch found() {
        std::sort(members_.begin(), members_.end(), [&](Id a, Id b) { return graph_.runsBefore(a, b); });
        const std::vector<Operand*> inputs = fusedInputs(graph_, members_);
        const auto indexOf = [&](const Operand* tensor) {
            return static_cast<size_t>(std::find(inputs.begin(), inputs.end(), tensor) - inputs.begin());
        };
        auto form = std::make_shared<RotaryForm>();
        *form = {indexOf(x_), indexOf(cosines_), indexOf(sines_), negated_[0]};
        return {std::move(members_), std::move(form)};
    }

    const CommandGraph& graph_;
    std::vector<Id> members_;
    Operand *x_ = nullptr, *cosines_ = nullptr, *sines_ = nullptr;
    int64_t length_ = 0, rows_ = 0;
    bool negated_[2] = {false, false};
};

std::vector<FusionMatch> matchRotaryEmbedding(const CommandGraph& graph, const Backend&) {
    std::vector<FusionMatch> matches;
    for (const Id id : graph.ids())
        if (std::optional<FusionMatch> match = RotaryReader(graph).read(id)) matches.push_back(*std::move(match));
    return matches;
}

// All tensors are row-major.
StorageChoice storageRotaryEmbedding(const Backend&, const Command&) {
    return {};
}

std::unique_ptr<Execution> createRotaryEmbedding(Backend& backend, const Command& command, std::string&) {
    return std::make_unique<Rotary>(cpuBackend(backend), command);
}

}  // namespace

constinit const FusionPattern kRotaryEmbedding = {"RotaryEmbedding", matchRotaryEmbedding, storageRotaryEmbedding,
                                                  createRotaryEmbedding};

}  // namespace mnnc::cpu
