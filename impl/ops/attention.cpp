// Attention: softmax(scale q k^T + mask) v (Vaswani et al., "Attention Is All You Need", arXiv 1706.03762), with or
// without keys and values that are kept from run to run. Without them a mask is either a tensor that the net added to
// the scores, or the int32 condition under which it kept them; without a mask every query sees all keys.
#include "ops/attention.h"

#include <climits>
#include <cmath>
#include <utility>

#include "base/checked.h"
#include "model/model.h"
#include "model/wire_access.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

AttentionSizes attentionSizes(const Shape& query, const Shape& key, const Shape& value, const char* what) {
    if (query.rank() != 4 || key.rank() != 4 || value.rank() != 4)
        fail(Status::ComputeSizeError,
             "op '%s': Attention needs queries, keys and values of rank 4, they are %s, %s and %s", what,
             query.text().c_str(), key.text().c_str(), value.text().c_str());
    const AttentionSizes sizes{query[0], query[1], key[1], query[2], key[2], query[3], value[3]};
    const bool heads = sizes.keyHeads == 0 ? sizes.heads == 0 : sizes.heads % sizes.keyHeads == 0;
    if (key[0] != sizes.batch || key[3] != sizes.depth || value[0] != sizes.batch || value[1] != sizes.keys ||
        value[2] != sizes.keyHeads || !heads)
        fail(Status::ComputeSizeError, "op '%s': queries %s, keys %s and values %s do not fit together", what,
             query.text().c_str(), key.text().c_str(), value.text().c_str());
    return sizes;
}

namespace {

// Returns place(batch, head) for all heads.
template <typename Place>
std::vector<size_t> placesOf(const AttentionSizes& sizes, const Place& place) {
    std::vector<size_t> places;
    for (int64_t batch = 0; batch < sizes.batch; ++batch)
        for (int64_t head = 0; head < sizes.heads; ++head) places.push_back(static_cast<size_t>(place(batch, head)));
    return places;
}

// Returns an operand with `heads` of the heads; it lies in memory as [batch][row][head][depth].
AttentionOperand operandOf(const AttentionSizes& sizes, int64_t rows, int64_t heads, int64_t depth) {
    AttentionOperand operand;
    operand.rowStep = static_cast<size_t>(heads * depth);
    operand.heads = placesOf(sizes, [&](int64_t batch, int64_t head) {
        return (batch * rows * heads + head / (sizes.heads / heads)) * depth;
    });
    return operand;
}

// The mask is broadcast to the scores [batch][head][query][key].
AttentionStep maskStep(const AttentionSizes& sizes, const Tensor& mask) {
    const auto stepOf = [&](int axis) -> int64_t {
        const int own = axis - (4 - mask.shape.rank());
        return own < 0 || mask.shape[own] == 1 ? 0 : mask.shape.elements(own + 1, mask.shape.rank());
    };
    AttentionStep step;
    step.kind = mask.type == DataType::Int32 ? AttentionStep::Kind::Keep : AttentionStep::Kind::Add;
    step.operand.rowStep = static_cast<size_t>(stepOf(2));
    step.columnStep = static_cast<size_t>(stepOf(3));
    step.operand.heads =
        placesOf(sizes, [&](int64_t batch, int64_t head) { return stepOf(0) * batch + stepOf(1) * head; });
    return step;
}

int intExtent(int64_t value, const char* what) {
    if (value > INT_MAX) fail(Status::Overflow, "op '%s': an extent of %lld exceeds 2^31 - 1", what, asLong(value));
    return static_cast<int>(value);
}

float scaleOf(const AttentionParams& params, const AttentionSizes& sizes) {
    if (params.scale != 0 || sizes.depth == 0) return params.scale;
    return static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.depth)));
}

}  // namespace

std::shared_ptr<const AttentionForm> attentionForm(const AttentionParams& params, const AttentionSizes& sizes,
                                                   const Tensor* mask, const Tensor* sinks, const char* what) {
    const auto form = std::make_shared<AttentionForm>();
    form->heads = intExtent(checkedMul(sizes.batch, sizes.heads, what), what);
    form->share = intExtent(sizes.heads / sizes.keyHeads, what);
    form->queries = intExtent(sizes.queries, what);
    form->keys = intExtent(sizes.keys, what);
    form->depth = intExtent(sizes.depth, what);
    form->valueDepth = intExtent(sizes.valueDepth, what);
    form->scale = scaleOf(params, sizes);
    form->q = operandOf(sizes, sizes.queries, sizes.heads, sizes.depth);
    form->k = operandOf(sizes, sizes.keys, sizes.keyHeads, sizes.depth);
    form->v = operandOf(sizes, sizes.keys, sizes.keyHeads, sizes.valueDepth);
    form->out = operandOf(sizes, sizes.queries, sizes.heads, sizes.valueDepth);
    if (mask) {
        form->steps.push_back(maskStep(sizes, *mask));
        form->steps[0].scale = std::exchange(form->scale, 1.0f);
    }
    form->hasSinks = sinks != nullptr;
    if (sinks) form->sinks.heads = placesOf(sizes, [](int64_t, int64_t head) { return head; });
    return form;
}

