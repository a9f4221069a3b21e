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
    // Keys and values of all runs are kept, and queries see those of earlier runs, too.
    bool kept = false;
};

// The parameters of the command where keys and values are kept. Its inputs are the queries [rows][heads][depth], keys
// [rows][keyHeads][depth] and values [rows][keyHeads][valueDepth] of one run, and a mask. Query i of the run sees the
// keys of all earlier runs and of rows 0 to i. A mask that is no scalar is added to the scores instead: its elements
// lie as [entry][row][key], where the keys are all that are kept.
struct KeptAttentionForm : ParamsOf<KeptAttentionForm> {
    int tensor = 0;  // the number of the operator's output
    int rows = 0, heads = 0, keyHeads = 0, depth = 0, valueDepth = 0;
    float scale = 1;  // of the scores, before the mask
    bool masked = false;
    int maskEntry = 0;  // the entry of the mask that is read; set by the pass that skips the copy of an entry

    bool sameSizes(const KeptAttentionForm& other) const noexcept {
        return rows == other.rows && heads == other.heads && keyHeads == other.keyHeads && depth == other.depth &&
               valueDepth == other.valueDepth && scale == other.scale && masked == other.masked;
    }
};

// The operands are queries [batch][queries][heads][depth], keys [batch][keys][keyHeads][depth] and values
// [batch][keys][keyHeads][valueDepth]. Head h reads key head h / (heads / keyHeads) (Ainslie et al., "GQA", arXiv
// 2305.13245).
struct AttentionSizes {
    int64_t batch = 0, queries = 0, keys = 0, heads = 0, keyHeads = 0, depth = 0, valueDepth = 0;
};
// Throws ComputeSizeError naming `what` when the operands do not fit.
AttentionSizes attentionSizes(const Shape& query, const Shape& key, const Shape& value, const char* what);

// Returns the parameters of the command. `mask`, `sinks`: null where there are none. Throws Error naming `what`.
std::shared_ptr<const AttentionForm> attentionForm(const AttentionParams& params, const AttentionSizes& sizes,
                                                   const Tensor* mask, const Tensor* sinks, const char* what);

}  // namespace mnnc
