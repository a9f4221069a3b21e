// MatMul, BatchMatMul and InnerProduct on row-major tensors: a tiled product, or a kernel of its own where
// one operand is a vector.
#include "ops/matmul.h"

#include <algorithm>
#include <utility>

#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kLocal = 64;
constexpr size_t kBatchAxes = 4;
constexpr int64_t kLargeTiles = 256;  // enough to keep a large device busy

// The batch of a product as few axes: how many positions, and the steps of both operands in matrices.
struct BatchAxis {
    int64_t size, a, b;
};
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

// Products C = A B of e x l and l x h matrices, with what the kernels have to know about them.
struct Problem {
    int64_t e = 1, l = 1, h = 1, lda = 1, ldb = 1, products = 1;
    bool transposeA = false, transposeB = false, bias = false;
    std::vector<BatchAxis> batch;  // steps in elements

    explicit Problem(const InnerProductParams& params, int64_t rows)
        : e(rows),
          l(params.inputs),
          h(params.outputs),
          lda(params.inputs),
          ldb(h == 1 ? 1 : roundUp(h, 4)),  // a vector lies closely
          bias(!params.bias.empty()) {}

    Problem(const MatMulSizes& sizes, bool hasBias)
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
        if (products > 1 && !transposeA && sizes.batchB.elements() == 1 &&
            sizes.batchA.elements() == products) {
            e *= products;
            products = 1;
            batch.clear();
        }
    }

    bool steps4(bool ofA) const {
        return std::all_of(batch.begin(), batch.end(),
                           [&](const BatchAxis& axis) { return (ofA ? axis.a : axis.b) % 4 == 0; });
    }
    Push& pushBatch(Push& push) const {
        push.u(static_cast<int64_t>(batch.size()));
        for (size_t i = 0; i < kBatchAxes; ++i) push.u(i < batch.size() ? batch[i].size : 1);
        for (size_t i = 0; i < kBatchAxes; ++i) push.u(i < batch.size() ? batch[i].a : 0);
        for (size_t i = 0; i < kBatchAxes; ++i) push.u(i < batch.size() ? batch[i].b : 0);
        return push;
    }
};

// One dispatch for a problem.
class Product {
  public:
    Product(VulkanBackend& backend, const Problem& problem) : p_(problem) {
        vector_ = p_.e == 1 || p_.h == 1;
        if (vector_)
            chooseVector(backend);
        else
            chooseTiles(backend);
    }

    void encode(Recorder& recorder, const Binding& a, const Binding& b, const Binding& c,
                const Binding& bias) const {
        Push push;
        if (vector_) {
            push.u(outputs_).u(p_.l).u(matrixIsB_ ? p_.ldb : p_.lda).u(tiles_).u(matrixIsB_ ? 1 : 0);
            recorder.dispatch(*pipeline_, {{matrixIsB_ ? b : a, matrixIsB_ ? a : b, c, bias}},
                              p_.pushBatch(push), p_.products * tiles_);
            return;
        }
        push.u(p_.e).u(p_.l).u(p_.h).u(p_.lda).u(p_.ldb).u(tilesDown_).u(tiles_);
        recorder.dispatch(*pipeline_, {{a, b, c, bias}}, p_.pushBatch(push),
                          p_.products * tilesDown_ * tiles_);
    }

  private:
    void chooseTiles(VulkanBackend& backend) {
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
                                      {across, p_.transposeA, p_.transposeB, wideA, wideB, p_.h % 4 == 0,
                                       p_.bias, large ? 2u : 1u, large ? 2u : 1u});
    }

    void chooseVector(VulkanBackend& backend) {
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

    Problem p_;
    bool vector_ = false, matrixIsB_ = false;
    int64_t outputs_ = 0, tiles_ = 0, tilesDown_ = 0;
    const Pipeline* pipeline_ = nullptr;
};

