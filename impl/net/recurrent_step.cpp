// Matches the formulas of an LSTM and a GRU with the operators of a loop's body.
#include "net/recurrent_step.h"

#include <algorithm>

#include "mnn_generated.h"
#include "model/weight_form.h"
#include "ops/binary.h"
#include "ops/convolution.h"
#include "ops/unary.h"

namespace mnnc {

const Node* plainProduct(const RewriteNodes& nodes, int id) {
    const Node* node = nodes.ofType(nodes.producer(id), OpType::Convolution);
    const auto* p = node && node->inputs.size() == 1 ? node->paramsIf<ConvParams>() : nullptr;
    if (!p || !p->table || p->kernelX != 1 || p->kernelY != 1 || p->strideX != 1 || p->strideY != 1 ||
        p->padMode != ConvPad::Explicit || p->padX != 0 || p->padY != 0 || !p->pads.empty() || p->group != 1 ||
        p->inputCount < 1 || p->outputCount < 1 || p->epilogue.any())
        return nullptr;
    const WeightForm form = convWeightForm(*p->table, node->name.c_str());
    return form == WeightForm::Plain || form == WeightForm::Half ? node : nullptr;
}

int reshapedFrom(const RewriteNodes& nodes, int id, const List& extents) {
    const size_t i = nodes.producer(id);
    const Node* node = nodes.ofType(i, OpType::Reshape);
    const wire::Reshape* table = node && node->inputs.size() == 1 ? nodes.op(i).main_as_Reshape() : nullptr;
    if (!table || !table->dims() || table->dimType() != wire::MNN_DATA_FORMAT::NCHW ||
        !std::equal(table->dims()->begin(), table->dims()->end(), extents.begin(), extents.end()))
        return -1;
    return node->inputs[0];
}

int LoopBody::inputAt(int id) const {
    const auto found = std::find(graph_.inputs.begin(), graph_.inputs.end(), id);
    return found == graph_.inputs.end() ? -1 : static_cast<int>(found - graph_.inputs.begin());
}

int LoopBody::behindIdentity(int id) const {
    const Node* node = nodes.ofType(nodes.producer(id), OpType::Identity);
    return node && node->inputs.size() == 1 ? node->inputs[0] : id;
}

namespace {

// Finds the formulas of a body by its tensors.
class Formulas {
  public:
    explicit Formulas(const LoopBody& body) : body_(body), nodes_(body.nodes) {}
    std::optional<RecurrentStep> lstm(int result) const;
    std::optional<RecurrentStep> gru(int result) const;

  private:
    // Returns the input of the unary operator with this code that produces `id`, or -1.
    int unary(int id, int code) const {
        const Node* node = nodes_.ofType(nodes_.producer(id), OpType::UnaryOp);
        const auto* p = node ? node->paramsIf<UnaryParams>() : nullptr;
        return p && p->code == code ? node->inputs[0] : -1;
    }
    // Returns the producer of a tensor when it is a plain binary operator with this code, or null.
    const Node* binary(int id, int code) const {
        const Node* node = nodes_.ofType(nodes_.producer(id), OpType::BinaryOp);
        const auto* p = node && node->inputs.size() == 2 ? node->paramsIf<BinaryParams>() : nullptr;
        return p && p->code == code && !p->relu && !p->mean ? node : nullptr;
    }
    // Calls `match` with both operands in either order until it returns true.
    template <typename Match>
    bool commuted(int id, int code, const Match& match) const {
        const Node* node = binary(id, code);
        return node && (match(node->inputs[0], node->inputs[1]) || match(node->inputs[1], node->inputs[0]));
    }
    // Returns the tensor that a Slice cuts into `parts` equal parts along axis 1, of which `id` is number `part`, or
    // -1.
    int partOf(int id, size_t part, size_t parts) const {
        const size_t i = nodes_.producer(id);
        const Node* node = nodes_.ofType(i, OpType::Slice);
        const wire::Slice* table = node && node->inputs.size() == 1 ? nodes_.op(i).main_as_Slice() : nullptr;
        if (!table || table->axis() != 1 || table->sourceType() != wire::NetSource::TENSORFLOW ||
            node->outputs.size() != parts || node->outputs[part] != id)
            return -1;
        const auto* points = table->slicePoints();
        const bool equal = points && points->size() == 1 && points->Get(0) == static_cast<int>(parts);
        return equal ? node->inputs[0] : -1;
    }
    // Returns the input of the Reshape that produces `id` without an input of extents, or -1.
    int reshapeOf(int id) const {
        const Node* node = nodes_.ofType(nodes_.producer(id), OpType::Reshape);
        return node && node->inputs.size() == 1 ? node->inputs[0] : -1;
    }
    bool readProduct(int id, int64_t gates, RecurrentStep& step) const;

