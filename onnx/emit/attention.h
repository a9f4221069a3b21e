// Parts of attention that rules of several domains share.
#pragma once
#include "helpers.h"

namespace mnnc::onnx {

// [batch, length, heads * depth] becomes [batch, heads, length, depth]; what has rank 4 stays.
V splitHeads(Call& c, V x, int64_t heads);
V joinHeads(Call& c, V x);
// Each head of keys or values serves as many heads of queries as there are for it.
V repeatHeads(Call& c, V x, V q);
// x: [batch, heads, length, depth]; cos, sin: [batch or 1, length, half]. width: how many elements turn; 0: all.
V rotate(Call& c, V x, V cos, V sin, int64_t width, bool interleaved);
// a AND b, of bools; a: may be null.
V both(Call& c, V a, V b);

// softmax(cap(scale * q * keys) + bias, where allowed) * values, all with heads of their own. bias, allowed: null for
// none.
struct Scores {
    float scale = 1, cap = 0;
    V bias = nullptr, allowed = nullptr;
};
V attend(Call& c, V q, V k, V v, const Scores& scores);

}  // namespace mnnc::onnx
