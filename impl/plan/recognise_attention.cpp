// The pass recognise-attention: the operators with which nets write softmax(scale q k^T + mask) v (Vaswani et al.,
// "Attention Is All You Need", arXiv 1706.03762, section 3.2.1) become one command, which never stores a matrix of all
// scores. The heads of queries, keys, values and results stay in place.
#include <algorithm>
#include <climits>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "ops/attention_layout.h"
#include "ops/matmul.h"
#include "plan/attention_scores.h"
#include "plan/elementwise_chains.h"
#include "plan/fused_command.h"
#include "plan/head_matrices.h"
#include "plan/passes.h"

namespace mnnc {
namespace {

using Id = CommandGraph::Id;

// Limit on the heads of all batches, whose places are compared one by one.
constexpr int64_t kMaxHeads = 1 << 16;
// Backends compute a score in one sum. Long sums over channels with few keys (attention between channels) are faster as
// blocked products, and have few scores.
constexpr int kLongSum = 512;

bool isProduct(const Command& command) {
    return (command.type == OpType::MatMul || command.type == OpType::BatchMatMul) && command.inputs.size() == 2;
}

struct FoundAttention {
    std::vector<Id> members;  // in execution order
    Command command;          // replaces them
};

// Walks from the product of queries and keys to the result: factors, sums with masks and Selects, each of which reads
// the result of the one before, Softmax over the keys, and the product with the values. Scores and the result may be
// transposed, with keys in rows. Rasters through which the operands can be read or the result written become members
// too, and so do factors of queries and keys. The result is empty where the net computes something else, or strides
// cannot describe an operand.
class Reader {
  public:
    // `mayTake`: whether a command may become a member.
    Reader(const CommandGraph& graph, const std::function<bool(Id)>& mayTake)
        : graph_(graph), mayTake_(mayTake), scores_(graph, mayTake, members_) {}

    std::optional<FoundAttention> read(Id product) {
        if (!isPart(product) || !isProduct(command(product))) return {};
        std::vector<Id> between;
        const Id softmax = softmaxBehind(product, between);
        if (softmax == CommandGraph::kNone || !readProduct(product, command(softmax))) return {};
        members_.push_back(product);
        for (const Id id : between)
            if (!scores_.take(id)) return {};
        members_.push_back(softmax);
        form_->scale = scores_.pending();
        if (!readValues(softmax) || !std::isfinite(form_->scale)) return {};
        return finish();
    }

  private:
    const Command& command(Id id) const { return graph_.command(id); }

    bool isPart(Id id) const {
        return id != CommandGraph::kNone && mayTake_(id) && command(id).outputs[0]->type == DataType::Float32;
    }

    // Returns the next Softmax that the results of a product reach; adds the commands before it to `between`.
    Id softmaxBehind(Id product, std::vector<Id>& between) const {
        for (Id id = graph_.onlyConsumer(product); isPart(id); id = graph_.onlyConsumer(id)) {
            const OpType type = command(id).type;
            if (type == OpType::Softmax) return id;
            if (type != OpType::BinaryOp && type != OpType::Select && type != OpType::Raster) break;
            between.push_back(id);
        }
        return CommandGraph::kNone;
    }

    static OperandView viewOf(const Command& command, size_t operand) {
        return command.views.empty() ? OperandView::of(command.inputs[operand]->shape) : command.views[operand];
    }

