// Operators of com.microsoft that onnxruntime's own tools write.
#include <set>

#include "../importer.h"
#include "base/checked.h"
#include "base/error.h"
#include "contrib.h"
#include "linear.h"

namespace mnnc::onnx {

V normalised(Call& c, V x, int64_t axis, V gamma, V beta, bool rms, float epsilon) {
    wire::LayerNormT table;
    for (int64_t i = static_cast<int64_t>(x->rank()) - axis; i > 0; --i) table.axis.push_back(-static_cast<int32_t>(i));
    table.epsilon = epsilon;
    table.useRMSNorm = rms;
    const bool last = axis + 1 == static_cast<int64_t>(x->rank());
    const bool inTable = last && gamma->constant && (!beta || beta->constant) && gamma->rank() == 1 &&
                         x->fixed(x->rank() - 1) && gamma->dims[0][0] == x->dims[0].back();
    if (inTable) {
        table.gamma = gamma->array().allFloats();
        table.beta = beta ? beta->array().allFloats() : std::vector<float>(table.gamma.size(), 0.0f);
        return c.b.op(OpType::LayerNorm, table, {x});
    }
    V y = mul(c, c.b.op(OpType::LayerNorm, table, {x}), gamma);
    return beta ? add(c, y, beta) : y;
}

namespace {

V withBias(Call& c, size_t i) {
    return c.maybe(i) ? add(c, c.in(0), c.in(i)) : c.in(0);
}

void emitBiasGelu(Call& c) {
    c.out(unary(c, Unary::GELU_STANDARD, withBias(c, 1)));
}

void emitFastGelu(Call& c) {
    c.out(geluByTanh(c, withBias(c, 1)));
}

void emitQuickGelu(Call& c) {
    V x = c.in(0);
    V gate = unary(c, Unary::SIGMOID, mul(c, x, c.b.real(c.real("alpha", 1.702f))));
    c.out(mul(c, x, gate));
}

void requireNoStatistics(Call& c) {
    for (size_t i = 1; i < 3; ++i)
        if (c.wants(i)) refuse("its output %zu belongs to training", i);
}

void emitSkipLayerNorm(Call& c) {
    requireNoStatistics(c);
    V sum = add(c, c.in(0), c.in(1));
    if (c.maybe(4)) sum = add(c, sum, c.in(4));
    c.out(0, normalised(c, sum, static_cast<int64_t>(sum->rank()) - 1, c.in(2), c.maybe(3), false,
                        c.real("epsilon", 1e-12f)));
    c.out(3, sum);
}

void emitSkipSimplifiedLayerNorm(Call& c) {
    requireNoStatistics(c);
    V sum = add(c, c.in(0), c.in(1));
    if (c.maybe(3)) sum = add(c, sum, c.in(3));
    c.out(0,
          normalised(c, sum, static_cast<int64_t>(sum->rank()) - 1, c.in(2), nullptr, true, c.real("epsilon", 1e-12f)));
    c.out(3, sum);
}

void emitSimplifiedLayerNorm(Call& c) {
    if (c.wants(1)) refuse("its output 1 belongs to training");
    V x = c.in(0);
    c.out(0,
          normalised(c, x, axisOf(c.integer("axis", -1), x->rank()), c.in(1), nullptr, true, c.real("epsilon", 1e-5f)));
}

// The normalised sum of the rows of three tables, and the length of each sequence. mask: may be null.
void embed(Call& c, V sum, V gamma, V beta, V mask) {
    c.out(0, normalised(c, sum, 2, gamma, beta, false, c.real("epsilon", 1e-12f)));
    c.out(2, sum);
    if (!c.wants(1)) return;
    V one = c.b.constant(intScalar(1), Elem::Int32), none = c.b.constant(intScalar(0), Elem::Int32);
    if (mask) {
        V shown = c.b.alias(compare(c, Binary::EQUAL, castTo(c, mask, Elem::Int32), one), Elem::Int32);
        c.out(1, reduce(c, Reduction::SUM, shown, {1}, false));
    } else {  // onnxruntime gives zeros
        c.out(1, c.b.op(OpType::Fill, {}, {shapeOf(c, c.in(0), 0, 1), none}));
    }
}

// Returns the positions of words: the given ones, or 0, 1 and so on.
V positionsOf(Call& c, V words, V given) {
    if (words->rank() != 2) fail(Status::BadFormat, "the ids have rank %zu, 2 is needed", words->rank());
    return given ? given : rangeTo(c, extentOf(c, words, 1));
}

// Inputs: the ids of words and segments, the tables of words, positions and segments, gamma, beta, mask, the positions.
void emitEmbedLayerNorm(Call& c) {
    V words = c.in(0), segments = c.maybe(1), places = positionsOf(c, words, c.maybe(8));
    V sum = add(c, gatherAxis(c, c.in(2), words, 0), gatherAxis(c, c.in(3), places, 0));
    if (segments) sum = add(c, sum, gatherAxis(c, c.in(4), segments, 0));
    embed(c, sum, c.in(5), c.in(6), c.maybe(7));
}

// The same with codes as tables, gamma and beta: their scales are the inputs from 8 on, their zero points from 13 on.
void emitQEmbedLayerNorm(Call& c) {
    V words = c.in(0), segments = c.maybe(1), places = positionsOf(c, words, nullptr);
    const auto real = [&](size_t i, V rows) {
        V codes = c.in(i);
        return dequantise(c, rows ? gatherAxis(c, codes, rows, 0) : codes, scalarOf(c, c.in(i + 6)),
                          scalarOf(c, c.in(i + 11)));
    };
    V sum = add(c, real(2, words), real(3, places));
    if (segments) sum = add(c, sum, real(4, segments));
    embed(c, sum, real(5, nullptr), real(6, nullptr), c.maybe(7));
}

// Makes the first axis the last but one.
V firstBehindBatches(Call& c, V x) {
    std::vector<int64_t> order;
    const auto rank = static_cast<int64_t>(x->rank());
    if (rank < 3) return x;
    for (int64_t i = 1; i + 1 < rank; ++i) order.push_back(i);
    order.insert(order.end(), {0, rank - 1});
    return permute(c, x, order);
}

void emitFusedMatMul(Call& c) {
    const float alpha = c.real("alpha", 1);
    V a = c.in(0), b = c.in(1);
    if (c.integer("transBatchA", 0) != 0) a = firstBehindBatches(c, a);
    if (c.integer("transBatchB", 0) != 0) b = firstBehindBatches(c, b);
    V result = matmul(c, a, b, c.integer("transA", 0) != 0, c.integer("transB", 0) != 0);
    c.out(alpha == 1 ? result : mul(c, result, c.b.real(alpha)));
}

// Gemm, and an activation whose parameters are activation_alpha and so on.
void emitFusedGemm(Call& c) {
    V y = gemm(c, c.in(0), c.in(1), c.maybe(2), c.real("alpha", 1), c.real("beta", 1), c.integer("transA", 0) != 0,
               c.integer("transB", 0) != 0);
    const std::string name = c.text("activation", "");
    static const std::set<std::string_view> kKnown{"Elu",     "HardSigmoid", "LeakyRelu", "Relu", "Selu",
                                                   "Sigmoid", "Softplus",    "Softsign",  "Tanh", "ThresholdedRelu"};
    if (!kKnown.count(name)) refuse("the activation '%s' is not implemented", name.c_str());
    Node node;
    for (const char* parameter : {"alpha", "beta", "gamma"}) {
        if (const Attribute* given = c.attribute("activation_" + std::string(parameter))) {
            node.attributes.push_back(*given);
            node.attributes.back().name = parameter;
        }
    }
    c.out(byRule(c, name, node, {y}));
}

bool holdsBytes(const Array& array) {
    return static_cast<int64_t>(array.bytes.size()) == array.count();
}

// Weights of 2, 4 or 8 bits with a scale for each block of a column stay codes; those of 2 bits take 4.
void emitMatMulNBits(Call& c) {
    const int64_t rows = c.integer("K", 0), columns = c.integer("N", 0), bits = c.integer("bits", 4),
                  block = c.integer("block_size", 0);
    if (rows < 1 || columns < 1 || block < 1 || (bits != 2 && bits != 4 && bits != 8))
        refuse("K %lld, N %lld, %lld bits and blocks of %lld are not implemented", asLong(rows), asLong(columns),
               asLong(bits), asLong(block));
    const Array &codes = c.constant(1), &scales = c.constant(2);
    const Array* zeros = c.maybe(3) ? &c.constant(3) : nullptr;
    if (c.maybe(4)) refuse("the input g_idx is not implemented");
    if (checkedMul(block, bits, "a block") % 8 != 0)
        refuse("blocks of %lld codes of %lld bits do not fill bytes", asLong(block), asLong(bits));
    const int64_t blocks = (rows - 1) / block + 1, bytes = block * bits / 8,
                  all = checkedMul(columns, blocks, "blocks");
    if (!holdsBytes(codes) || codes.count() != checkedMul(all, bytes, "codes") || scales.count() != all)
        fail(Status::BadFormat, "the %lld codes and %lld scales of its weights do not fit K, N and block_size",
             asLong(codes.count()), asLong(scales.count()));
    const bool floatZeros = zeros && zeros->type == DataType::DT_FLOAT;
    const int64_t zeroBytes = (blocks * bits + 7) / 8;  // of a column
    if (zeros && (floatZeros ? zeros->count() != all : !holdsBytes(*zeros) || zeros->count() != columns * zeroBytes))
        fail(Status::BadFormat, "its weights have %lld zero points; one for each block is needed",
             asLong(zeros->count()));
    const auto code = [bits](const Array& from, int64_t start, int64_t i) {
        const int64_t each = 8 / bits;  // codes of a byte, the first one in its low bits
        return from.bytes[static_cast<size_t>(start + i / each)] >> (i % each * bits) & ((1 << bits) - 1);
    };
    const auto zeroOf = [&](int64_t n, int64_t b) {
        if (!zeros) return static_cast<float>(1 << (bits - 1));
        return floatZeros ? static_cast<float>(zeros->realAt(n * blocks + b))
                          : static_cast<float>(code(*zeros, n * zeroBytes, b));
    };
    const Array* bias =
        c.maybe(5) && c.in(5)->constant && c.in(5)->elementCount() == columns ? &c.constant(5) : nullptr;
    V result = nullptr;
    if (rows % block == 0 && c.in(0)->rank() > 1) {
        // A row of codes for each block of a column.
        WeightCodes kept;
        kept.source = c.in(1)->content[0];
        kept.bits = bits == 8 ? 8 : 4;
        kept.rows = static_cast<size_t>(columns * blocks);
        kept.columns = static_cast<size_t>(block);
        kept.codes.resize(static_cast<size_t>(columns * rows));
        for (int64_t at = 0; at < columns * blocks; ++at) {
            const auto scale = static_cast<float>(scales.realAt(at));
            kept.scales.push_back(scale);
            if (zeros || bits == 2) kept.lows.push_back(-zeroOf(at / blocks, at % blocks) * scale);
            for (int64_t i = 0; i < block; ++i)
                kept.codes[static_cast<size_t>(at * block + i)] =
                    static_cast<int8_t>(code(codes, at * bytes, i) + kept.smallest());
        }
        c.importer.countCoded();
        result = linear(c, c.in(0), kept, columns, bias);
    } else {
        std::vector<float> weights(static_cast<size_t>(columns * rows));
        for (int64_t n = 0; n < columns; ++n)
            for (int64_t b = 0; b < blocks; ++b)
                for (int64_t i = 0; i < block && b * block + i < rows; ++i)
                    weights[static_cast<size_t>(n * rows + b * block + i)] =
                        (static_cast<float>(code(codes, (n * blocks + b) * bytes, i)) - zeroOf(n, b)) *
                        static_cast<float>(scales.realAt(n * blocks + b));
        result =
            matmul(c, c.in(0), c.b.constant(floatArray({columns, rows}, std::move(weights)), Elem::Float), false, true);
        bias = nullptr;
        c.importer.note(
            "The weights of MatMulNBits became floats where blocks do not divide K, or its input is a list.");
    }
    c.out(c.maybe(5) && !bias ? add(c, result, c.in(5)) : result);
}

}  // namespace

constexpr Entry kContribEntries[] = {
    {"BiasGelu", 1, kNewest, emitBiasGelu, "BinaryOp, UnaryOp", "", kMicrosoft},
    {"EmbedLayerNormalization", 1, kNewest, emitEmbedLayerNorm, "GatherV2, BinaryOp, LayerNorm, Reduction", "",
     kMicrosoft},
    {"FastGelu", 1, kNewest, emitFastGelu, "BinaryOp, UnaryOp", "", kMicrosoft},
    {"FusedGemm", 1, kNewest, emitFusedGemm, "As Gemm, and its activation", "", kMicrosoft},
    {"FusedMatMul", 1, kNewest, emitFusedMatMul, "MatMul, BinaryOp, Permute", "", kMicrosoft},
    {"Gelu", 1, kNewest, emitUnary<Unary::GELU_STANDARD>, "UnaryOp", "", kMicrosoft},
    {"MatMulNBits", 1, kNewest, emitMatMulNBits, "Convolution, or MatMul",
     "g_idx; weights that are fed. The weights become floats where K is no multiple of the block.", kMicrosoft},
    {"QEmbedLayerNormalization", 1, kNewest, emitQEmbedLayerNorm, "GatherV2, Cast, BinaryOp, LayerNorm, Reduction", "",
     kMicrosoft},
    {"QuickGelu", 1, kNewest, emitQuickGelu, "BinaryOp, UnaryOp", "", kMicrosoft},
    // onnxruntime writes it into the domain of ONNX, which lacks it.
    {"SimplifiedLayerNormalization", 1, kNewest, emitSimplifiedLayerNorm, "LayerNorm"},
    {"SkipLayerNormalization", 1, kNewest, emitSkipLayerNorm, "BinaryOp, LayerNorm", "Training.", kMicrosoft},
    {"SkipSimplifiedLayerNormalization", 1, kNewest, emitSkipSimplifiedLayerNorm, "BinaryOp, LayerNorm", "Training.",
     kMicrosoft},
    {"TransposeMatMul", 1, kNewest, emitFusedMatMul, "As FusedMatMul", "", kMicrosoft},
};
extern constinit const Family contribFamily = kContribEntries;

}  // namespace mnnc::onnx