namespace {

ParamsPtr parseAttention(const wire::Op& op, const ParseContext& context) {
    const wire::AttentionParam* table = op.main_as_AttentionParam();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no AttentionParam table", name);
    if (!std::isfinite(table->attnScale())) fail(Status::BadParameter, "op '%s': attnScale is not finite", name);
    if (table->kv_shared_layer_index() >= 0 || (table->kv_shared_layer() && table->kv_shared_layer()->size() != 0))
        fail(Status::NotSupported, "it reads the keys and values of another operator (kv_shared_layer)");
    if (vectorSize(table->mhq_quant()) != 0) fail(Status::NotSupported, "its operands are quantised (mhq_quant)");
    auto params = std::make_shared<AttentionParams>();
    params->scale = table->attnScale() != 0 ? table->attnScale() : context.model.attentionScale();
    params->packedOutput = table->output_c4();
    params->kept = table->kv_cache();
    return params;
}

// Returns the sizes of attention over kept keys and values. The values may have the shape of a projection's result,
// [rows, keyHeads valueDepth, 1, 1].
AttentionSizes keptSizes(const ShapeContext& context) {
    const Shape &query = context.in(0).shape, &key = context.in(1).shape;
    Shape value = context.in(2).shape;
    const bool isProjection = value.rank() == 4 && value[2] == 1 && value[3] == 1 && key.rank() == 4 &&
                              value[0] == key[1] && !(value[1] == key[1] && value[0] == 1);
    if (isProjection) {
        if (key[2] == 0 || value[1] % key[2] != 0)
            fail(Status::ComputeSizeError, "op '%s': values %s cannot be cut into %lld heads", context.name(),
                 value.text().c_str(), asLong(key[2]));
        value = Shape{1, value[0], key[2], value[1] / key[2]};
    }
    const AttentionSizes sizes = attentionSizes(query, key, value, context.name());
    if (sizes.batch != 1)
        fail(Status::NotSupported, "op '%s': a batch of %lld with kept keys and values is not supported",
             context.name(), asLong(sizes.batch));
    if (sizes.queries != sizes.keys)
        fail(Status::ComputeSizeError, "op '%s' has %lld queries and %lld new keys, equal numbers are needed",
             context.name(), asLong(sizes.queries), asLong(sizes.keys));
    return sizes;
}

// Requires a scalar, or a row for each query with an element for each key. Only a run knows the number of keys, which
// includes past ones.
void checkKeptMask(const ShapeContext& context, const AttentionSizes& sizes) {
    const Tensor& mask = context.in(3);
    const int rank = mask.shape.rank();
    if (rank == 0) return;
    if (mask.type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': a mask of %s with kept keys and values is not supported", context.name(),
             dataTypeName(mask.type));
    bool fits = rank >= 2 && mask.shape[rank - 2] == sizes.queries && mask.shape[rank - 1] >= sizes.keys;
    for (int i = 0; fits && i < rank - 2; ++i) fits = mask.shape[i] == 1;
    if (!fits)
        fail(Status::ComputeSizeError,
             "op '%s' has a mask of %s, a scalar is needed, or for each of %lld queries a row with at least as many "
             "keys",
             context.name(), mask.shape.text().c_str(), asLong(sizes.queries));
}

bool keepsKeys(const Params& params) {
    const auto* attention = paramsIf<AttentionParams>(&params);
    return attention && attention->kept;
}

// The mask is broadcast as by the operator that it replaces (Add or Where of ONNX).
void checkMask(const ShapeContext& context, const AttentionSizes& sizes) {
    const Tensor& mask = context.in(3);
    if (mask.type != DataType::Float32 && mask.type != DataType::Int32)
        fail(Status::NotSupported, "op '%s': a mask of %s is not supported", context.name(), dataTypeName(mask.type));
    const int rank = mask.shape.rank();
    if (rank == 0)
        fail(Status::NotSupported,
             "op '%s': a scalar mask, which stands for the causal order of a cache, is not supported", context.name());
    const Shape scores{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
    bool fits = rank <= 4;
    for (int i = 0; fits && i < rank; ++i) fits = mask.shape[i] == 1 || mask.shape[i] == scores[4 - rank + i];
    if (!fits)
        fail(Status::ComputeSizeError, "op '%s': a mask of %s does not fit scores of %s", context.name(),
             mask.shape.text().c_str(), scores.text().c_str());
}

void shapeAttention(const ShapeContext& context) {
    if (context.inputCount() > 5 || context.outputs.size() != 1)
        fail(Status::NotSupported,
             "op '%s': Attention with %d inputs and %zu outputs is not supported; queries, keys, values, a mask and "
             "sinks are possible",
             context.name(), context.inputCount(), context.outputs.size());
    for (int i = 0; i < context.inputCount(); ++i)
        if (i != 3 && context.in(i).type != DataType::Float32)
            fail(Status::ComputeSizeError, "op '%s': input %d is %s; it must be float32", context.name(), i,
                 dataTypeName(context.in(i).type));
    const bool kept = context.node.paramsAs<AttentionParams>().kept;
    if (kept && context.inputCount() != 4)
        fail(Status::NotSupported,
             "op '%s': Attention with kept keys and values and %d inputs is not supported; queries, keys, values and a "
             "mask are needed",
             context.name(), context.inputCount());
    const AttentionSizes sizes =
        kept ? keptSizes(context)
             : attentionSizes(context.in(0).shape, context.in(1).shape, context.in(2).shape, context.name());
    if (kept)
        checkKeptMask(context, sizes);
    else if (context.inputCount() > 3)
        checkMask(context, sizes);
    if (context.inputCount() > 4 && context.in(4).elements() != sizes.heads)
        fail(Status::ComputeSizeError, "op '%s' has sinks of %s, one for each of %lld heads is needed", context.name(),
             context.in(4).shape.text().c_str(), asLong(sizes.heads));
    const int64_t channels = checkedMul(sizes.heads, sizes.valueDepth, context.name());
    if (context.node.paramsAs<AttentionParams>().packedOutput)
        context.set(0, Shape{checkedMul(sizes.batch, sizes.queries, context.name()), channels, 1, 1}, DataType::Float32,
                    Format::NC4HW4);
    else
        context.set(0, Shape{sizes.batch, sizes.queries, channels});
    context.out(0).shape.elements();
}

void emitKept(const OpContext& context) {
    const auto& params = context.node.paramsAs<AttentionParams>();
    const AttentionSizes sizes = keptSizes(context);
    const char* name = context.name();
    auto form = std::make_shared<KeptAttentionForm>();
    form->tensor = context.out(0).number;
    form->rows = intExtent(sizes.queries, name);
    form->heads = intExtent(sizes.heads, name);
    form->keyHeads = intExtent(sizes.keyHeads, name);
    form->depth = intExtent(sizes.depth, name);
    form->valueDepth = intExtent(sizes.valueDepth, name);
    form->scale = scaleOf(params, sizes);
    form->masked = context.in(3).shape.rank() > 0;
    ValueCommand command = context.command();
    command.params = std::move(form);
    if (context.in(3).shape.rank() == 0) command.inputs.resize(3);
    context.geometry.emit(std::move(command));
}

void emitAttention(const OpContext& context) {
    if (context.node.paramsAs<AttentionParams>().kept) return emitKept(context);
    const Tensor* mask = context.inputCount() > 3 ? &context.in(3) : nullptr;
    const Tensor* sinks = context.inputCount() > 4 ? &context.in(4) : nullptr;
    ValueCommand command = context.command();
    command.params =
        attentionForm(context.node.paramsAs<AttentionParams>(),
                      attentionSizes(context.in(0).shape, context.in(1).shape, context.in(2).shape, context.name()),
                      mask, sinks, context.name());
    context.geometry.emit(std::move(command));
}

// Counts past keys only where the mask has their number.
double attentionFlops(const ShapeContext& context) {
    const bool kept = context.node.paramsAs<AttentionParams>().kept;
    AttentionSizes sizes =
        kept ? keptSizes(context)
             : attentionSizes(context.in(0).shape, context.in(1).shape, context.in(2).shape, context.name());
    const Shape& mask = context.in(kept ? 3 : 0).shape;
    if (kept && mask.rank() > 0) sizes.keys = mask[mask.rank() - 1];
    return 2.0 * static_cast<double>(sizes.batch) * static_cast<double>(sizes.heads) *
           static_cast<double>(sizes.queries) * static_cast<double>(sizes.keys) *
           static_cast<double>(sizes.depth + sizes.valueDepth);
}

}  // namespace

constexpr OpDef kAttentionOps[] = {
    {.type = OpType::Attention,
     .parse = parseAttention,
     .shape = shapeAttention,
     .geometry = emitAttention,
     .keeps = keepsKeys,
     .flops = attentionFlops},
};
extern constinit const OpFamily attentionOps = kAttentionOps;

}  // namespace mnnc
