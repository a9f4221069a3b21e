// Attention and related operators.
#include "attention.h"

#include <cmath>
#include <limits>

#include "../importer.h"
#include "base/error.h"
#include "loops.h"

namespace mnnc::onnx {

V splitHeads(Call& c, V x, int64_t heads) {
    if (x->rank() == 4) return x;
    if (heads < 1) fail(Status::BadFormat, "an input has rank 3, and the node gives no number of heads");
    return permute(c, reshape(c, x, {0, 0, heads, -1}), {0, 2, 1, 3});
}

V joinHeads(Call& c, V x) {
    return reshape(c, permute(c, x, {0, 2, 1, 3}), {0, 0, -1});
}

V repeatHeads(Call& c, V x, V q) {
    V heads = shapeOf(c, q, 1, 2), ones = c.b.ints({1, 1}), times = nullptr;
    if (q->fixed(1) && x->fixed(1)) {
        const int64_t all = q->extent(1), own = x->extent(1);
        if (own < 1 || all % own != 0)
            fail(Status::BadFormat, "%lld heads of queries cannot share %lld heads of keys", asLong(all), asLong(own));
        if (all == own) return x;
        times = c.b.ints({all / own});
    } else {
        times = binary(c, Binary::FLOORDIV, heads, shapeOf(c, x, 1, 2));
    }
    V wide = broadcastTo(c, unsqueeze(c, x, {2}), concat(c, {ones, times, ones}, 0));
    return reshapeTo(c, wide, concat(c, {shapeOf(c, x, 0, 1), heads, shapeOf(c, x, 2, 4)}, 0));
}

V depthScale(Call& c, V q) {
    if (q->fixed(3)) return c.b.real(1 / std::sqrt(static_cast<float>(q->extent(3))));
    return unary(c, Unary::RSQRT, castTo(c, extentOf(c, q, 3), Elem::Float));
}

V both(Call& c, V a, V b) {
    return a ? c.b.alias(binary(c, Binary::BITWISE_AND, a, b), Elem::Bool) : b;
}

V rotate(Call& c, V x, V cos, V sin, int64_t width, bool interleaved) {
    const int64_t half = width / 2;
    cos = unsqueeze(c, cos, {1});
    sin = unsqueeze(c, sin, {1});
    // With width 0 all elements rotate, whose number may be free.
    V turning = width == 0 ? x : sliceAxis(c, x, 3, 0, width);
    std::vector<V> parts;
    if (interleaved) {
        V pairs = reshape(c, turning, {0, 0, 0, width == 0 ? -1 : half, 2});
        for (const int64_t i : {0, 1}) parts.push_back(elementOf(c, pairs, 4, i));
    } else if (width == 0) {
        wire::SliceT table;
        table.axis = 3;
        table.sourceType = wire::NetSource::TORCH;
        parts = c.b.op(OpType::Slice, table, {turning}, 2);
    } else {
        parts = {sliceAxis(c, turning, 3, 0, half), sliceAxis(c, turning, 3, half, width)};
    }
    V a = parts[0], b = parts[1];
    V real = sub(c, mul(c, cos, a), mul(c, sin, b));
    V imaginary = add(c, mul(c, sin, a), mul(c, cos, b));
    V turned = nullptr;
    if (interleaved) {
        V pairs = concat(c, {unsqueeze(c, real, {4}), unsqueeze(c, imaginary, {4})}, 4);
        turned = reshape(c, pairs, {0, 0, 0, width == 0 ? -1 : width});
    } else {
        turned = concat(c, {real, imaginary}, 3);
    }
    if (width == 0 || (x->fixed(3) && x->extent(3) == width)) return turned;
    return concat(c, {turned, sliceAxis(c, x, 3, width, kToEnd)}, 3);
}

V attend(Call& c, V q, V k, V v, const Scores& scores) {
    V keys = repeatHeads(c, k, q), values = repeatHeads(c, v, q);
    V x = mul(c, matmul(c, q, keys, false, true), c.b.real(scores.scale));
    if (scores.cap != 0) x = mul(c, unary(c, Unary::TANH, mul(c, x, c.b.real(1 / scores.cap))), c.b.real(scores.cap));
    if (scores.bias) x = add(c, x, scores.bias);
    if (scores.allowed) x = select(c, scores.allowed, x, c.b.real(-std::numeric_limits<float>::infinity()));
    if (scores.sink) {
        V column = broadcastTo(c, scores.sink, concat(c, {shapeOf(c, x, 0, 3), c.b.ints({1})}, 0));
        x = concat(c, {column, x}, 3);
    }
    V shares = softmax(c, x, 3);
    if (scores.sink) shares = sliceAxis(c, shares, 3, 1, kToEnd);
    return matmul(c, shares, values);
}

namespace {

void emitAttention(Call& c) {
    const bool flat = c.in(0)->rank() == 3;
    V q = splitHeads(c, c.in(0), c.integer("q_num_heads", 0));
    V k = splitHeads(c, c.in(1), c.integer("kv_num_heads", 0));
    V v = splitHeads(c, c.in(2), c.integer("kv_num_heads", 0));
    V mask = c.maybe(3), past = c.maybe(4), valid = c.maybe(6);
    if (past) {
        k = concat(c, {past, k}, 2);
        v = concat(c, {c.in(5), v}, 2);
    }
    c.out(1, k);
    c.out(2, v);
    V keys = repeatHeads(c, k, q), values = repeatHeads(c, v, q);
    V scale = c.has("scale") ? c.b.real(c.real("scale", 1)) : depthScale(c, q);
    V scores = mul(c, matmul(c, q, keys, false, true), scale);
    const int64_t shown = c.integer("qk_matmul_output_mode", 0);
    const auto show = [&](int64_t mode) {
        if (c.wants(3) && shown == mode) c.out(3, scores);
    };
    show(0);
    const float cap = c.real("softcap", 0);
    if (cap != 0) scores = mul(c, unary(c, Unary::TANH, mul(c, scores, c.b.real(1 / cap))), c.b.real(cap));
    show(1);
    // ---- The keys that a query sees ----
    V allowed = nullptr, bias = nullptr;
    const bool causal = c.integer("is_causal", 0) != 0;
    const int64_t left = c.integer("left_window_size", -1), right = c.integer("right_window_size", -1);
    V columns = nullptr;
    if (causal || left >= 0 || right >= 0 || valid) columns = rangeTo(c, extentOf(c, keys, 2));
    V perBatch = valid ? unsqueeze(c, valid, {1, 2, 3}) : nullptr;  // [batch, 1, 1, 1]
    if (causal || left >= 0 || right >= 0) {
        V rows = unsqueeze(c, rangeTo(c, extentOf(c, q, 2)), {1});
        if (past)
            rows = add(c, rows, extentOf(c, past, 2));
        else if (valid)
            rows = add(c, rows, sub(c, perBatch, extentOf(c, q, 2)));
        if (causal) allowed = both(c, allowed, compare(c, Binary::LESS_EQUAL, columns, rows));
        if (right >= 0)
            allowed = both(c, allowed, compare(c, Binary::LESS_EQUAL, columns, add(c, rows, c.b.scalar(right))));
        if (left >= 0)
            allowed = both(c, allowed, compare(c, Binary::GREATER_EQUAL, add(c, columns, c.b.scalar(left)), rows));
    }
    if (valid) allowed = both(c, allowed, compare(c, Binary::LESS, columns, perBatch));
    const float nothing = -std::numeric_limits<float>::infinity();
    if (mask) {
        const bool isBool = mask->elem == Elem::Bool;
        if (mask->rank() == 0) fail(Status::BadFormat, "the mask is a number; it needs an axis of keys");
        const size_t last = mask->rank() - 1;
        // A shorter mask hides the keys beyond it.
        if (mask->dims[0][last] != keys->dims[0][2] || mask->dims[1][last] != keys->dims[1][2]) {
            V missing = sub(c, shapeOf(c, keys, 2, 3),
                            shapeOf(c, mask, static_cast<int64_t>(last), static_cast<int64_t>(last) + 1));
            if (missing->constant) {
                std::vector<int64_t> before(mask->rank(), 0), after(before);
                after[last] = missing->array().intAt(0);
                if (mask->dims[0][last] != 1)
                    mask = padWith(c, mask, before, after, isBool ? 0 : static_cast<double>(nothing));
            }
        }
        if (isBool)
            allowed = both(c, allowed, mask);
        else
            bias = mask;
    }
    if (bias) scores = add(c, scores, bias);
    if (allowed) scores = select(c, allowed, scores, c.b.real(nothing));
    show(2);
    V weights = softmax(c, scores, 3);
    if (allowed || bias) {
        // A query that sees no key gets zeros.
        V seen = compare(c, Binary::GREATER, scores, c.b.real(nothing));
        weights = select(c, seen, weights, c.b.real(0));
    }
    if (c.wants(3) && shown == 3) c.out(3, weights);
    V result = matmul(c, weights, values);
    c.out(0, flat ? joinHeads(c, result) : result);
}

// Applies a modifier of scores or probabilities, which is a body with one tensor.
V modified(Call& c, const char* name, V x) {
    const Attribute* found = c.attribute(name);
    if (!found || !found->graph) return x;
    const std::vector<V> results = c.importer.body(*found->graph, {x});
    if (results.size() != 1) fail(Status::BadFormat, "the body %s gives %zu values; 1 is needed", name, results.size());
    return results[0];
}

void emitFlexAttention(Call& c) {
    V q = c.in(0), k = c.in(1), v = c.in(2);
    V keys = repeatHeads(c, k, q), values = repeatHeads(c, v, q);
    V scale = c.has("scale") ? c.b.real(c.real("scale", 1)) : depthScale(c, q);
    V scores = mul(c, matmul(c, q, keys, false, true), scale);
    V weights = softmax(c, modified(c, "score_mod", scores), 3);
    c.out(castTo(c, matmul(c, modified(c, "prob_mod", weights), values), q->elem));
}

// depth: the size of a head, which splits an input of rank 3 where the node does not give the number of heads; 0: the
// node has to give it.
void rotary(Call& c, V cos, V sin, V places, int64_t depth) {
    const bool flat = c.in(0)->rank() == 3;
    const int64_t heads = c.integer("num_heads", 0);
    V x = flat && heads == 0 && depth > 0 ? permute(c, reshape(c, c.in(0), {0, 0, -1, depth}), {0, 2, 1, 3})
                                          : splitHeads(c, c.in(0), heads);
    int64_t width = c.integer("rotary_embedding_dim", 0);
    if (width == 0 && x->fixed(3)) width = x->extent(3);
    if (width < 0 || width % 2 != 0 || (x->fixed(3) && width > x->extent(3)))
        fail(Status::BadRange, "rotary_embedding_dim is %lld; it must be even and at most the size of a head",
             asLong(width));
    if (places) {
        cos = gatherAxis(c, cos, places, 0);
        sin = gatherAxis(c, sin, places, 0);
    }
    if (cos->rank() != 3) fail(Status::BadFormat, "the cosines of the tokens have rank %zu, 3 is needed", cos->rank());
    V result = rotate(c, x, cos, sin, width, c.integer("interleaved", 0) != 0);
    c.out(flat ? joinHeads(c, result) : result);
}

void emitRotary(Call& c) {
    rotary(c, c.in(1), c.in(2), c.maybe(3), 0);
}

void emitContribRotary(Call& c) {
    V places = c.in(1);
    if (places->rank() == 1) {
        // The position of the first token; the others follow it.
        const int64_t axis = c.in(0)->rank() == 3 ? 1 : 2;
        places = unsqueeze(c, add(c, rangeTo(c, extentOf(c, c.in(0), axis)), places), {0});
    }
    if (c.real("scale", 1) != 1) refuse("the attribute scale is not implemented");
    if (c.integer("is_packed_batching", 0) != 0) refuse("is_packed_batching is not implemented");
    // The tables have a number for each pair of elements of a head.
    V cos = c.in(2);
    rotary(c, cos, c.in(3), places,
           c.integer("rotary_embedding_dim", 0) == 0 && cos->rank() == 2 && cos->fixed(1) ? 2 * cos->extent(1) : 0);
}

void emitTensorScatter(Call& c) {
    V past = c.in(0), update = c.in(1), starts = c.maybe(2);
    const int64_t axis = axisOf(c.integer("axis", -2), past->rank());
    const auto rank = static_cast<int64_t>(past->rank());
    V places = rangeTo(c, extentOf(c, update, axis));
    places = unsqueeze(c, places, allAxes(static_cast<size_t>(rank - axis), 1));  // [length, 1...]
    if (starts) {
        places = add(c, places, unsqueeze(c, starts, allAxes(past->rank(), 1)));
        if (c.text("mode", "linear") == "circular") places = binary(c, Binary::MOD, places, extentOf(c, past, axis));
    }
    places = broadcastTo(c, places, shapeOf(c, update));
    wire::BinaryOpT table;
    table.opType = static_cast<Binary>(-1);
    c.out(c.b.op(OpType::ScatterElements, table, {past, places, update, c.b.scalar(axis)}));
}

void emitSwiGlu(Call& c) {
    c.out(mul(c, swish(c, c.in(0), c.real("alpha", 1)), c.in(1)));
}

// The steps of the recurrence, unrolled.
void emitLinearAttention(Call& c) {
    constexpr int64_t kMaxUnrolled = 256;
    const std::string rule = c.text("update_rule", "gated_delta");
    const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
    if (!gated && !delta && rule != "linear") fail(Status::BadFormat, "the update rule '%s' is unknown", rule.c_str());
    const int64_t heads = c.integer("q_num_heads", 0), kvHeads = c.integer("kv_num_heads", 0);
    V q = splitHeads(c, c.in(0), heads), k = splitHeads(c, c.in(1), kvHeads), v = splitHeads(c, c.in(2), kvHeads);
    const int64_t depth = q->extent(3), width = v->extent(3);
    if (kvHeads < 1 || heads % kvHeads != 0)
        fail(Status::BadFormat, "q_num_heads is %lld; it must be a multiple of kv_num_heads, %lld", asLong(heads),
             asLong(kvHeads));
    const float scale = c.real("scale", 0) != 0 ? c.real("scale", 0) : 1 / std::sqrt(static_cast<float>(depth));
    V decay = gated ? splitHeads(c, c.in(4), kvHeads) : nullptr;  // [batch, heads, steps, depth or 1]
    V beta = delta ? c.in(5) : nullptr;
    if (beta) beta = splitHeads(c, beta, beta->extent(2) == 1 ? 1 : kvHeads);
    V state = c.maybe(3);
    if (!state) {
        V shape = concat(c, {shapeOf(c, q, 0, 1), c.b.ints({kvHeads, depth, width})}, 0);
        state = c.b.op(OpType::Fill, {}, {shape, c.b.real(0)});
    }
    // at: selects the elements of a step, [batch, heads, 1, n]. Returns the state after the step.
    const auto step = [&](const std::function<V(V)>& at, V before) {
        const auto column = [&](V x) { return permute(c, x, {0, 1, 3, 2}); };
        V key = at(k), value = at(v), next = before;
        if (gated) next = mul(c, next, unary(c, Unary::EXP, column(at(decay))));
        if (delta) value = mul(c, sub(c, value, matmul(c, key, next)), at(beta));
        return add(c, next, mul(c, column(key), value));
    };
    V result = nullptr;
    if (q->fixed(2) && q->extent(2) <= kMaxUnrolled) {
        std::vector<V> outputs;
        for (int64_t t = 0; t < q->extent(2); ++t) {
            const std::function<V(V)> at = [&](V x) { return sliceAxis(c, x, 2, t, t + 1); };
            state = step(at, state);
            outputs.push_back(matmul(c, at(q), repeatHeads(c, state, q)));
        }
        result = concat(c, outputs, 2);
    } else {
        V always = c.b.constant(intScalar(1), Elem::Bool);
        const LoopResult loop =
            writeLoop(c, extentOf(c, q, 2), always, {state}, [&](V iteration, V, const std::vector<V>& before) {
                const std::function<V(V)> at = [&](V x) { return unsqueeze(c, gatherAxis(c, x, iteration, 2), {2}); };
                Round round;
                round.carried = {step(at, before[0])};
                V output = matmul(c, at(q), repeatHeads(c, round.carried[0], q));
                round.scanned = {squeeze(c, output, {2})};
                return round;
            });
        state = loop.finals[0];
        result = permute(c, loop.stacks[0], {1, 2, 0, 3});
    }
    result = mul(c, result, c.b.real(scale));
    c.out(0, joinHeads(c, result));
    c.out(1, state);
}

}  // namespace

constexpr Entry kAttentionEntries[] = {
    {"Attention", 23, kNewest, emitAttention, "MatMul, Softmax, BinaryOp, Select",
     "A mask that is shorter than the keys over free extents."},
    {"FlexAttention", 1, kNewest, emitFlexAttention, "MatMul, Softmax, BinaryOp and the bodies of its modifiers", "",
     "ai.onnx.preview"},
    {"LinearAttention", 27, kNewest, emitLinearAttention,
     "MatMul and BinaryOp for each step; While where their number is free or above 256"},
    {"RotaryEmbedding", 23, kNewest, emitRotary, "StridedSlice, BinaryOp, Concat"},
    {"RotaryEmbedding", 1, kNewest, emitContribRotary, "StridedSlice, BinaryOp, Concat", "scale, is_packed_batching.",
     kMicrosoft},
    {"SwiGLU", 28, kNewest, emitSwiGlu, "UnaryOp, BinaryOp"},
    {"TensorScatter", 24, kNewest, emitTensorScatter, "ScatterElements"},
};
extern constinit const Family attentionFamily = kAttentionEntries;

}  // namespace mnnc::onnx