    // Follows an operand of a product through the Rasters before it and, with `factor`, through factors.
    HeadMatrices follow(HeadMatrices operand, Id consumer, float* factor) {
        for (Id id = graph_.exclusiveProducer(operand.tensor, consumer); isPart(id);
             id = graph_.exclusiveProducer(operand.tensor, consumer)) {
            const Command& producer = command(id);
            if (producer.type == OpType::Raster && producer.inputs.size() == 1 &&
                producer.inputs[0]->type == DataType::Float32) {
                std::optional<HeadMatrices> source = operand.readThrough(producer);
                if (!source) break;
                operand = *std::move(source);
            } else if (factor && producer.type == OpType::BinaryOp) {
                const size_t value = isKnownNumber(*producer.inputs[0]) ? 1 : 0;
                Operand* source = producer.inputs[value];
                const std::optional<float> by = knownFactor(producer, source);
                if (!by || source->elements() != operand.tensor->elements()) break;
                *factor *= *by;
                operand.tensor = source;
            } else {
                break;
            }
            members_.push_back(id);
            consumer = id;
        }
        return operand;
    }

    // Reads the operands of a product as matrices; returns false where there are none, or too many.
    bool operandsOf(const Command& product, HeadMatrices& a, HeadMatrices& b, Shape& batch) const {
        const OperandView left = viewOf(product, 0), right = viewOf(product, 1);
        if (left.shape.rank() < 2 || right.shape.rank() < 2) return false;
        const MatMulSizes sizes =
            matMulSizes(product.paramsAs<MatMulParams>(), left.shape, right.shape, product.name.c_str());
        batch = sizes.batch;
        const int64_t count = batch.elements();
        if (count == 0 || count > kMaxHeads || std::max({sizes.e, sizes.l, sizes.h}) > INT_MAX ||
            std::min({sizes.e, sizes.l, sizes.h}) == 0)
            return false;
        a = HeadMatrices::of(product.inputs[0], left, sizes.batchA, batch);
        b = HeadMatrices::of(product.inputs[1], right, sizes.batchB, batch);
        if (sizes.transposeA) a = a.transposed();
        if (sizes.transposeB) b = b.transposed();
        return true;
    }

    bool readProduct(Id id, const Command& softmax) {
        const Command& product = command(id);
        HeadMatrices left, right;
        Shape batch;
        if (!operandsOf(product, left, right, batch)) return false;
        if (!scores_.begin(product.outputs[0], left.rows, right.columns, softmax)) return false;
        right = right.transposed();
        HeadMatrices &q = scores_.keysAreRows() ? right : left, &k = scores_.keysAreRows() ? left : right;
        float factor = 1;
        q = follow(std::move(q), id, &factor);
        k = follow(std::move(k), id, &factor);
        scores_.multiply(factor);
        form_->heads = static_cast<int>(batch.elements());
        form_->queries = static_cast<int>(q.rows);
        form_->keys = static_cast<int>(k.rows);
        form_->depth = static_cast<int>(q.columns);
        q_ = q.tensor;
        k_ = k.tensor;
        if (form_->depth > kLongSum && form_->depth > form_->keys) return false;
        return q.place(form_->q, form_->queriesTransposed) && k.place(form_->k, form_->keysTransposed);
    }

    bool readValues(Id softmax) {
        Id id = graph_.onlyConsumer(softmax);
        std::vector<Id> moves;  // Rasters between the Softmax and the product
        for (; isPart(id) && command(id).type == OpType::Raster; id = graph_.onlyConsumer(id)) moves.push_back(id);
        if (!isPart(id) || !isProduct(command(id))) return false;
        const Command& product = command(id);
        const Operand* made = command(moves.empty() ? softmax : moves.back()).outputs[0];
        const bool isLeft = product.inputs[0] == made;
        HeadMatrices left, right;
        Shape batch;
        if (product.inputs[isLeft ? 1 : 0] == made || !operandsOf(product, left, right, batch)) return false;
        // From here on the queries are in rows: weights [queries, keys], values [keys, depth].
        HeadMatrices weights, values;
        if (isLeft) {
            weights = std::move(left);
            values = std::move(right);
        } else {
            weights = right.transposed();
            values = left.transposed();
        }
        for (size_t i = moves.size(); i > 0; --i) {
            std::optional<HeadMatrices> source = weights.readThrough(command(moves[i - 1]));
            if (!source) return false;
            weights = *std::move(source);
            members_.push_back(moves[i - 1]);
        }
        members_.push_back(id);
        const bool isWhole = scores_.keysAreRows() ? weights.transposed().fillTensor() : weights.fillTensor();
        if (!isWhole || weights.rows != form_->queries || weights.columns != form_->keys ||
            static_cast<int>(weights.starts.size()) != form_->heads)
            return false;
        values = follow(std::move(values), id, nullptr);
        form_->valueDepth = static_cast<int>(values.columns);
        v_ = values.tensor;
        if (!values.place(form_->v, form_->valuesTransposed)) return false;
        const OperandView result = OperandView::of(product.outputs[0]->shape);
        HeadMatrices out = HeadMatrices::of(product.outputs[0], result, batch, batch);
        return placeResult(isLeft ? out : out.transposed(), id);
    }

