// See linear.h.
#include "linear.h"

#include <functional>

#include "../importer.h"
#include "base/error.h"

namespace mnnc::onnx {
namespace {

// Gives y the leading axes of x: free ones come from the shape of x.
V withLeading(Call& c, V y, V x, int64_t columns) {
    const size_t rank = x->rank();
    std::vector<int64_t> dims;
    size_t open = 0;
    for (size_t i = 0; i + 1 < rank; ++i) {
        dims.push_back(x->fixed(i) ? x->dims[0][i] : -1);
        open += x->fixed(i) ? 0 : 1;
    }
    dims.push_back(columns);
    if (open <= 1) return reshape(c, y, dims);
    V shape =
        concat(c, {shapeOf(c, x, 0, static_cast<int64_t>(rank) - 1), c.b.constant(intList({columns}), Elem::Int64)}, 0);
    return reshapeTo(c, y, shape);
}

V convolved(Call& c, V x, wire::Convolution2DT& table, int64_t rows, int64_t columns, const Array* bias,
            const std::function<void()>& added) {
    if (x->rank() == 0) refuse("it multiplies a number by a matrix");
    if (x->fixed(x->rank() - 1) && x->dims[0].back() != rows)
        fail(Status::ComputeSizeError, "a tensor of %s cannot be multiplied by a matrix of %lld rows",
             dimsText(x->dims[0]).c_str(), asLong(rows));
    table.common = std::make_unique<wire::Convolution2DCommonT>();
    wire::Convolution2DCommonT& common = *table.common;
    common.kernelX = common.kernelY = common.strideX = common.strideY = common.dilateX = common.dilateY = 1;
    common.group = 1;
    common.padMode = wire::PadMode::CAFFE;
    common.inputCount = static_cast<int32_t>(rows);
    common.outputCount = static_cast<int32_t>(columns);
    table.bias = bias ? bias->allFloats() : std::vector<float>(static_cast<size_t>(columns), 0.0f);
    V flat = reshape(c, x, {-1, rows, 1, 1});
    flat->steps = x->steps;
    Output sums;
    for (size_t p = 0; p < kProbes; ++p) sums.dims[p] = {flat->dims[p][0], columns, 1, 1};
    V y = c.b.given(OpType::Convolution, Parameter(std::move(table)), {flat}, {sums})[0];
    added();
    V result = withLeading(c, y, x, columns);
    result->inFront = y;
    return result;
}

bool isLayer(V weight) {
    return weight->constant && weight->isFloat() && weight->rank() == 2 && weight->elementCount() >= kMinWeights;
}

}  // namespace

V linear(Call& c, V x, const ArrayPtr& weights, bool transposed, const Array* bias) {
    wire::Convolution2DT table;
    const int64_t rows = weights->dims.at(transposed ? 0 : 1), columns = weights->dims.at(transposed ? 1 : 0);
    return convolved(c, x, table, rows, columns, bias, [&] { c.b.setWeights(weights, transposed); });
}

V linear(Call& c, V x, const WeightCodes& codes, int64_t columns, const Array* bias) {
    wire::Convolution2DT table;
    table.quanParameter = tableOf(codes);
    return convolved(c, x, table, static_cast<int64_t>(codes.codes.size()) / columns, columns, bias,
                     [&] { c.b.setCodes(codes.source, codes.transposed); });
}

V product(Call& c, V a, V b) {
    if (a->rank() > 1 && b->rank() == 2 && b->constant) {
        if (const std::optional<WeightCodes> codes = rowCodes(*b, 1)) {
            c.importer.countCoded();
            return linear(c, a, *codes, b->dims[0][1], nullptr);
        }
        if (isLayer(b)) return linear(c, a, b->content[0], true, nullptr);
    }
    return matmul(c, a, b);
}

V gemm(Call& c, V a, V b, V bias, float alpha, float beta, bool transA, bool transB) {
    if (!transA && alpha == 1 && (!bias || beta == 1) && b->constant && b->rank() == 2) {
        const int64_t columns = b->dims[0][transB ? 0 : 1];
        // The bias must have a number for each column: a bias of another shape may have as many, one for each row.
        const bool inside = bias && bias->constant && bias->isFloat() && bias->elementCount() == columns &&
                            (bias->rank() == 0 || bias->dims[0].back() == columns);
        const Array* numbers = inside ? &bias->array() : nullptr;
        V result = nullptr;
        if (const std::optional<WeightCodes> codes = rowCodes(*b, transB ? 0 : 1)) {
            c.importer.countCoded();
            result = linear(c, a, *codes, columns, numbers);
        } else if (isLayer(b)) {
            result = linear(c, a, b->content[0], !transB, numbers);
        }
        if (result && (!bias || inside)) return result;
        if (result) {
            requireNoWidening(*bias, *result);
            return add(c, result, bias);
        }
    }
    if (alpha != 1) b = mul(c, b, c.b.real(alpha));
    V result = matmul(c, a, b, transA, transB);
    if (!bias || beta == 0) return result;
    if (beta != 1) bias = mul(c, bias, c.b.real(beta));
    requireNoWidening(*bias, *result);
    return add(c, result, bias);
}

}  // namespace mnnc::onnx