    const LoopBody& body_;
    const RewriteNodes& nodes_;
};

// Reads the product of the state, an input of the body; returns false where `id` is not this product.
bool Formulas::readProduct(int id, int64_t gates, RecurrentStep& step) const {
    const Node* product = plainProduct(nodes_, id);
    const auto* p = product ? product->paramsIf<ConvParams>() : nullptr;
    if (!p || p->outputCount != gates * p->inputCount) return false;
    step.product = product;
    step.hidden = p->inputCount;
    step.state = body_.inputAt(reshapedFrom(nodes_, product->inputs[0], {-1, step.hidden, 1, 1}));
    return step.state > 1;
}

// Matches h = o tanh(c) and c = i tanh(g) + f c0, where the gates i, o, f, g are parts of the sum of the rows and the
// product (https://onnx.ai/onnx/operators/onnx__LSTM.html).
std::optional<RecurrentStep> Formulas::lstm(int result) const {
    RecurrentStep step;
    const auto gate = [&](int id, size_t part) { return partOf(unary(id, kUnarySigmoid), part, 4); };
    int sums = -1, next = -1, cell = -1;
    const int hidden = reshapeOf(result);
    const bool gated = commuted(hidden, kBinaryMul, [&](int a, int b) {
        next = unary(a, kUnaryTanh);
        sums = gate(b, 1);
        return next >= 0 && sums >= 0;
    });
    const bool summed = gated && commuted(sums, kBinaryAdd, [&](int a, int b) {
                            step.rows = a;
                            return readProduct(b, 4, step);
                        });
    const bool mixed = summed && commuted(next, kBinaryAdd, [&](int a, int b) {
                           const bool candidate = commuted(a, kBinaryMul, [&](int i, int g) {
                               return gate(i, 0) == sums && partOf(unary(g, kUnaryTanh), 3, 4) == sums;
                           });
                           return candidate && commuted(b, kBinaryMul, [&](int f, int c) {
                                      cell = c;
                                      return gate(f, 2) == sums;
                                  });
                       });
    if (!mixed || reshapedFrom(nodes_, result, {1, -1, step.hidden}) != hidden) return {};
    step.cell = body_.inputAt(reshapedFrom(nodes_, cell, {-1, step.hidden, 1, 1}));
    if (step.cell <= 1 || step.cell == step.state || step.cell > body_.outputs() ||
        reshapedFrom(nodes_, body_.output(step.cell - 1), {1, -1, step.hidden}) != next)
        return {};
    return step;
}

// Matches h = n - z (n - h0) and n = tanh(x + r p), where x is a part of the rows and p of the product, and the gates z
// and r come from sums of a part of each (https://onnx.ai/onnx/operators/onnx__GRU.html, with linear_before_reset).
std::optional<RecurrentStep> Formulas::gru(int result) const {
    RecurrentStep step;
    step.type = OpType::RNNSequenceGRU;
    int product = -1;
    const auto part = [&](int id, size_t of) { return partOf(id, of, 3) == step.rows && step.rows >= 0; };
    const auto own = [&](int id, size_t of) { return partOf(id, of, 3) == product && product >= 0; };
    const auto gate = [&](int id, size_t of) {
        return commuted(unary(id, kUnarySigmoid), kBinaryAdd, [&](int a, int b) { return part(a, of) && own(b, of); });
    };
    const Node* mixed = binary(result, kBinarySub);
    if (!mixed) return {};
    const int candidate = mixed->inputs[0];
    const bool summed = commuted(unary(candidate, kUnaryTanh), kBinaryAdd, [&](int x, int gated) {
        step.rows = partOf(x, 2, 3);
        return commuted(gated, kBinaryMul, [&](int r, int p) {
            product = partOf(p, 2, 3);
            return readProduct(product, 3, step) && gate(r, 1);
        });
    });
    const bool kept =
        summed && commuted(mixed->inputs[1], kBinaryMul, [&](int z, int difference) {
            const Node* sub = binary(difference, kBinarySub);
            return sub && sub->inputs[0] == candidate && body_.inputAt(sub->inputs[1]) == step.state && gate(z, 0);
        });
    return kept ? std::optional(step) : std::nullopt;
}

}  // namespace

std::optional<RecurrentStep> recurrentStep(const LoopBody& body, int result) {
    const Formulas formulas(body);
    std::optional<RecurrentStep> step = formulas.lstm(result);
    if (!step) step = formulas.gru(result);
    if (!step || body.behindIdentity(body.output(step->state - 1)) != result) return {};
    return step;
}

}  // namespace mnnc
