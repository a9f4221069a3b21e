// Attention of com.microsoft, as written by onnxruntime's tools and exporters of language models.
#include <algorithm>
#include <cmath>

#include "../importer.h"
#include "attention.h"
#include "base/checked.h"
#include "base/error.h"
#include "contrib.h"
#include "linear.h"

namespace mnnc::onnx {
namespace {

void refuseInputs(Call& c, std::initializer_list<size_t> indices) {
    for (const size_t i : indices)
        if (c.maybe(i)) refuse("its input %zu is not implemented", i);
}

float scaleOf(Call& c, V q) {
    const float given = c.real("scale", 0);
    return given != 0 ? given : 1 / std::sqrt(static_cast<float>(q->extent(3)));
}

// Returns a mask [batch, 1, 1, keys] of the visible keys. The list has the number of visible keys of each sequence, or
// the ends of all sequences' visible keys and then their starts.
V shownByLengths(Call& c, V list, V k) {
    const bool lengths = list->dims[0][0] == k->dims[0][0] && list->dims[1][0] == k->dims[1][0];
    const bool starts = list->dims[0][0] == 2 * k->dims[0][0] && list->dims[1][0] == 2 * k->dims[1][0];
    if (!lengths && !starts) refuse("its mask of rank 1 has neither one nor two numbers for each sequence");
    V columns = rangeTo(c, extentOf(c, k, 2));
    const auto spreadOut = [&](V numbers) { return unsqueeze(c, numbers, {1, 2, 3}); };
    if (lengths) return compare(c, Binary::LESS, columns, spreadOut(list));
    V halves = reshapeTo(c, list, concat(c, {c.b.ints({2}), shapeOf(c, k, 0, 1)}, 0));
    const auto half = [&](int64_t i) { return spreadOut(elementOf(c, halves, 0, i)); };
    return both(c, compare(c, Binary::LESS, columns, half(0)), compare(c, Binary::GREATER_EQUAL, columns, half(1)));
}

// A mask with 1 for visible keys: [batch, keys], [batch, queries, keys] or [batch, 1, queries, keys]; or a list of
// lengths. The filter value is added to the scores of hidden keys.
V biasOf(Call& c, V mask, V bias, V k) {
    if (!mask) return bias;
    if (mask->rank() == 1) {
        mask = castTo(c, shownByLengths(c, mask, k), Elem::Int32);
    } else if (mask->rank() == 2) {
        mask = unsqueeze(c, mask, {1, 2});
    } else if (mask->rank() == 3) {
        mask = unsqueeze(c, mask, {1});
    } else if (mask->rank() != 4) {
        refuse("its mask has rank %zu; 1 to 4 are possible", mask->rank());
    }
    V hidden = select(c, compare(c, Binary::NOTEQUAL, mask, c.b.number(0, *mask)), c.b.real(0),
                      c.b.real(c.real("mask_filter_value", -10000)));
    return bias ? add(c, bias, hidden) : hidden;
}

// Whether a column belongs to a query's row or one before it; the last query sees all keys.
V causal(Call& c, V q, V k, int64_t window = -1) {
    V columns = rangeTo(c, extentOf(c, k, 2));
    V rows = unsqueeze(c, rangeTo(c, extentOf(c, q, 2)), {1});
    rows = add(c, rows, sub(c, extentOf(c, k, 2), extentOf(c, q, 2)));
    V allowed = compare(c, Binary::LESS_EQUAL, columns, rows);
    if (window < 0) return allowed;
    return both(c, allowed, compare(c, Binary::GREATER, add(c, columns, c.b.scalar(window)), rows));
}

V part(Call& c, V packed, int64_t begin, int64_t end) {
    return sliceAxis(c, packed, 2, begin, end);
}

// Attention of a sequence to itself. packed: its queries, keys and values, which have `columns` columns together.
void selfAttention(Call& c, V packed, int64_t columns, V mask, V past, V added) {
    if (c.integer("do_rotary", 0) != 0) refuse("do_rotary is not implemented");
    const int64_t heads = c.integer("num_heads", 0);
    const std::vector<int64_t> sizes = c.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>());
    const int64_t third = columns / 3;
    const int64_t width = sizes.size() == 3 ? sizes[0] : third, keyWidth = sizes.size() == 3 ? sizes[1] : third;
    const int64_t valueWidth = sizes.size() == 3 ? sizes[2] : third;
    if (width < 0 || keyWidth < 0 || valueWidth < 0 || width > columns || keyWidth > columns - width ||
        valueWidth > columns - width - keyWidth)
        fail(Status::BadFormat, "qkv_hidden_sizes %lld, %lld and %lld do not fit in %lld columns", asLong(width),
             asLong(keyWidth), asLong(valueWidth), asLong(columns));
    V q = splitHeads(c, part(c, packed, 0, width), heads);
    V k = splitHeads(c, part(c, packed, width, width + keyWidth), heads);
    V v = splitHeads(c, part(c, packed, width + keyWidth, width + keyWidth + valueWidth), heads);
    if (past) {  // [2, batch, heads, length, depth]
        k = concat(c, {elementOf(c, past, 0, 0), k}, 2);
        v = concat(c, {elementOf(c, past, 0, 1), v}, 2);
    }
    if (c.wants(1)) c.out(1, concat(c, {unsqueeze(c, k, {0}), unsqueeze(c, v, {0})}, 0));
    Scores scores;
    scores.scale = scaleOf(c, q);
    scores.bias = biasOf(c, mask, added, k);
    if (c.integer("unidirectional", 0) != 0) scores.allowed = causal(c, q, k);
    c.out(0, joinHeads(c, attend(c, q, k, v, scores)));
}

void emitContribAttention(Call& c) {
    refuseInputs(c, {6});
    V weights = c.in(1), bias = c.maybe(2);
    if (weights->rank() != 2) fail(Status::BadFormat, "the weights have rank %zu, 2 is needed", weights->rank());
    V packed = product(c, c.in(0), weights);
    if (bias) packed = add(c, packed, bias);
    selfAttention(c, packed, weights->extent(1), c.maybe(3), c.maybe(4), c.maybe(5));
}

// The same over codes: of x, weights, the bias, the scales of x and weights, mask, the zero points, past.
void emitQAttention(Call& c) {
    V x = c.raw(0), weights = c.raw(1);
    if (!x || !weights || weights->rank() != 2 || x->rank() != 3)
        fail(Status::BadFormat, "the codes of x or of the weights are missing, or have another rank");
    V packed = product(c, realOf(c, x, c.in(3), c.maybe(6), 2), realOf(c, weights, c.in(4), c.maybe(7), 1));
    packed = add(c, packed, c.in(2));
    selfAttention(c, packed, weights->extent(1), c.maybe(5), c.maybe(8), nullptr);
}

// [batch, length, heads, n, depth] contains n tensors; selects one.
V unpacked(Call& c, V x, int64_t index) {
    return permute(c, elementOf(c, x, 3, index), {0, 2, 1, 3});
}

void emitMultiHeadAttention(Call& c) {
    refuseInputs(c, {8, 9});
    if (c.wants(3)) refuse("its output 3 is not implemented");
    const int64_t heads = c.integer("num_heads", 0);
    V query = c.in(0), key = c.maybe(1), value = c.maybe(2), bias = c.maybe(3), q = nullptr, k = nullptr, v = nullptr;
    if (query->rank() == 5) {
        if (bias) refuse("a bias of packed inputs is not implemented");
        q = unpacked(c, query, 0);
        k = unpacked(c, query, 1);
        v = unpacked(c, query, 2);
    } else {
        if (!key) fail(Status::BadFormat, "the keys are missing");
        const int64_t width = query->extent(2);
        const auto biased = [&](V x, int64_t begin, int64_t end) {
            if (!bias || x->rank() != 3) return x;
            return add(c, x, sliceAxis(c, bias, 0, begin, end));
        };
        q = splitHeads(c, biased(query, 0, width), heads);
        if (key->rank() == 5) {
            if (bias) refuse("a bias of packed inputs is not implemented");
            k = unpacked(c, key, 0);
            v = unpacked(c, key, 1);
        } else {
            if (!value) fail(Status::BadFormat, "the values are missing");
            k = splitHeads(c, biased(key, width, 2 * width), heads);
            v = splitHeads(c, biased(value, 2 * width, kToEnd), heads);
        }
    }
    if (V past = c.maybe(6)) {
        k = concat(c, {past, k}, 2);
        v = concat(c, {c.in(7), v}, 2);
    }
    c.out(1, k);
    c.out(2, v);
    Scores scores;
    scores.scale = scaleOf(c, q);
    scores.bias = biasOf(c, c.maybe(4), c.maybe(5), k);
    if (c.integer("unidirectional", 0) != 0) scores.allowed = causal(c, q, k);
    c.out(0, joinHeads(c, attend(c, q, k, v, scores)));
}

// Sequences of a batch have the same length: seqlens_k is ignored, and new keys follow the past ones.
void emitGroupQueryAttention(Call& c) {
    refuseInputs(c, {12, 13, 16});
    if (c.wants(3)) refuse("its output 3 is not implemented");
    if (c.integer("sliding_window_cache", 0) != 0) refuse("sliding_window_cache is not implemented");
    const int64_t heads = c.integer("num_heads", 0), kvHeads = c.integer("kv_num_heads", 0);
    V q = c.in(0), k = c.maybe(1), v = c.maybe(2);
    if (heads < 1 || kvHeads < 1)
        fail(Status::BadFormat, "num_heads is %lld and kv_num_heads is %lld; both must be 1 or more", asLong(heads),
             asLong(kvHeads));
    if (!k) {
        const int64_t all = checkedAdd(heads, checkedMul(2, kvHeads, "heads"), "heads");
        const int64_t depth = q->extent(2) / all;
        V packed = q;
        q = part(c, packed, 0, heads * depth);
        k = part(c, packed, heads * depth, (heads + kvHeads) * depth);
        v = part(c, packed, (heads + kvHeads) * depth, (heads + 2 * kvHeads) * depth);
    }
    q = splitHeads(c, q, heads);
    k = splitHeads(c, k, kvHeads);
    v = splitHeads(c, v ? v : c.in(2), kvHeads);
    const auto normal = [&](V x, size_t i, const char* own) {
        if (!c.maybe(i)) return x;
        return normalised(c, x, 3, c.in(i), nullptr, true, c.real(own, c.real("qk_norm_epsilon", 1e-6f)));
    };
    q = normal(q, 14, "q_norm_epsilon");
    k = normal(k, 15, "k_norm_epsilon");
    V past = c.maybe(3);
    if (c.integer("do_rotary", 0) != 0) {
        V places = c.maybe(9);
        if (!places) {
            V at = rangeTo(c, extentOf(c, q, 2));
            if (past) at = add(c, at, extentOf(c, past, 2));
            places = unsqueeze(c, at, {0});
        }
        V cos = gatherAxis(c, c.in(7), places, 0), sin = gatherAxis(c, c.in(8), places, 0);
        const int64_t width = 2 * c.in(7)->extent(1);
        const bool interleaved = c.integer("rotary_interleaved", 0) != 0;
        q = rotate(c, q, cos, sin, width, interleaved);
        k = rotate(c, k, cos, sin, width, interleaved);
    }
    if (past) {
        k = concat(c, {past, k}, 2);
        v = concat(c, {c.in(4), v}, 2);
    }
    c.importer.note("GroupQueryAttention takes all sequences of a batch for equally long.");
    c.out(1, k);
    c.out(2, v);
    Scores scores;
    scores.scale = scaleOf(c, q);
    scores.cap = c.real("softcap", 0);
    scores.bias = c.maybe(10);
    if (c.integer("causal", 1) != 0) scores.allowed = causal(c, q, k, c.integer("local_window_size", -1));
    if (V sink = c.maybe(11))
        scores.sink = unsqueeze(c, sink, {0, 2, 3});
    else if (c.integer("smooth_softmax", 0) > 0)
        scores.sink = c.b.constant(floatArray({1, 1, 1, 1}, {0}), Elem::Float);
    c.out(0, joinHeads(c, attend(c, q, k, v, scores)));
}

constexpr const char* kWritten = "MatMul, Softmax, BinaryOp, Select";
}  // namespace

constexpr Entry kContribAttentionEntries[] = {
    {"Attention", 1, kNewest, emitContribAttention, kWritten,
     "A free number of heads; masks of packed sequences; do_rotary; a past buffer that is longer than the past.",
     kMicrosoft},
    {"GroupQueryAttention", 1, kNewest, emitGroupQueryAttention, kWritten,
     "Sequences of several lengths (seqlens_k counts as equal); quantised caches; sliding_window_cache; "
     "query_seqlens.",
     kMicrosoft},
    {"MultiHeadAttention", 1, kNewest, emitMultiHeadAttention, kWritten,
     "A free number of heads; masks of packed sequences; a past buffer that is longer than the past.", kMicrosoft},
    {"QAttention", 1, kNewest, emitQAttention, "Convolution, MatMul, Softmax, BinaryOp, Select", "As Attention.",
     kMicrosoft},
};
extern constinit const Family contribAttentionFamily = kContribAttentionEntries;

}  // namespace mnnc::onnx
