// Chooses the kernel and the tiles of a batched product.
#include "backends/vulkan/ops/matrix_product.h"

#include <utility>

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kLocal = 64;
constexpr int64_t kLargeTiles = 256;  // enough to keep a large device busy

}  // namespace

std::vector<BatchAxis> batchAxes(const MatMulSizes& sizes) {
    std::vector<BatchAxis> axes;  // innermost first
    int64_t strideA = 1, strideB = 1;
    const int rank = sizes.batch.rank();
    for (int axis = rank - 1; axis >= 0; --axis) {
        const int atA = axis - (rank - sizes.batchA.rank()), atB = axis - (rank - sizes.batchB.rank());
        const int64_t extentA = atA < 0 ? 1 : sizes.batchA[atA], extentB = atB < 0 ? 1 : sizes.batchB[atB];
        const BatchAxis next{sizes.batch[axis], extentA == 1 ? 0 : strideA, extentB == 1 ? 0 : strideB};
        strideA *= extentA;
        strideB *= extentB;
        if (next.size == 1) continue;
        if (!axes.empty()) {
            BatchAxis& last = axes.back();
            if (next.a == last.a * last.size && next.b == last.b * last.size) {
                last.size *= next.size;
                continue;
            }
        }
        axes.push_back(next);
    }
    std::reverse(axes.begin(), axes.end());
    return axes;
}

MatrixProblem::MatrixProblem(const InnerProductParams& params, int64_t rows)
    : e(rows),
      l(params.inputs),
      h(params.outputs),
      lda(params.inputs),
      ldb(h == 1 ? 1 : roundUp(h, 4)),  // a vector lies closely
      bias(!params.bias.empty()) {}

MatrixProblem::MatrixProblem(const MatMulSizes& sizes, bool hasBias)
    : e(sizes.e),
      l(sizes.l),
      h(sizes.h),
      lda(sizes.transposeA ? sizes.e : sizes.l),
      ldb(sizes.transposeB ? sizes.l : sizes.h),
      products(sizes.batch.elements()),
      transposeA(sizes.transposeA),
      transposeB(sizes.transposeB),
      bias(hasBias),
      batch(batchAxes(sizes)) {
    for (BatchAxis& axis : batch) {
        axis.a *= e * l;
        axis.b *= l * h;
    }
    // A batch over one B is a taller A.
    if (products > 1 && !transposeA && sizes.batchB.elements() == 1 && sizes.batchA.elements() == products) {
        e *= products;
        products = 1;
        batch.clear();
    }
}

Push& MatrixProblem::pushBatch(Push& push) const {
    push.u(static_cast<int64_t>(batch.size()));
    for (size_t i = 0; i < kProductBatchAxes; ++i) push.u(i < batch.size() ? batch[i].size : 1);
    for (size_t i = 0; i < kProductBatchAxes; ++i) push.u(i < batch.size() ? batch[i].a : 0);
    for (size_t i = 0; i < kProductBatchAxes; ++i) push.u(i < batch.size() ? batch[i].b : 0);
    return push;
}

MatrixProduct::MatrixProduct(VulkanBackend& backend, const MatrixProblem& problem) : p_(problem) {
    vector_ = p_.e == 1 || p_.h == 1;
    if (vector_)
        chooseVector(backend);
    else
        chooseTiles(backend);
}

void MatrixProduct::encode(Recorder& recorder, const Binding& a, const Binding& b, const Binding& c,
                           const Binding& bias) const {
    Push push;
    if (vector_) {
        push.u(outputs_).u(p_.l).u(matrixIsB_ ? p_.ldb : p_.lda).u(tiles_).u(matrixIsB_ ? 1 : 0);
        recorder.dispatch(*pipeline_, {{matrixIsB_ ? b : a, matrixIsB_ ? a : b, c, bias}}, p_.pushBatch(push),
                          p_.products * tiles_);
        return;
    }
    push.u(p_.e).u(p_.l).u(p_.h).u(p_.lda).u(p_.ldb).u(tilesDown_).u(tiles_);
    recorder.dispatch(*pipeline_, {{a, b, c, bias}}, p_.pushBatch(push), p_.products * tilesDown_ * tiles_);
}

void MatrixProduct::chooseTiles(VulkanBackend& backend) {
    const uint32_t maxThreads = std::min(kLocal, backend.limits().groupInvocations);
    uint32_t across = 1, down = 1;
    while (across * down * 2 <= maxThreads) (across <= down ? across : down) *= 2;
    tiles_ = ceilDiv(p_.h, int64_t{across} * 4);
    tilesDown_ = ceilDiv(p_.e, int64_t{down} * 4);
    // Four times the outputs per invocation: fewer reads per product, if there are registers and enough
    // tiles.
    const int64_t across2 = ceilDiv(tiles_, 2), down2 = ceilDiv(tilesDown_, 2);
    const bool large = across2 * down2 * p_.products >= kLargeTiles && p_.e > 4 * int64_t{down} &&
                       p_.h > 4 * int64_t{across} &&
                       backend.gpu()->info().type != VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    if (large) {
        tiles_ = across2;
        tilesDown_ = down2;
    }
    const bool wideA = p_.lda % 4 == 0 && p_.steps4(true), wideB = p_.ldb % 4 == 0 && p_.steps4(false);
    pipeline_ = &backend.pipeline("matmul", DataType::Float32, 4, across * down,
                                  {across, p_.transposeA, p_.transposeB, wideA, wideB, p_.h % 4 == 0, p_.bias,
                                   large ? 2u : 1u, large ? 2u : 1u});
}

void MatrixProduct::chooseVector(VulkanBackend& backend) {
    matrixIsB_ = p_.e == 1;
    outputs_ = matrixIsB_ ? p_.h : p_.e;
    const bool byRows = matrixIsB_ ? p_.transposeB : !p_.transposeA;
    const uint32_t maxThreads = std::min(kLocal, backend.limits().groupInvocations);
    const uint32_t across = byRows ? 1 : std::min(maxThreads, 8u);
    tiles_ = byRows ? outputs_ : ceilDiv(outputs_, int64_t{across} * 4);
    const int64_t ld = matrixIsB_ ? p_.ldb : p_.lda;
    const bool wide =
        ld % 4 == 0 && p_.steps4(!matrixIsB_) && (!byRows || (p_.l % 4 == 0 && p_.steps4(matrixIsB_)));
    pipeline_ = &backend.pipeline("matmul_vector", DataType::Float32, 4, kLocal,
                                  {across, byRows, wide, matrixIsB_, p_.bias});
}

}  // namespace mnnc::vulkan
