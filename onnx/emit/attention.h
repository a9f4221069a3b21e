// Parts of attention that rules of several domains share.
#pragma once
#include "helpers.h"

namespace mnnc::onnx {

// [batch, length, heads * depth] becomes [batch, heads, length, depth]; values of rank 4 are returned unchanged.
V splitHeads(Call& c, V x, int64_t heads);
V joinHeads(Call& c, V x);
// Repeats each head of keys or values for all heads of queries that share it.
V repeatHeads(Call& c, V x, V q);
// x: [batch, heads, length, depth]; cos, sin: [batch or 1, length, half]. width: number of elements that rotate; 0:
// all.
V rotate(Call& c, V x, V cos, V sin, int64_t width, bool interleaved);
// a AND b, of bools; a: may be null.
V both(Call& c, V a, V b);

// softmax(cap(scale * q * keys) + bias, where allowed) * values; all operands have the same number of heads. bias,
// allowed: null for none. sink: [1, 1 or heads, 1, 1], a score in each row of the softmax that belongs to no key; null:
// there is none.
struct Scores {
    float scale = 1, cap = 0;
    V bias = nullptr, allowed = nullptr, sink = nullptr;
};
V attend(Call& c, V q, V k, V v, const Scores& scores);

}  // namespace mnnc::onnx