class MatMul final : public VulkanExecution {
  public:
    MatMul(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    void onResize() override {
        const MatMulSizes sizes = matMulSizes(command_.paramsAs<MatMulParams>(), command_.inputs[0]->shape,
                                              command_.inputs[1]->shape, command_.name.c_str());
        product_ = std::make_unique<Product>(backend(), Problem(sizes, hasBias()));
    }

    void encode(Recorder& recorder) override {
        const Binding a = reads(*command_.inputs[0]);
        product_->encode(recorder, a, reads(*command_.inputs[1]), writes(*command_.outputs[0]),
                         hasBias() ? reads(*command_.inputs[2]) : a);
    }

  private:
    bool hasBias() const { return command_.inputs.size() > 2; }

    const Command command_;
    std::unique_ptr<Product> product_;
};

class InnerProduct final : public VulkanExecution {
  public:
    InnerProduct(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), params_(command_.paramsAs<InnerProductParams>()) {}

    void onResize() override {
        const Problem problem(params_, command_.inputs[0]->shape[0]);
        product_ = std::make_unique<Product>(backend(), problem);
        // [inputs][outputs], so that neighbouring outputs are read together.
        weights_ = backend().weights(
            command_.params, "inner_product", problem.l * problem.ldb, [&](std::vector<float>& values) {
                const auto rows = static_cast<size_t>(problem.l), columns = static_cast<size_t>(problem.h),
                           step = static_cast<size_t>(problem.ldb);
                for (size_t o = 0; o < columns; ++o)
                    for (size_t i = 0; i < rows; ++i) values[i * step + o] = params_.weight[o * rows + i];
            });
        if (problem.bias)
            bias_ = backend().weights(command_.params, "inner_product bias", problem.h,
                                      [&](std::vector<float>& values) {
                                          std::copy(params_.bias.begin(), params_.bias.end(), values.begin());
                                      });
    }

    void encode(Recorder& recorder) override {
        product_->encode(recorder, reads(*command_.inputs[0]), reads(*weights_), writes(*command_.outputs[0]),
                         reads(bias_ ? *bias_ : *weights_));
    }

  private:
    const Command command_;
    const InnerProductParams& params_;
    VulkanBackend::WeightsPtr weights_, bias_;
    std::unique_ptr<Product> product_;
};

bool supportsFloats(const Command& command, std::string& reason) {
    for (const Tensor* input : command.inputs)
        if (input->type != DataType::Float32 || input->empty()) {
            reason = "the Vulkan kernel multiplies matrices of floats that are not empty";
            return false;
        }
    return true;
}

bool supportsMatMul(const VulkanBackend&, const Command& command, std::string& reason) {
    if (!supportsFloats(command, reason)) return false;
    const MatMulSizes sizes = matMulSizes(command.paramsAs<MatMulParams>(), command.inputs[0]->shape,
                                          command.inputs[1]->shape, command.name.c_str());
    if (batchAxes(sizes).size() <= kBatchAxes) return true;
    reason = format("the Vulkan kernel broadcasts at most %zu batch axes that do not merge", kBatchAxes);
    return false;
}

bool supportsInnerProduct(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!supportsFloats(command, reason)) return false;
    const auto& params = command.paramsAs<InnerProductParams>();
    const int64_t weights = roundUp(int64_t{params.outputs}, 4) * params.inputs;
    if (weights <= INT32_MAX && weights * 4 <= backend.limits().storageRange) return true;
    reason = "the weights exceed what the device binds at once";
    return false;
}

std::unique_ptr<Execution> createMatMul(VulkanBackend& backend, const Command& command) {
    return std::make_unique<MatMul>(backend, command);
}

std::unique_ptr<Execution> createInnerProduct(VulkanBackend& backend, const Command& command) {
    return std::make_unique<InnerProduct>(backend, command);
}

constexpr VulkanOp kMatMul[] = {
    {OpType::MatMul, supportsMatMul, nullptr, createMatMul},
    {OpType::BatchMatMul, supportsMatMul, nullptr, createMatMul},
    {OpType::InnerProduct, supportsInnerProduct, nullptr, createInnerProduct},
};

}  // namespace

VulkanFamily matmulVulkan() {
    return kMatMul;
}

}  // namespace mnnc::vulkan
