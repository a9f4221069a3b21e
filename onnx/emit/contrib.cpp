// Operators of com.microsoft that onnxruntime's own tools write.
#include "../importer.h"
#include "base/error.h"
#include "linear.h"

namespace mnnc::onnx {
namespace {

V withBias(Call& c, size_t i) {
    return c.maybe(i) ? add(c, c.in(0), c.in(i)) : c.in(0);
}

void emitContribGelu(Call& c) {
    c.out(unary(c, Unary::GELU_STANDARD, c.in(0)));
}

void emitBiasGelu(Call& c) {
    c.out(unary(c, Unary::GELU_STANDARD, withBias(c, 1)));
}

void emitFastGelu(Call& c) {
    V x = withBias(c, 1);
    V cube = mul(c, mul(c, x, x), x);
    V inner = add(c, x, mul(c, cube, c.b.real(0.044715f)));
    V tanh = unary(c, Unary::TANH, mul(c, inner, c.b.real(0.7978845608028654f)));
    c.out(mul(c, mul(c, x, c.b.real(0.5f)), add(c, tanh, c.b.real(1))));
}

void emitQuickGelu(Call& c) {
    V x = c.in(0);
    V gate = unary(c, Unary::SIGMOID, mul(c, x, c.b.real(c.real("alpha", 1.702f))));
    c.out(mul(c, x, gate));
}

// Normalises over the axes from `axis` on.
V normalised(Call& c, V x, int64_t axis, V gamma, V beta, bool rms) {
    wire::LayerNormT table;
    for (int64_t i = static_cast<int64_t>(x->rank()) - axis; i > 0; --i) table.axis.push_back(-static_cast<int32_t>(i));
    table.epsilon = c.real("epsilon", 1e-5f);
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

void requireNoStatistics(Call& c) {
    for (size_t i = 1; i < 3; ++i)
        if (c.wants(i)) refuse("its output %zu, which belongs to training", i);
}

void emitSkipLayerNorm(Call& c) {
    requireNoStatistics(c);
    V sum = add(c, c.in(0), c.in(1));
    if (c.maybe(4)) sum = add(c, sum, c.in(4));
    c.out(0, normalised(c, sum, static_cast<int64_t>(sum->rank()) - 1, c.in(2), c.maybe(3), false));
    c.out(3, sum);
}

void emitSkipSimplifiedLayerNorm(Call& c) {
    requireNoStatistics(c);
    V sum = add(c, c.in(0), c.in(1));
    if (c.maybe(3)) sum = add(c, sum, c.in(3));
    c.out(0, normalised(c, sum, static_cast<int64_t>(sum->rank()) - 1, c.in(2), nullptr, true));
    c.out(3, sum);
}

void emitSimplifiedLayerNorm(Call& c) {
    if (c.wants(1)) refuse("its output 1, which belongs to training");
    V x = c.in(0);
    c.out(0, normalised(c, x, axisOf(c.integer("axis", -1), x->rank()), c.in(1), nullptr, true));
}

void emitFusedMatMul(Call& c) {
    if (c.integer("transBatchA", 0) != 0 || c.integer("transBatchB", 0) != 0) refuse("transBatchA and transBatchB");
    const float alpha = c.real("alpha", 1);
    V result = matmul(c, c.in(0), c.in(1), c.integer("transA", 0) != 0, c.integer("transB", 0) != 0);
    c.out(alpha == 1 ? result : mul(c, result, c.b.real(alpha)));
}

// Weights of 4 or 8 bits with a scale for each block of a column stay codes.
void emitMatMulNBits(Call& c) {
    const int64_t rows = c.integer("K", 0), columns = c.integer("N", 0), bits = c.integer("bits", 4),
                  block = c.integer("block_size", 0);
    if (rows < 1 || columns < 1 || block < 1 || (bits != 4 && bits != 8))
        refuse("K %lld, N %lld, %lld bits, blocks of %lld", static_cast<long long>(rows),
               static_cast<long long>(columns), static_cast<long long>(bits), static_cast<long long>(block));
    const Array &codes = c.constant(1), &scales = c.constant(2);
    const Array* zeros = c.maybe(3) ? &c.constant(3) : nullptr;
    if (c.maybe(4)) refuse("g_idx");
    const int64_t blocks = (rows + block - 1) / block, bytes = block * bits / 8;
    if (codes.count() != columns * blocks * bytes || scales.count() != columns * blocks)
        fail(Status::BadFormat, "%lld codes and %lld scales", static_cast<long long>(codes.count()),
             static_cast<long long>(scales.count()));
    const bool floatZeros = zeros && zeros->type == DataType::DT_FLOAT;
    const int64_t zeroBytes = (blocks * bits + 7) / 8;  // of a column
    if (zeros && zeros->count() != (floatZeros ? columns * blocks : columns * zeroBytes))
        fail(Status::BadFormat, "%lld zero points", static_cast<long long>(zeros->count()));
    const auto code = [bits](const Array& from, int64_t start, int64_t i) {
        if (bits == 8) return from.bytes[static_cast<size_t>(start + i)] + 0;
        const uint8_t both = from.bytes[static_cast<size_t>(start + i / 2)];
        return (i % 2 ? both >> 4 : both & 15) + 0;
    };
    const auto zeroOf = [&](int64_t n, int64_t b) {
        if (!zeros) return bits == 4 ? 8.0f : 128.0f;
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
        kept.bits = static_cast<int>(bits);
        kept.rows = static_cast<size_t>(columns * blocks);
        kept.columns = static_cast<size_t>(block);
        kept.codes.resize(static_cast<size_t>(columns * rows));
        for (int64_t at = 0; at < columns * blocks; ++at) {
            const auto scale = static_cast<float>(scales.realAt(at));
            kept.scales.push_back(scale);
            if (zeros) kept.lows.push_back(-zeroOf(at / blocks, at % blocks) * scale);
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
        c.importer.note("The weights of MatMulNBits became floats where blocks do not divide K.");
    }
    c.out(c.maybe(5) && !bias ? add(c, result, c.in(5)) : result);
}

constexpr Entry kContribEntries[] = {
    {"BiasGelu", 1, kNewest, emitBiasGelu, "BinaryOp, UnaryOp", "", kMicrosoft},
    {"FastGelu", 1, kNewest, emitFastGelu, "BinaryOp, UnaryOp", "", kMicrosoft},
    {"FusedMatMul", 1, kNewest, emitFusedMatMul, "MatMul, BinaryOp", "transBatchA, transBatchB.", kMicrosoft},
    {"Gelu", 1, kNewest, emitContribGelu, "UnaryOp", "", kMicrosoft},
    {"MatMulNBits", 1, kNewest, emitMatMulNBits, "Convolution, or MatMul",
     "g_idx; weights that are fed. The weights become floats where K is no multiple of the block.", kMicrosoft},
    {"QuickGelu", 1, kNewest, emitQuickGelu, "BinaryOp, UnaryOp", "", kMicrosoft},
    // onnxruntime writes it into the domain of ONNX, which lacks it.
    {"SimplifiedLayerNormalization", 1, kNewest, emitSimplifiedLayerNorm, "LayerNorm"},
    {"SkipLayerNormalization", 1, kNewest, emitSkipLayerNorm, "BinaryOp, LayerNorm", "Training.", kMicrosoft},
    {"SkipSimplifiedLayerNormalization", 1, kNewest, emitSkipSimplifiedLayerNorm, "BinaryOp, LayerNorm", "Training.",
     kMicrosoft},
};

}  // namespace

Family contribFamily() {
    return kContribEntries;
}

}  // namespace mnnc::onnx
