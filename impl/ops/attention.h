// The operator Attention: its parameters, its extents, and its command.
#pragma once
#include <memory>

#include "ir/params.h"
#include "ops/attention_layout.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace mnnc {

struct AttentionParams : ParamsOf<AttentionParams> {
    float scale = 0;            // factor of the scores; 0: 1 / sqrt(depth)
    bool packedOutput = false;  // the output is [batch queries, heads valueDepth, 1, 1]
};

// Queries [batch][queries][heads][depth], keys [batch][keys][keyHeads][depth], values
// [batch][keys][keyHeads][valueDepth]. Head h reads key head h / (heads / keyHeads).
struct AttentionSizes {
    int64_t batch = 0, queries = 0, keys = 0, heads = 0, keyHeads = 0, depth = 0, valueDepth = 0;
};
// Throws ComputeSizeError naming `what` when the operands do not fit.
AttentionSizes attentionSizes(const Shape& query, const Shape& key, const Shape& value, const char* what);

// The parameters of the command. `mask`, `sinks`: null where there are none. Throws Error naming `what`.
std::shared_ptr<const AttentionForm> attentionForm(const AttentionParams& params, const AttentionSizes& sizes,
                                                   const Tensor* mask, const Tensor* sinks, const char* what);

}  // namespace mnnc
