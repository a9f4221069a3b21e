// Chooses the kernel and the tiles of a batched product.
#include "backends/vulkan/ops/matrix_product.h"

#include <utility>

#include "backends/vulkan/tuner.h"

namespace mnnc::vulkan {

namespace {

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
      ldb(h == 1 ? 1 : roundUp(h, 4)),  // the elements of a vector are contiguous
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
    // A batch with a single B is a taller A.
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
        push.u(outputs_, p_.l, matrixIsB_ ? p_.ldb : p_.lda, tiles_, matrixIsB_ ? 1 : 0);
        recorder.dispatch(*pipeline_, {{matrixIsB_ ? b : a, matrixIsB_ ? a : b, c, bias}}, p_.pushBatch(push),
                          p_.products * tiles_);
        return;
    }
    encodeTiles(recorder, tiling_, {a, b, c, bias});
}

void MatrixProduct::encodeTiles(Recorder& recorder, const Tiling& tiling,
                                const std::array<Binding, 4>& operands) const {
    Push push;
    push.u(p_.e, p_.l, p_.h, p_.lda, p_.ldb, tiling.down, tiling.across);
    recorder.dispatch(*tiling.pipeline, operands, p_.pushBatch(push), p_.products * tiling.down * tiling.across);
}

MatrixProduct::Tiling MatrixProduct::tiling(VulkanBackend& backend, bool large) const {
    const uint32_t maxThreads = std::min(kLocal, backend.limits().groupInvocations);
    uint32_t across = 1, down = 1;
    while (across * down * 2 <= maxThreads) (across <= down ? across : down) *= 2;
    const uint32_t quads = large ? 2 : 1;
    Tiling tiling{large, ceilDiv(p_.h, int64_t{across} * 4 * quads), ceilDiv(p_.e, int64_t{down} * 4 * quads)};
    const bool wideA = p_.lda % 4 == 0 && p_.steps4(true), wideB = p_.ldb % 4 == 0 && p_.steps4(false);
    tiling.pipeline = &backend.exactPipeline(
        p_.shader("matmul"), 4, across * down,
        {across, p_.transposeA, p_.transposeB, wideA, wideB, p_.h % 4 == 0, p_.bias, quads, quads});
    return tiling;
}

// Four times the outputs per invocation need fewer reads per product, if there are enough registers and tiles.
void MatrixProduct::chooseTiles(VulkanBackend& backend) {
    const bool registers = backend.gpu()->info().type != VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    const Tiling small = tiling(backend, false);
    const int64_t largeTiles = ceilDiv(small.across, 2) * ceilDiv(small.down, 2) * p_.products;
    const bool large = registers && largeTiles >= kLargeTiles && small.across > 1 && small.down > 1;
    if (!registers || backend.tuning() == GpuTuning::None) {
        tiling_ = large ? tiling(backend, true) : small;
        return;
    }
    std::vector<Tiling> tilings{small, tiling(backend, true)};
    if (large) std::swap(tilings[0], tilings[1]);  // the one that the estimate prefers comes first
    TuningRecord& record = backend.gpu()->tuning();
    std::string problem = p_.shader("matmul");
    for (const int64_t number : {p_.products, p_.e, p_.l, p_.h, p_.lda, p_.ldb, int64_t{p_.transposeA},
                                 int64_t{p_.transposeB}, int64_t{p_.bias}})
        problem += " " + std::to_string(number);
    for (const BatchAxis& axis : p_.batch)  // whose steps choose the kernel, and decide how much memory it reads
        for (const int64_t number : {axis.size, axis.a, axis.b}) problem += " " + std::to_string(number);
    const auto choice = [&](size_t i) { return uint32_t{tilings[i].large}; };
    const std::optional<uint32_t> known = record.find(problem);
    size_t fastest = 0;
    if (known && *known < tilings.size()) {
        fastest = choice(0) == *known ? 0 : 1;
    } else if (backend.measuresOneMore()) {
        const std::optional<size_t> measured = whereMemorySuffices([&] { return measure(backend, tilings); });
        if (measured) record.keep(problem, choice(*measured));
        fastest = measured.value_or(0);
    }
    tiling_ = tilings[fastest];
}

// Measures over memory of its own, because that of the tensors is not planned yet.
size_t MatrixProduct::measure(VulkanBackend& backend, const std::vector<Tiling>& tilings) const {
    const auto floats = [&](int64_t count) { return roundUp(checkedMul(count, 4, "matrices"), 16); };
    // The batch of an operand may repeat its matrices, and there may be other numbers between them.
    const auto operand = [&](int64_t rows, int64_t columns, int64_t BatchAxis::*step) {
        int64_t reach = checkedMul(rows, columns, "a matrix");
        for (const BatchAxis& axis : p_.batch)
            reach = checkedAdd(reach, checkedMul(axis.size - 1, axis.*step, "matrices"), "matrices");
        return floats(reach);
    };
    const MeasuredBlock a(backend, operand(p_.e, p_.l, &BatchAxis::a)),
        b(backend, operand(p_.l, p_.transposeB ? p_.h : std::max(p_.h, p_.ldb), &BatchAxis::b)),
        c(backend, floats(checkedMul(checkedMul(p_.e, p_.h, "a matrix"), p_.products, "matrices"))),
        bias(backend, floats(p_.h));
    return fastestCandidate(backend, tilings.size(), [&](Recorder& recorder, size_t i) {
        encodeTiles(recorder, tilings[i], {a.read(), b.read(), c.written(), bias.read()});
    });
}

void MatrixProduct::chooseVector(VulkanBackend& backend) {
    matrixIsB_ = p_.e == 1;
    outputs_ = matrixIsB_ ? p_.h : p_.e;
    const bool byRows = matrixIsB_ ? p_.transposeB : !p_.transposeA;
    const uint32_t maxThreads = std::min(kLocal, backend.limits().groupInvocations);
    const uint32_t across = byRows ? 1 : std::min(maxThreads, 8u);
    tiles_ = byRows ? outputs_ : ceilDiv(outputs_, int64_t{across} * 4);
    const int64_t ld = matrixIsB_ ? p_.ldb : p_.lda;
    const bool wide = ld % 4 == 0 && p_.steps4(!matrixIsB_) && (!byRows || (p_.l % 4 == 0 && p_.steps4(matrixIsB_)));
    pipeline_ =
        &backend.exactPipeline(p_.shader("matmul_vector"), 4, kLocal, {across, byRows, wide, matrixIsB_, p_.bias});
}

}  // namespace mnnc::vulkan