    // Writes the result directly to the place where the Rasters after the product move it.
    bool placeResult(HeadMatrices out, Id product) {
        for (Id id = graph_.onlyConsumer(product); isPart(id); id = graph_.onlyConsumer(id)) {
            const std::optional<HeadMatrices> moved = out.writtenThrough(command(id));
            AttentionOperand placed;
            bool isTransposed = false;
            if (!moved || !moved->place(placed, isTransposed)) break;
            out = *moved;
            members_.push_back(id);
        }
        return out.place(form_->out, form_->outTransposed);
    }

    std::optional<FoundAttention> finish() {
        std::sort(members_.begin(), members_.end(), [&](Id a, Id b) { return graph_.runsBefore(a, b); });
        form_->steps = std::move(scores_.steps());
        form_->share = sharedHeads(*form_);
        const Command& last = command(members_.back());
        FoundAttention found;
        found.command.type = OpType::Attention;
        found.command.name = last.name;
        found.command.node = last.node;
        found.command.inputs = {q_, k_, v_};
        for (Operand* operand : scores_.operands()) found.command.inputs.push_back(operand);
        found.command.outputs = last.outputs;
        found.command.params = std::move(form_);
        // The inputs must not be overwritten before the last member runs.
        for (const Operand* input : found.command.inputs)
            if (graph_.producerCount(input) > 1) return {};
        found.members = std::move(members_);
        return found;
    }

    // Returns the number of neighbouring heads that have the same keys and values throughout.
    static int sharedHeads(const AttentionLayout& args) {
        const auto isSame = [&](size_t a, size_t b) {
            return args.k.heads[a] == args.k.heads[b] && args.v.heads[a] == args.v.heads[b];
        };
        const auto heads = static_cast<size_t>(args.heads);
        size_t share = 1;
        while (share < heads && isSame(0, share)) ++share;
        if (heads % share != 0) return 1;
        for (size_t head = 0; head < heads; ++head)
            if (!isSame(head, head / share * share)) return 1;
        return static_cast<int>(share);
    }

    const CommandGraph& graph_;
    const std::function<bool(Id)>& mayTake_;
    std::vector<Id> members_;
    std::shared_ptr<AttentionForm> form_ = std::make_shared<AttentionForm>();
    Operand *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;
    ScoreReader scores_;
};

}  // namespace

void recogniseAttention(CommandGraph& graph, const PlanContext& context) {
    std::unordered_set<Id> taken;
    // Decides by the command alone, not by its place in the graph.
    const std::function<bool(Id)> mayTake = [&](Id id) {
        if (graph.isControl(id) || taken.contains(id)) return false;
        const Command& command = graph.command(id);
        return command.outputs.size() == 1 && !command.epilogue.any();
    };
    for (const Id id : graph.ids()) {
        if (!graph.contains(id)) continue;
        std::optional<FoundAttention> found = Reader(graph, mayTake).read(id);
        std::string reason;
        if (!found || !context.backend.supports(found->command, reason)) continue;
        taken.insert(found->members.begin(), found->members.end());
        replaceMembers(graph, found->members, std::move(found->command));
    }
}

}  // namespace mnnc
